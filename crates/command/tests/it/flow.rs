//! What is known on the way through a line: directories, variables, functions. It must not look at single programs.

use crate::command::{Directory, Mode, Setting, Shell, Touch, TouchedPath, read as read_in};
use crate::{SETTING, canonicals, read, unknowns};

/// A line whose last command is `end`, and the directory that runs in; `None`: it cannot be told.
const DIRECTORIES: &[(&str, Option<&str>)] = &[
    ("end", Some("/w")),
    ("cd sub && end", Some("/w/sub")),
    ("cd sub; end", Some("/w/sub")),
    ("cd ../a/./b/.. && end", Some("/a")),
    ("cd && end", Some("/home/u")),
    ("cd ~/x && end", Some("/home/u/x")),
    ("cd a && cd - && end", Some("/w")),
    ("pushd a && popd && end", Some("/w")),
    ("pushd a && pushd b && popd && end", Some("/w/a")),
    ("popd; end", None),
    ("(cd a); end", Some("/w")),
    ("(cd a && end)", Some("/w/a")),
    ("{ cd a; } && end", Some("/w/a")),
    ("cd a | end", Some("/w")),
    ("cd a & end", Some("/w")),
    ("echo $(cd a); end", Some("/w")),
    ("D=a; cd $D && end", Some("/w/a")),
    ("cd \"$D\" && end", None),
    ("cd $(x) && end", None),
    ("cd a* && end", None),
    ("command cd a && end", Some("/w/a")),
    ("eval 'cd a' && end", Some("/w/a")),
    ("eval \"$x\"; end", None),
    ("source x; end", None),
    ("$x a; end", None),
    ("if cd a; then end; fi", Some("/w/a")),
    ("if ! cd a; then exit; fi; end", Some("/w/a")),
    ("cd a || exit 1; end", Some("/w/a")),
    ("! cd a || end", Some("/w/a")),
    ("f() { cd a; }; f && end", Some("/w/a")),
    ("cd() { x; }; cd a && end", Some("/w")),
    ("OLDPWD=/etc; cd - && end", None),
    ("PWD=/etc; cd a; cd $PWD && end", None),
    ("sh -c 'cd a && end'", Some("/w/a")),
    ("sh -c 'cd a'; end", Some("/w")),
    ("env -C a end", Some("/w/a")),
    ("env -C a/.. end", Some("/w/a/..")),
    ("cd a/.. && end", Some("/w")),
    ("cd a && cd .. && end", Some("/w")),
    ("while cd ..; do end; done", Some("/")),
    ("while cd a; do end; done", None),
    ("for i in a b; do cd $i && end; done", Some("/w/a/b")),
];

#[test]
fn the_directory_is_followed_through_the_line() {
    let mut wrong = Vec::new();
    for &(text, expected) in DIRECTORIES {
        let line = read(text);
        let end = line
            .commands
            .iter()
            .rfind(|command| command.program() == Some("end"))
            .unwrap();
        let expected = expected.map_or(Directory::Unknown, |it| Directory::Known(it.into()));
        if end.directory != expected {
            wrong.push(format!("{text:?}: {:?}", end.directory));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The files a line may write, sorted.
fn writes(text: &str) -> Vec<String> {
    let mut found: Vec<String> = read(text)
        .touches
        .into_iter()
        .filter(|touch| touch.mode == Mode::Write && touch.is_certain)
        .map(|touch| match touch.path {
            TouchedPath::Exact(path) => path,
            TouchedPath::Below { pattern, .. } => pattern,
            TouchedPath::Unknown(_) => "?".to_owned(),
        })
        .collect();
    found.sort();
    found.dedup();
    found
}

#[test]
fn redirects_touch_files_wherever_they_stand() {
    for (text, expected) in [
        ("echo > f", &["/w/f"][..]),
        ("> f", &["/w/f"]),
        ("{ echo; } >> f", &["/w/f"]),
        ("(echo) &> f", &["/w/f"]),
        ("if echo; then echo; fi > f", &["/w/f"]),
        ("for i in a b; do echo > $i; done", &["/w/a", "/w/b"]),
        ("f() { echo; } > f; f", &["/w/f"]),
        ("[[ a ]] > f", &["/w/f"]),
        ("echo | echo > f", &["/w/f"]),
        ("echo 3<> f", &["/w/f"]),
        ("exec > /x/../f", &["/x/../f"]),
        ("cd a && echo > f", &["/w/a/f"]),
        ("echo $(echo > f)", &["/w/f"]),
        ("echo > ~/f", &["/home/u/f"]),
        ("echo > $x", &["?"]),
        ("echo > a*", &["/w/a*"]),
        ("echo >& f", &["/w/f"]),
        ("echo >& $x", &["?"]),
        ("cd $x; echo > f", &["?"]),
        ("sh -c 'echo > f'", &["/w/f"]),
        ("echo > /dev/null 2>&1 >&- 2> /dev/stderr", &[]),
        ("echo > >(echo)", &[]),
        ("f=b; echo > $f", &["/w/b"]),
    ] {
        assert_eq!(writes(text), expected, "{text}");
    }
    let line = read("cat < f 2> /dev/tcp/Example.com/80");
    assert_eq!(line.hosts[0].name, "example.com");
    assert_eq!(line.hosts[0].port, Some(80));
    assert!(
        line.touches
            .iter()
            .any(|it| it.mode == Mode::Read && it.by == Some(0))
    );
}

#[test]
fn where_a_change_of_directory_may_fail_both_are_touched() {
    let touched = |text: &str| -> Vec<TouchedPath> {
        let writes = read(text)
            .touches
            .into_iter()
            .filter(|it| it.mode == Mode::Write);
        writes.map(|it| it.path).collect()
    };
    // The shell goes by name, and where nothing is there it leaves the way to the system.
    assert_eq!(
        touched("cd l/../b && echo > f"),
        ["/w/b/f", "/w/l/../b/f"].map(|it| TouchedPath::Exact(it.to_owned()))
    );
    for path in ["/w/a/f", "/w/f"] {
        assert!(touched("cd a; echo > f").contains(&TouchedPath::Exact(path.to_owned())));
    }
    assert_eq!(
        touched("cd a && echo > f"),
        [TouchedPath::Exact("/w/a/f".to_owned())]
    );
}

/// A line, and the canonical form of its last command.
const LAST: &[(&str, &str)] = &[
    ("x=rm; $x y", "rm y"),
    ("x=rm y=z; $x $y", "rm z"),
    ("x='rm -rf'; $x y", "rm -rf y"),
    ("x='rm -rf'; \"$x\" y", "'rm -rf' y"),
    ("x=a; x+=b; end $x", "end ab"),
    ("x=a; y=$x/b; end \"$y\"", "end a/b"),
    ("export x=a; end $x", "end a"),
    ("x=; end $x \"$x\"", "end ''"),
    ("x='*'; end $x", "end *"),
    ("end ${x:-y}", "end ${x:-y}"),
    ("x=a; end ${x:-y}", "end a"),
    ("x=a y; end $x", "end $x"),
    ("x=$(y); end $x", "end $x"),
    ("x=a; read x; end $x", "end $x"),
    ("x=a; unset x; end $x", "end $x"),
    ("x=a; source y; end $x", "end $x"),
    ("x=a; eval \"$y\"; end $x", "end $x"),
    ("x=a; printf -v x b; end $x", "end $x"),
    ("x=a; (x=b); end $x", "end a"),
    ("x=a; x=b | y; end $x", "end a"),
    ("x=a; if y; then x=b; fi; end $x", "end $x"),
    ("x=a; y && x=b; end $x", "end $x"),
    ("x=a; y && x=a; end $x", "end a"),
    ("x=a; while y; do x=b; done; end $x", "end $x"),
    ("x=a; while x=b; y; do x=a; done; end $x", "end $x"),
    (
        "x=a; while y; do x=b; z; done; while x=$x; do end $x; done",
        "end $x",
    ),
    ("x=a; case y in z) x=b;; esac; end $x", "end $x"),
    ("x=a; f() { x=b; }; f; end $x", "end b"),
    ("x=a; f() { x=b; y && return; x=a; }; f; end $x", "end $x"),
    ("x=a; f() { local x=b; }; f; end $x", "end $x"),
    (
        "x=a; for i in 1 2; do y && break; x=b; done; end $x",
        "end $x",
    ),
    ("x=a; ((x++)); end $x", "end $x"),
    ("x=a; : ${y:=b}; end $x$y", "end a$y"),
    ("x=a; trap 'x=b' DEBUG; end $x", "end $x"),
    ("x=a; x=b y=$x sh -c 'end $y'", "end $y"),
    ("x=a sh -c 'end $x'", "end a"),
    ("x=a; sh -c 'end $x'", "end $x"),
    ("sh -c 'end \"$1\" $2' _ a b", "end a b"),
    ("sh -c 'end \"$@\"' _ a 'b c'", "end a 'b c'"),
    ("f() { end \"$1\"; }; f a", "end a"),
    ("f() { end \"$@\"; }; f a b", "end a b"),
    ("set -- a; end $1", "end $1"),
    ("for i in src/*.rs; do end \"$i\"; done", "end src/*.rs"),
    ("for i in src/*.rs; do end $i; done", "end $i"),
    ("IFS=x; y=axb; end $y", "end $y"),
    ("end $(echo a)", "end a"),
    ("end $(echo a >&2)", "end $(echo a >&2)"),
    ("end $(echo a > f)", "end $(echo a > f)"),
    ("end \"<(\"$x\")\"", "end \"<(\"$x\")\""),
    ("end \\<a", "end <a"),
    ("end $(pwd)", "end /w"),
    ("end $(printf '%s' a)", "end a"),
    ("end \"$(cat <<'E'\na b\nE\n)\"", "end 'a b'"),
    ("echo() { x; }; end $(echo a)", "end $(echo a)"),
    ("alias e='end a'; e b", "end a b"),
    ("bash <<< 'end a'", "end a"),
    ("echo 'end a' | sh", "end a"),
    ("printf 'end a\\n' | bash -s", "end a"),
    ("bash <<'E'\nend a\nE", "end a"),
    ("{ bash; } <<< 'end a'", "end a"),
    ("cat <<'E' | sh\nend a\nE", "end a"),
];

#[test]
fn values_are_followed_as_far_as_they_hold() {
    let mut wrong = Vec::new();
    for &(text, expected) in LAST {
        let found = canonicals(text);
        if found.last().map(String::as_str) != Some(expected) {
            wrong.push(format!("{text:?}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn arithmetic_runs_no_code_with_numbers() {
    for text in [
        "i=0; while ((i < 3)); do i=$((i + 1)); done",
        "for ((i = 0; i < 3; i++)); do echo $((i * 2)); done",
        "n=$(wc -l < f); echo $((n + 1))",
        "n=$(grep x f | wc -l); [[ $n -gt 3 ]]",
        "echo $((COLUMNS / 2))",
        "for i in {1..40}; do echo $((i + 1)); done",
        "let i=1",
    ] {
        assert_eq!(unknowns(text), [""; 0], "{text}");
    }
    for text in [
        "x='a[$(rm y)]'; echo $((x))",
        "x=$(cat f); echo $((x))",
        "x=$(cat f); [[ $x -eq 1 ]]",
        "read x; ((x++))",
        "declare -i x=y",
        "echo \"${a[$x]}\"; x=$(y); echo \"${a[$x]}\"",
        "x=$(y); let \"$x\"",
    ] {
        assert_ne!(unknowns(text), [""; 0], "{text}");
    }
}

#[test]
fn a_variable_that_matters_is_noticed_however_it_is_set() {
    for text in [
        "for PATH in /x; do ls; done",
        "select PATH in /x; do ls; done",
        "echo ${PATH:=/x}; ls",
        "exec {PATH}>f; ls",
        "((LD_PRELOAD = 1)); ls",
        "coproc PATH { x; }",
    ] {
        assert_ne!(unknowns(text), [""; 0], "{text}");
    }
    for text in [
        "PATH=/x; ls",
        "PATH=/x ls",
        "export PATH=/x",
        "read PATH",
        "printf -v PATH x",
    ] {
        let line = read(text);
        let is_opaque = line.commands.iter().any(|it| it.opaque.is_some());
        assert!(is_opaque || !line.unknown.is_empty(), "{text}");
    }
}

#[test]
fn what_is_left_of_the_input_is_not_guessed() {
    for text in [
        "{ read x; bash; } <<< 'ls'",
        "{ head -c 2; bash; } <<< 'ls'",
        "{ exec < f; bash; } <<< 'ls'",
        "echo ls | { bash; bash; }",
        "echo \"$x\" | sh",
        "cat f | sh",
    ] {
        let line = read(text);
        assert!(line.commands.iter().any(|it| it.opaque.is_some()), "{text}");
    }
}

#[test]
fn a_script_is_read_as_its_shell_does() {
    assert_ne!(unknowns("sh -c 'diff <(a) b'"), [""; 0]);
    assert_eq!(unknowns("bash -c 'diff <(a) b'"), [""; 0]);
    assert_ne!(unknowns("zsh -c 'repeat 3 a'"), [""; 0]);
}

#[test]
fn functions_are_followed_where_they_are_called_and_else_with_nothing_known() {
    assert_eq!(
        canonicals("f() { rm $1; }; f x; f y"),
        ["f x", "rm x", "f y", "rm y"]
    );
    assert_eq!(canonicals("x=a; f() { rm $x; }"), ["x=a", "rm $x"]);
    assert_eq!(
        canonicals("f() { g; }; g() { rm x; }; f"),
        ["f", "g", "rm x"]
    );
    // One that calls itself is followed for anything it may be called with.
    let found = canonicals("f() { rm $1; f z; }; f x");
    assert!(
        found.contains(&"rm x".to_owned()) && found.contains(&"rm $1".to_owned()),
        "{found:?}"
    );
    // A name may be shadowed, so the program is no longer proven to write nothing.
    assert_eq!(canonicals("ls() { rm x; }; ls"), ["ls", "rm x"]);
}

#[test]
fn loops_over_many_words_are_followed_once() {
    assert_eq!(canonicals("for i in {1..16}; do end $i; done").len(), 16);
    assert_eq!(canonicals("for i in {1..17}; do end $i; done"), ["end $i"]);
}

#[test]
fn an_inner_command_knows_what_runs_it_and_where_it_stands() {
    let text = "a; sudo sh -c 'x; rm  y' && ssh h 'rm z'";
    let line = read(text);
    let rm = line
        .commands
        .iter()
        .find(|it| it.canonical() == "rm y")
        .unwrap();
    assert_eq!(&text[rm.range.clone()], "rm  y");
    let sh = rm.via.clone().unwrap();
    assert!(sh.is_local);
    assert_eq!(line.commands[sh.command].program(), Some("sh"));
    let sudo = line.commands[sh.command].via.clone().unwrap();
    assert_eq!(line.commands[sudo.command].program(), Some("sudo"));
    let far = line
        .commands
        .iter()
        .find(|it| it.canonical() == "rm z")
        .unwrap();
    assert!(!far.via.clone().unwrap().is_local);
    assert!(
        !line
            .touches
            .iter()
            .any(|it| it.path == TouchedPath::Exact("/w/z".to_owned()))
    );
}

#[test]
fn what_is_too_much_to_follow_is_unknown_and_ends_soon() {
    let nested = "for a in 1 2 3 4 5 6 7 8 9; do ".repeat(8) + "x" + &"; done".repeat(8);
    let doubling = (1..30).map(|i| format!("f{i}() {{ f{0}; f{0}; }}; ", i - 1));
    let doubled = doubling.fold("f0() { x; }; ".to_owned(), |text, next| text + &next) + "f29";
    let grown = format!("x=aaaaaaaaaaaaaaaa; {} end $x", "x=$x$x; ".repeat(200));
    let braces = "echo ".to_owned() + &"{a,b}".repeat(16);
    let evals = format!("eval {}", "'eval \"$x\"' ".repeat(200));
    let wrapped = "sudo ".repeat(5_000) + "rm x";
    let scripts = "sh -c 'a;b;c;d;e;f' ; ".repeat(2_500);
    for text in [nested, doubled, wrapped] {
        assert_ne!(unknowns(&text), [""; 0], "{}", &text[..40]);
    }
    assert!(!read(&braces).commands[0].words[1].is_known());
    for text in [grown, evals, scripts] {
        read(&text);
    }
    let parts = "echo a; ".repeat(5_000);
    let line = read(&parts);
    assert_eq!(line.commands.len(), 5_000);
    assert_eq!(line.unknown, []);
}

#[test]
fn a_home_that_is_not_known_is_not_guessed() {
    let setting = Setting {
        home: None,
        ..SETTING
    };
    let line = read_in("end ~/x", &setting);
    assert!(!line.commands[0].words[1].is_known());
    let zsh = Setting {
        shell: Shell::Zsh,
        ..SETTING
    };
    let line = read_in("x='a b'; end $x", &zsh);
    assert_eq!(line.commands[1].canonical(), "end 'a b'");
}

/// A line, and a command among those it may run.
const FOUND: &[(&str, &str)] = &[
    // A setting that is kept holds for every later call too, so it is followed where it is set.
    ("git config alias.p push", "git push $@"),
    ("git config alias.p push; git p", "git push $@"),
    (
        "git -C sub config --global --add alias.P 'push -f'",
        "git push -f $@",
    ),
    ("git config set alias.p push", "git push $@"),
    ("git config --replace-all alias.p '!rm x' y", "rm x $@"),
    ("git config alias.p '!rm \"$1\"'", "rm $1 $@"),
    ("sudo git config --system alias.p push", "git push $@"),
    // A program that is remembered by another name.
    ("hash -p /bin/rm ls; ls x", "/bin/rm x"),
    ("hash -p /bin/rm -- ls cat; cat x", "/bin/rm x"),
    ("hash -p/bin/rm ls; sudo ls x; ls x", "/bin/rm x"),
    ("while y; do ls x; hash -p /bin/rm ls; done", "/bin/rm x"),
    ("hash -rp /bin/rm ls; ls x", "/bin/rm x"),
    // A second meaning counts in a loop like the first.
    (
        "alias e='end a'; while y; do e; alias e='rm x'; done",
        "rm x",
    ),
];

#[test]
fn what_a_name_is_made_to_mean_is_found_where_it_is_used() {
    let mut wrong = Vec::new();
    for &(text, expected) in FOUND {
        let found = canonicals(text);
        if !found.iter().any(|it| it == expected) {
            wrong.push(format!("{text:?}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_setting_of_git_that_can_run_a_program_hides_it() {
    let is_opaque = |text: &str| read(text).commands.iter().any(|it| it.opaque.is_some());
    for text in [
        "git config core.hooksPath x",
        "git config --global core.fsmonitor ./x",
        "git config set filter.x.clean ./x",
        "git config --add include.path ../x",
        "git config diff.external \"$x\"",
        "git config \"$name\" x",
        "git config \"alias.$x\" push",
        "git config alias.p \"$x\"",
        "git config user.name=x y",
    ] {
        assert!(is_opaque(text), "{text}");
    }
    for text in [
        "git config user.name \"A $USER\"",
        "git config --global user.email a@b",
        "git config set core.autocrlf input",
        "git config core.hooksPath",
        "git config --get core.hooksPath",
        "git config --list",
        "git config alias.s status",
    ] {
        assert!(!is_opaque(text), "{text}");
    }
}

#[test]
fn a_program_that_cannot_be_told_is_not_remembered() {
    for text in [
        "hash -p \"$x\" ls; ls",
        "hash -p /bin/rm \"$x\"; ls",
        "hash $x ls; ls",
        "hash -p",
    ] {
        assert_ne!(unknowns(text), [""; 0], "{text}");
    }
    for text in ["hash -r; ls", "hash ls", "hash -p /bin/rm ls", "hash -d ls"] {
        assert_eq!(unknowns(text), [""; 0], "{text}");
    }
}

#[test]
fn blanks_set_for_a_builtin_that_reads_a_line_are_its_own() {
    for text in [
        "IFS=, read -r a b; end",
        "while IFS= read -r x; do end; done",
    ] {
        let line = read(text);
        assert!(line.commands.iter().all(|it| it.opaque.is_none()), "{text}");
        assert_eq!(line.unknown, [], "{text}");
    }
    // What is split later is split as before.
    assert_eq!(
        canonicals("x='a b'; IFS=, read y; end $x").last().unwrap(),
        "end a b"
    );
    for text in [
        "IFS=, ./x",
        "IFS=, sh -c x",
        "read() { x; }; IFS=, read y",
        "alias read=x; IFS=, read y",
        "IFS=, env read y",
        "IFS=, PATH=/x read y",
        "IFS=,; read y",
    ] {
        let line = read(text);
        assert!(line.commands.iter().any(|it| it.opaque.is_some()), "{text}");
    }
}

/// The files a line surely writes, in any of the ways it may go.
fn sure(text: &str) -> Vec<String> {
    let is_sure = |it: &Touch| it.is_certain && it.mode == Mode::Write;
    let touches = read(text).touches.into_iter().filter(is_sure);
    let mut found: Vec<String> = touches
        .filter_map(|touch| match touch.path {
            TouchedPath::Exact(path) => Some(path),
            TouchedPath::Below { .. } | TouchedPath::Unknown(_) => None,
        })
        .collect();
    found.sort();
    found.dedup();
    found
}

#[test]
fn a_file_is_no_less_surely_touched_because_there_are_two_places_it_may_lie_in() {
    // One of them is touched, whichever it is, so a rule for either has to be heard.
    for (text, expected) in [
        ("cd a; rm f", &["/w/a/f", "/w/f"][..]),
        ("cd a; ls > f", &["/w/a/f", "/w/f"]),
        ("cd a && rm f", &["/w/a/f"]),
        ("cd a; rm /x", &["/x"]),
    ] {
        assert_eq!(sure(text), expected, "{text}");
    }
}

#[test]
fn the_files_that_are_found_are_those_that_the_next_command_gets() {
    let touched = |text: &str| -> Vec<TouchedPath> {
        let touches = read(text).touches.into_iter();
        touches
            .filter(|it| it.mode == Mode::Read)
            .map(|it| it.path)
            .collect()
    };
    let below = TouchedPath::Below {
        directory: "/w/src".to_owned(),
        pattern: "/w/src/**".to_owned(),
    };
    for text in [
        "find src -name '*.py' -print0 | xargs -0 grep -l x",
        "find src -type f -print0 | xargs -0 -n 1 cat",
        "find ./src -print0 | xargs -r0 wc -l",
    ] {
        assert!(
            touched(text).contains(&below),
            "{text}: {:?}",
            touched(text)
        );
        assert!(
            !touched(text)
                .iter()
                .any(|it| matches!(it, TouchedPath::Unknown(_))),
            "{text}: {:?}",
            touched(text)
        );
    }
    // A name with a blank or a newline in it is more than one to these, and others print what they like.
    for text in [
        "find src | xargs cat",
        "find src -print0 | xargs cat",
        "find src | xargs -0 cat",
        "find src -printf x -print0 | xargs -0 cat",
        "find src -exec echo /etc/passwd \\; -print0 | xargs -0 cat",
        "find src $x -print0 | xargs -0 cat",
        "find \"$x\" -print0 | xargs -0 cat",
        "find -print0 -files0-from x | xargs -0 cat",
        "find src -print0 | tee x | xargs -0 cat",
        "find src -print0 | xargs -0 -a x cat",
        "find src -print0 | xargs -0 cat < x",
        "find() { x; }; find src -print0 | xargs -0 cat",
    ] {
        assert!(
            touched(text)
                .iter()
                .any(|it| matches!(it, TouchedPath::Unknown(_))),
            "{text}: {:?}",
            touched(text)
        );
    }
}

#[test]
fn functions_that_are_not_called_are_found_in_the_order_of_definition() {
    let text = ["z", "b", "y", "a", "x"].map(|name| format!("{name}() {{ end {name}; }}"));
    let found = canonicals(&text.join("; "));
    assert_eq!(found, ["end z", "end b", "end y", "end a", "end x"]);
}
