//! What a command line is asked as, and what rules say to each of its spellings.

use crate::world::{command, denied_by, unasked};
use conform::testkit::{Bench, MemoryHost};
use policy::Action::{self, Allow, Ask, Deny};
use schema::RawArguments;
use serde_json::{Value, json};
use tollgate_gate::{access::Spawn, check::CheckedAsk, g3_confine::Confinement, tool::AnyTool};
use tools::Bash;

fn asks_of(rules: &[(&str, &str, Action)], arguments: Value) -> (Action, Vec<CheckedAsk>) {
    let files = [
        (".env", "KEY=1"),
        ("src/a", ""),
        ("/etc/hosts", ""),
        ("/out/x", ""),
    ];
    let bench = Bench::on(MemoryHost::with(&files), rules);
    let tools = [AnyTool::new(Bash)];
    let checked = bench
        .check(&tools, "bash", RawArguments::Json(arguments))
        .unwrap();
    (checked.action, checked.asks)
}

/// A permission and the patterns asked under it.
type Asked<'a> = (&'a str, &'a [&'a str]);

/// Holds a call of bash against the action, and the permissions with their patterns.
fn check(
    rules: &[(&str, &str, Action)],
    arguments: &Value,
    action: Action,
    expected: &[Asked<'_>],
) {
    let (found, asks) = asks_of(rules, arguments.clone());
    let asks: Vec<(&str, Vec<&str>)> = asks
        .iter()
        .map(|it| {
            let patterns = it.patterns.iter().map(String::as_str).collect();
            (it.permission.as_str(), patterns)
        })
        .collect();
    let expected: Vec<(&str, Vec<&str>)> = expected
        .iter()
        .map(|(permission, patterns)| (*permission, patterns.to_vec()))
        .collect();
    assert_eq!((found, asks), (action, expected), "{arguments}");
}

/// Everything is allowed but one program.
const NO_RM: [(&str, &str, Action); 2] = [("*", "*", Allow), ("bash", "rm *", Deny)];

/// The line, the action under [`NO_RM`], and what is asked as `bash`: each command, and each that runs
/// inside another.
const SPELLINGS: &[(&str, Action, &[&str])] = &[
    ("rm x", Deny, &["rm x"]),
    ("rm", Deny, &["rm"]),
    ("rm -- x", Deny, &["rm -- x"]),
    // Among other commands.
    ("a && rm x", Deny, &["a", "rm x"]),
    ("a || rm x", Deny, &["a", "rm x"]),
    ("a; rm x", Deny, &["a", "rm x"]),
    ("a\nrm x", Deny, &["a", "rm x"]),
    ("a | rm x", Deny, &["a", "rm x"]),
    ("a & rm x", Deny, &["a", "rm x"]),
    ("! rm x", Deny, &["rm x"]),
    ("(rm x)", Deny, &["rm x"]),
    ("{ rm x; }", Deny, &["rm x"]),
    // In another spelling.
    ("/bin/rm x", Deny, &["/bin/rm x"]),
    ("./rm x", Deny, &["./rm x"]),
    ("\\rm x", Deny, &["\\rm x"]),
    ("r\\m x", Deny, &["r\\m x"]),
    ("'rm' x", Deny, &["'rm' x"]),
    ("\"rm\" x", Deny, &["\"rm\" x"]),
    ("r''m x", Deny, &["r''m x"]),
    ("rm\tx", Deny, &["rm\tx"]),
    ("  rm   x  ", Deny, &["rm   x"]),
    ("rm \\\n x", Deny, &["rm \\\n x"]),
    ("FOO=1 rm x", Deny, &["FOO=1 rm x"]),
    ("PATH=. rm x", Deny, &["PATH=. rm x"]),
    ("2>&1 rm x", Deny, &["2>&1 rm x"]),
    // Run by another program.
    ("sudo rm x", Deny, &["sudo rm x", "rm x"]),
    ("env rm x", Deny, &["env rm x", "rm x"]),
    ("env A=1 rm x", Deny, &["env A=1 rm x", "rm x"]),
    ("xargs rm", Deny, &["xargs rm"]),
    ("command rm x", Deny, &["command rm x", "rm x"]),
    ("nice -n 5 rm x", Deny, &["nice -n 5 rm x", "rm x"]),
    ("timeout 5 rm x", Deny, &["timeout 5 rm x", "rm x"]),
    (
        "find . -exec rm {} +",
        Deny,
        &["find . -exec rm {} +", "rm ./**"],
    ),
    ("bash -c 'rm x'", Deny, &["bash -c 'rm x'", "rm x"]),
    ("eval 'rm x'", Deny, &["eval 'rm x'", "rm x"]),
    // Inside something else.
    ("$(rm x)", Deny, &["rm x", "$(rm x)"]),
    ("`rm x`", Deny, &["rm x", "`rm x`"]),
    ("echo \"$(rm x)\"", Deny, &["rm x", "echo \"$(rm x)\""]),
    ("cat <(rm x)", Deny, &["rm x", "cat <(rm x)"]),
    (
        "cat <<E\n$(rm x)\nE",
        Deny,
        &["rm x", "cat <<E\n$(rm x)\nE"],
    ),
    ("if true; then rm x; fi", Deny, &["true", "rm x"]),
    ("for f in a; do rm x; done", Deny, &["rm x"]),
    ("f() { rm x; }; f", Deny, &["f", "rm x"]),
    ("alias q=rm; q x", Deny, &["alias q=rm; q x", "q x", "rm x"]),
    ("time rm x", Deny, &["rm x"]),
    // What cannot be told is not allowed beside a narrower deny.
    ("$CMD x", Ask, &["$CMD x"]),
    ("r? x", Ask, &["r? x"]),
    ("python -c 'x'", Ask, &["python -c 'x'"]),
    ("echo 'a", Ask, &["echo 'a"]),
    // A blank that is none to the shell.
    ("rm\u{a0}x", Ask, &["rm\u{a0}x"]),
    // What can be told is allowed: no word of it is a program or an option.
    ("echo $X", Allow, &["echo $X"]),
    ("sudo ls", Allow, &["sudo ls", "ls"]),
    ("cat <<'E'\nrm x\nE", Allow, &["cat <<'E'\nrm x\nE"]),
    // Words that only look like it.
    ("ls", Allow, &["ls"]),
    ("rmdir x", Allow, &["rmdir x"]),
    ("echo rm x", Allow, &["echo rm x"]),
    ("echo 'a && rm x'", Allow, &["echo 'a && rm x'"]),
    ("ls # rm x", Allow, &["ls"]),
    ("# rm x", Allow, &["# rm x"]),
    (";", Ask, &[";"]),
];

#[test]
fn no_spelling_of_a_denied_command_is_allowed() {
    for (line, action, patterns) in SPELLINGS {
        let (found, asks) = asks_of(&NO_RM, command(line));
        let bash = asks.iter().filter(|it| it.permission == "bash");
        let bash = bash.flat_map(|it| &it.patterns).map(String::as_str);
        let mut bash: Vec<&str> = bash.collect();
        let mut patterns = patterns.to_vec();
        bash.sort_unstable();
        patterns.sort_unstable();
        assert_eq!((found, bash), (*action, patterns), "{line}");
    }
}

#[test]
fn a_denied_command_is_not_run_in_any_spelling_either() {
    let denied = SPELLINGS.iter().filter(|(_, action, _)| *action == Deny);
    for (line, ..) in denied {
        let bench = Bench::new(&NO_RM);
        let by = denied_by(bench.run(Bash, command(line), unasked));
        assert_eq!(by, "user:2:1: bash rm *", "{line}");
        assert_eq!(bench.host.ran(), [""; 0]);
    }
}

#[test]
fn an_allow_of_one_program_allows_nothing_beside_it() {
    let rules = [("bash", "ls *", Allow)];
    for (line, action) in [
        ("ls x", Allow),
        ("ls x | ls", Allow),
        ("ls x; cat y", Ask),
        ("ls $(cat y)", Ask),
        ("ls $X", Allow),
        ("ls $($X)", Ask),
        ("ls `cat y`", Ask),
        ("ls <(cat y)", Ask),
        ("ls > out", Ask),
        ("ls > src/*", Ask),
        ("cd x; ls > y", Ask),
        ("ls < .env", Ask),
        ("PATH=. ls x", Ask),
        ("/tmp/ls x", Ask),
        ("ls\u{a0}x", Ask),
        ("if true; then ls; fi", Ask),
    ] {
        assert_eq!(asks_of(&rules, command(line)).0, action, "{line}");
    }
}

#[test]
fn what_cannot_be_told_is_allowed_only_by_a_plain_allow_of_everything() {
    for line in ["echo $(date)", "sudo ls", "for f in a; do ls; done"] {
        let rules = [("bash", "*", Allow), ("bash", "git push *", Ask)];
        assert_eq!(asks_of(&rules, command(line)).0, Allow, "{line}");
    }
    for line in [
        "$CMD x",
        "echo $($CMD)",
        "sudo $CMD",
        "for f in $X; do $f; done",
        "python -c 'x'",
        "eval \"$X\"",
        "rm $X",
    ] {
        assert_eq!(
            asks_of(&[("bash", "*", Allow)], command(line)).0,
            Allow,
            "{line}"
        );
        for narrower in [("bash", "git push *", Ask), ("b*", "x", Deny)] {
            let rules = [("bash", "*", Allow), narrower];
            assert_eq!(asks_of(&rules, command(line)).0, Ask, "{line}");
        }
        assert_eq!(
            asks_of(&[("bash", "?*", Allow)], command(line)).0,
            Ask,
            "{line}"
        );
    }
}

/// Everything is allowed, so that only what is asked shows.
const ALL: [(&str, &str, Action); 1] = [("*", "*", Allow)];

#[test]
fn a_redirect_is_asked_as_what_it_does_to_its_file() {
    let cases: &[(&str, &[Asked<'_>])] = &[
        ("echo hi > src/a", &[("edit", &["src/a"])]),
        ("echo hi >> src/a", &[("edit", &["src/a"])]),
        ("echo hi >| src/a", &[("edit", &["src/a"])]),
        ("echo hi &> src/a", &[("edit", &["src/a"])]),
        ("echo hi >& src/a", &[("edit", &["src/a"])]),
        ("echo hi > 'a b'", &[("edit", &["a b"])]),
        ("cat < a.txt", &[("read", &["a.txt"])]),
        ("cat 0<./x/../a.txt", &[("read", &["a.txt"])]),
        (
            "cat <> a.txt",
            &[("read", &["a.txt"]), ("edit", &["a.txt"])],
        ),
        (
            "ls > /out/y",
            &[("external_directory", &["/out/*"]), ("edit", &["/out/y"])],
        ),
        (
            "ls > /out/y 2> e",
            &[
                ("external_directory", &["/out/*"]),
                ("edit", &["/out/y", "e"]),
            ],
        ),
        (
            "ls > ../etc/hosts",
            &[
                ("external_directory", &["/etc/*"]),
                ("edit", &["/etc/hosts"]),
            ],
        ),
        (
            "ls > /dev/nullfoo",
            &[
                ("external_directory", &["/dev/*"]),
                ("edit", &["/dev/nullfoo"]),
            ],
        ),
        (
            "ls > /dev/null/../../etc/hosts",
            &[
                ("external_directory", &["/etc/*"]),
                ("edit", &["/etc/hosts"]),
            ],
        ),
        ("cat < /dev/tcp/h/80", &[("network", &["h:80"])]),
        ("echo > /dev/udp/h/53", &[("network", &["h:53"])]),
        // Neutral: no file is harmed or learned from.
        ("ls 2>&1", &[]),
        ("ls >&2", &[]),
        ("ls 2>&-", &[]),
        ("ls > /dev/null", &[]),
        ("ls &>/dev/null", &[]),
        ("cat < /dev/stdin", &[]),
    ];
    for (line, files) in cases {
        let bash: [Asked<'_>; 1] = [("bash", &[line])];
        check(&ALL, &command(line), Allow, &[*files, &bash].concat());
    }
}

#[test]
fn a_redirect_of_a_group_or_of_nothing_counts_as_well() {
    for line in ["{ ls; } > src/a", "(ls) > src/a"] {
        check(
            &ALL,
            &command(line),
            Allow,
            &[("edit", &["src/a"]), ("bash", &["ls"])],
        );
    }
    let outside: [(&str, &[&str]); 2] = [
        ("external_directory", &["/etc/*"]),
        ("edit", &["/etc/hosts"]),
    ];
    check(&ALL, &command("> /etc/hosts"), Allow, &outside);
}

#[test]
fn rules_about_files_hold_for_redirects() {
    for (line, rules, action) in [
        ("echo hi > src/a", &[("bash", "*", Allow)][..], Ask),
        (
            "echo hi > src/a",
            &[("*", "*", Allow), ("edit", "src/*", Deny)],
            Deny,
        ),
        (
            "cat < .env",
            &[("*", "*", Allow), ("read", "*.env", Deny)],
            Deny,
        ),
        (
            "cat < x/../.env",
            &[("*", "*", Allow), ("read", ".env", Ask)],
            Ask,
        ),
        (
            "ls > /etc/hosts",
            &[("*", "*", Allow), ("external_directory", "*", Ask)],
            Ask,
        ),
        (
            "cat < /dev/tcp/h/80",
            &[("*", "*", Allow), ("network", "h:*", Deny)],
            Deny,
        ),
        (
            "ls > /dev/null",
            &[("bash", "*", Allow), ("edit", "*", Deny)],
            Allow,
        ),
    ] {
        assert_eq!(asks_of(rules, command(line)).0, action, "{line}");
    }
}

/// A machine whose walls have gaps.
fn partial() -> MemoryHost {
    let gaps = vec!["a gap of this test".to_owned()];
    MemoryHost::confined(&[("src/a", "")], Confinement::Partial { gaps })
}

#[test]
fn a_redirect_to_what_cannot_be_told_is_for_the_walls_or_asked() {
    for line in [
        "ls > $F",
        "ls > \"$F\"",
        "ls > ''",
        "cd $D && ls > y",
        "cd - && ls > y",
    ] {
        assert_eq!(asks_of(&ALL, command(line)).0, Allow, "{line}");
        let bench = Bench::on(partial(), &ALL);
        let arguments = RawArguments::Json(command(line));
        let checked = bench.check(&[AnyTool::new(Bash)], "bash", arguments);
        let checked = checked.unwrap();
        assert_eq!(checked.action, Ask, "{line}");
        let because = checked.asks.iter().find(|it| it.decision.action() == Ask);
        let because = because.unwrap().decision.subject().ask_because.clone();
        let because = because.unwrap();
        assert!(
            because.starts_with("it cannot be told what it "),
            "{because}"
        );
    }
}

#[test]
fn a_redirect_is_followed_through_changes_of_directory() {
    for (line, files) in [
        ("ls > ~/x", &["/home/u/x"][..]),
        ("ls > $(printf src/a)", &["src/a"]),
        ("cd x && ls > y", &["x/y"]),
        ("(cd x); ls > y", &["y"]),
        ("pushd x && ls >> y", &["x/y"]),
        ("cd x && ls > /out/y", &["/out/y"]),
        // The shell goes on where it was if it cannot go there.
        ("cd x; ls > y", &["x/y", "y"]),
        ("cd /out; ls > new", &["/out/new", "new"]),
    ] {
        let rules = [("*", "*", Allow), ("edit", "*", Ask)];
        let (action, asks) = asks_of(&rules, command(line));
        let edit = asks.iter().find(|it| it.permission == "edit").unwrap();
        assert_eq!(edit.patterns, files, "{line}");
        assert_eq!((action, edit.decision.action()), (Ask, Ask), "{line}");
    }
}

#[test]
fn a_workdir_outside_is_asked_and_relative_targets_start_there() {
    let ls = |line: &str, workdir: &str| json!({"command": line, "workdir": workdir});
    let cases: &[(Value, &[Asked<'_>])] = &[
        (
            ls("ls", "/out"),
            &[("external_directory", &["/out/*"]), ("bash", &["ls"])],
        ),
        (
            ls("ls", "../out"),
            &[("external_directory", &["/out/*"]), ("bash", &["ls"])],
        ),
        (ls("ls", "src"), &[("bash", &["ls"])]),
        (ls("ls", "/w/src"), &[("bash", &["ls"])]),
        (
            ls("ls > y", "src"),
            &[("edit", &["src/y"]), ("bash", &["ls > y"])],
        ),
        (
            ls("ls > y", "/out"),
            &[
                ("external_directory", &["/out/*"]),
                ("edit", &["/out/y"]),
                ("bash", &["ls > y"]),
            ],
        ),
    ];
    for (arguments, expected) in cases {
        check(&ALL, arguments, Allow, expected);
    }
    let rules = [("*", "*", Allow), ("external_directory", "/out/*", Deny)];
    assert_eq!(asks_of(&rules, ls("ls", "/out")).0, Deny);
}

#[test]
fn an_empty_line_is_a_fault_of_the_arguments_and_a_comment_is_asked_whole() {
    let bench = Bench::new(&ALL);
    for line in ["", " ", "\n\t"] {
        let result = bench.run(Bash, command(line), unasked).unwrap_err();
        assert!(
            result.to_string().contains("command: may not be empty"),
            "{result}"
        );
    }
    check(&[], &command("# x"), Ask, &[("bash", &["# x"])]);
    assert_eq!(Spawn::new("true").timeout_ms(), 120_000);
}

#[test]
fn an_always_would_keep_a_safe_prefix_or_the_very_words_or_nothing() {
    for (line, always) in [
        ("git log --oneline -5", &["git log *"][..]),
        ("ls -la && ls x", &["ls *"]),
        // What is inside is kept apart.
        ("sudo rm x", &["rm *", "sudo rm x"]),
        ("git", &["git"]),
        ("bash -c ls", &["ls *", "bash -c ls"]),
        ("rm *", &["rm *"]),
        // The value of a word stands in the rest of the line.
        ("X=ls; eval \"$X\"", &["ls *", "X=ls; eval \"$X\""]),
        ("ls; eval \"$X\"", &["ls *", "ls; eval \"$X\""]),
        ("tollgate trust", &[]),
        ("ls; /opt/tollgate approvals list", &[]),
        ("tollgate check edit a", &["tollgate check edit a"]),
    ] {
        let (_, asks) = asks_of(&[], command(line));
        let bash = asks.iter().find(|it| it.permission == "bash").unwrap();
        assert_eq!(bash.always, always, "{line}");
    }
}

#[test]
fn moving_a_directory_moves_what_rules_say_of_what_lies_in_it() {
    for permission in ["read", "edit"] {
        let rules = [("*", "*", Allow), (permission, "src/*", Deny)];
        for line in [
            "mv src public",
            "gmv src public",
            "git mv src public",
            "mv sr* public",
            "ln -s src s; echo x > other",
        ] {
            let (action, _) = asks_of(&rules, command(line));
            assert_eq!(action, Deny, "{permission} {line}");
        }
        for line in [
            "find . -name src -exec mv {} public \\;",
            "for d in sr*; do mv $d public; done",
        ] {
            let (action, _) = asks_of(&rules, command(line));
            assert_ne!(action, Allow, "{permission} {line}");
        }
        for line in ["mv docs public", "ln -s docs d", "ls src"] {
            let (action, _) = asks_of(&rules, command(line));
            assert_eq!(action, Allow, "{permission} {line}");
        }
    }
    // What is moved into a directory touches nothing else in it.
    let rules = [("*", "*", Allow), ("edit", "src/a", Deny)];
    assert_eq!(asks_of(&rules, command("mv notes.txt src")).0, Allow);
}

#[test]
fn a_mode_that_takes_a_right_away_is_a_change_of_its_file() {
    let rules = [("*", "*", Allow), ("edit", "src/*", Deny)];
    for line in [
        "chmod -x src/a",
        "chmod -rwx src/a",
        "chmod -R -x src/a",
        "chmod 644 src/a",
    ] {
        assert_eq!(asks_of(&rules, command(line)).0, Deny, "{line}");
    }
}

#[test]
fn what_goes_through_a_directory_without_full_walls_meets_the_rules_of_what_lies_in_it() {
    let files = [("src/a", "")];
    let partial = Confinement::Partial { gaps: Vec::new() };
    let host = MemoryHost::confined(&files, partial);
    let rules = [("*", "*", Allow), ("read", "src/*", Deny)];
    let bench = Bench::on(host, &rules);
    for (line, want) in [
        ("grep -r k src", Deny),
        ("rg k", Deny),
        ("tar cf x.tar src", Deny),
        ("grep k x", Allow),
    ] {
        let tools = [AnyTool::new(Bash)];
        let checked = bench.check(&tools, "bash", RawArguments::Json(command(line)));
        assert_eq!(checked.unwrap().action, want, "{line}");
    }
}

#[test]
fn what_is_run_by_its_name_behind_a_runner_is_named_with_it() {
    let rules = [
        ("*", "*", Allow),
        ("bash", "*", Ask),
        ("bash", "pnpm exec tsc *", Allow),
    ];
    assert_eq!(asks_of(&rules, command("pnpm exec tsc --noEmit")).0, Allow);
    let rules = [rules[0], rules[2], ("bash", "tsc *", Deny)];
    assert_eq!(asks_of(&rules, command("pnpm exec tsc --noEmit")).0, Deny);
}

#[test]
fn a_server_of_ones_own_needs_no_leave_behind_walls() {
    let rules = [("*", "*", Allow), ("network", "*", Ask)];
    for (line, want) in [
        ("curl -s http://localhost:3000/health", Allow),
        ("curl -s http://127.0.0.1:3000/health", Allow),
        ("curl -s http://10.0.0.1/health", Ask),
        ("curl -s http://example.com/health", Ask),
    ] {
        assert_eq!(asks_of(&rules, command(line)).0, want, "{line}");
    }
    let rules = [("*", "*", Allow), ("network", "localhost*", Deny)];
    assert_eq!(asks_of(&rules, command("curl http://localhost:1")).0, Deny);
}

#[test]
fn a_variable_that_looks_secret_is_asked_about_where_it_is_shown() {
    for line in [
        "echo $MY_SECRET",
        "cat <<< $MY_SECRET",
        "X=$MY_SECRET; echo $X",
    ] {
        assert_eq!(asks_of(&ALL, command(line)).0, Ask, "{line}");
    }
    for line in [
        "echo $HOME",
        "MY_SECRET=1; echo $MY_SECRET",
        "echo '$MY_SECRET'",
    ] {
        assert_eq!(asks_of(&ALL, command(line)).0, Allow, "{line}");
    }
}

/// What is asked under a permission, sorted.
fn patterns(asks: &[CheckedAsk], permission: &str) -> Vec<String> {
    let asks = asks.iter().filter(|it| it.permission == permission);
    let mut found: Vec<String> = asks.flat_map(|it| it.patterns.clone()).collect();
    found.sort();
    found
}

fn checked_on(
    host: MemoryHost,
    rules: &[(&str, &str, Action)],
    line: &str,
) -> (Action, Vec<CheckedAsk>) {
    let bench = Bench::on(host, rules);
    let arguments = RawArguments::Json(command(line));
    let checked = bench.check(&[AnyTool::new(Bash)], "bash", arguments);
    let checked = checked.unwrap();
    (checked.action, checked.asks)
}

/// A workspace with links: one to a directory outside, one to a directory deep in it.
fn linked(confinement: Confinement) -> MemoryHost {
    let files = [
        ("/etc/ssl/x", ""),
        ("/etc/passwd", ""),
        ("config/y", ""),
        ("config/keep.yml", ""),
        ("config/sub/x", ""),
        ("sub/y", ""),
    ];
    let host = MemoryHost::confined(&files, confinement);
    host.lead("l", "/etc/ssl");
    host.lead("deep/c", "/w/config/sub");
    host
}

#[test]
fn behind_a_link_the_way_up_is_the_one_that_the_system_goes() {
    for (line, files) in [
        ("cat l/../passwd", &["/etc/passwd", "passwd"][..]),
        ("cat ./l/./../passwd", &["/etc/passwd", "passwd"]),
        ("cat l/../ssl/../passwd", &["/etc/passwd", "passwd"]),
        ("cat < l/../passwd", &["/etc/passwd", "passwd"]),
        ("cd l && cat ../passwd", &["/etc/passwd", "passwd"]),
        ("env -C l cat ../passwd", &["/etc/passwd", "passwd"]),
        ("env -C l/.. cat passwd", &["/etc/passwd", "passwd"]),
        (
            "(cd l && sh -c 'cat ../passwd')",
            &["/etc/passwd", "passwd"],
        ),
        ("cat l/../pass*", &["/etc/pass*", "pass*"]),
        (
            "cat deep/c/../keep.yml",
            &["config/keep.yml", "deep/keep.yml"],
        ),
        // The shell itself goes by name, where it can.
        ("cd l/.. && cat passwd", &["passwd"]),
        ("cd l/../ssl && cat x", &["/etc/ssl/x", "ssl/x"]),
        // No link is on the way.
        ("cat sub/../passwd", &["passwd"]),
        ("cd sub && cat ../passwd", &["passwd"]),
        ("cat ../w/passwd", &["passwd"]),
        ("mkdir -p build && cd build && cat ../passwd", &["passwd"]),
        ("cat sub/../../etc/passwd", &["/etc/passwd"]),
    ] {
        let (_, asks) = checked_on(linked(Confinement::Full), &ALL, line);
        let mut read = patterns(&asks, "read");
        // Where a command is told to work is not what it is asked about here.
        let directories = [".", "/etc", "/etc/ssl", "build", "l", "ssl", "sub"];
        read.retain(|it| !directories.contains(&it.as_str()));
        assert_eq!(read, files, "{line}");
    }
    for line in ["echo x > l/../new", "touch l/../new", "tee l/../new"] {
        let (_, asks) = checked_on(linked(Confinement::Full), &ALL, line);
        assert_eq!(patterns(&asks, "edit"), ["/etc/new", "new"], "{line}");
        let directories = patterns(&asks, "external_directory");
        assert_eq!(directories, ["/etc/*"], "{line}");
    }
}

#[test]
fn rules_hold_for_a_path_by_name_and_for_where_the_system_goes() {
    for (rule, line, want) in [
        ("config/keep.yml", "cat deep/c/../keep.yml", Deny),
        ("deep/keep.yml", "cat deep/c/../keep.yml", Deny),
        ("config/keep.yml", "head deep/c/../ke*", Deny),
        ("config/*.yml", "grep k deep/c/../*.yml", Deny),
        ("other", "cat deep/c/../keep.yml", Allow),
        ("/etc/passwd", "cat l/../passwd", Deny),
    ] {
        let rules = [("*", "*", Allow), ("read", rule, Deny)];
        let (action, _) = checked_on(linked(Confinement::Full), &rules, line);
        assert_eq!(action, want, "{rule} {line}");
    }
}

#[test]
fn a_way_up_behind_a_link_that_the_line_makes_cannot_be_told() {
    let partial = || linked(Confinement::Partial { gaps: Vec::new() });
    for line in [
        "ln -s config/sub here && cat here/../keep.yml",
        "ln -sfn config/sub sub && cat sub/../keep.yml",
        "mv deep/c here; cat here/../keep.yml",
        "ln -s config/sub here; cat < here/../keep.yml",
    ] {
        assert_eq!(checked_on(partial(), &ALL, line).0, Ask, "{line}");
    }
    for line in [
        "mkdir here && cat here/../keep.yml",
        "cd sub && mv ../a . && mv ../b . && cat ../c",
        "ln -s config/sub here && cat sub/../x",
        "cat sub/../x && mv a b",
    ] {
        assert_eq!(checked_on(partial(), &ALL, line).0, Allow, "{line}");
    }
}

#[test]
fn a_way_up_from_a_file_leads_nowhere() {
    let rules = [("*", "*", Allow), ("bash", "rm *", Deny)];
    let (action, _) = checked_on(linked(Confinement::Full), &rules, "cat sub/y/../../x");
    assert_eq!(action, Ask);
}

#[test]
fn what_is_moved_loses_nothing_but_what_stood_where_it_comes_to_stand() {
    let rules = [("*", "*", Allow), ("edit.overwrite", "*", Ask)];
    for (line, want) in [
        ("mv sub/y sub/z", Allow),
        ("git mv sub/y sub/z", Allow),
        ("mv sub/y new/", Allow),
        ("mv sub/* config/sub/", Allow),
        ("mv sub/* config/", Ask),
        ("mv sub/y config/keep.yml", Ask),
        ("mv -t config/sub sub/y", Allow),
        ("mv -t config sub/y", Ask),
        ("mv -f sub/y config/sub/x", Ask),
        ("cp sub/y config/keep.yml", Ask),
        ("mv config/keep.yml a && mv sub/y config/keep.yml", Ask),
        ("ln sub/y sub/z", Allow),
        ("ln -f sub/y config/keep.yml", Ask),
    ] {
        let (action, _) = checked_on(linked(Confinement::Full), &rules, line);
        assert_eq!(action, want, "{line}");
    }
    // It is taken away where it stood, as `rm` does.
    let rules = [("*", "*", Allow), ("edit", "sub/y", Deny)];
    for line in ["mv sub/y sub/z", "git mv sub/y sub/z", "rm sub/y"] {
        let (action, _) = checked_on(linked(Confinement::Full), &rules, line);
        assert_eq!(action, Deny, "{line}");
    }
}

#[test]
fn a_search_that_is_limited_to_names_reads_no_others() {
    let rules = [("*", "*", Allow), ("read", "*.env*", Ask)];
    for (line, want) in [
        ("grep -rn foo .", Ask),
        ("grep -rn foo --include='*.ts' .", Allow),
        ("grep -rn foo --include=*.ts .", Allow),
        ("grep -rn foo --include '*.ts' --include '*.tsx' src", Allow),
        ("grep -rn foo --include='*.{ts,tsx}' .", Ask),
        (
            "grep -rn foo --include='*.ts' --exclude-dir=node_modules .",
            Allow,
        ),
        ("grep -rn foo --include='*.ts' --exclude='*.d.ts' .", Ask),
        ("grep -rn foo --include='*.ts' --include='.e*' .", Ask),
        ("grep -rn foo --include='*' .", Ask),
        ("grep -rn foo --include='?env' .", Ask),
        ("grep -rn foo --include=\"$X\" .", Ask),
        ("grep -rn foo --include='*.ts' .env", Ask),
        ("grep -rn foo --include='*.ts' .e*", Ask),
        ("rg --hidden foo", Ask),
        ("rg --hidden foo -g '*.ts'", Allow),
        ("rg --hidden -g '**/*.{ts,tsx}' foo", Allow),
        ("rg --hidden -g '*.ts' -g '!dist' foo", Allow),
        ("rg --hidden -g '!dist' foo", Ask),
        ("rg --hidden -g '*.{ts,env}' foo", Ask),
    ] {
        let action = asks_of(&rules, command(line)).0;
        assert_eq!(action, want, "{line}");
    }
}

#[test]
fn what_looks_at_names_alone_reads_no_file_of_the_workspace() {
    let rules = [
        ("*", "*", Allow),
        ("read", "*.env", Ask),
        ("external_directory", "*", Ask),
    ];
    for (line, want) in [
        ("ls -la .env", Allow),
        ("ls -la .e*", Allow),
        ("test -f .env && echo yes", Allow),
        ("[ -e .env ]", Allow),
        ("stat .env", Allow),
        ("du -sh .env src", Allow),
        ("[[ -f .env ]] && echo yes", Allow),
        ("ls -la /out", Ask),
        ("test -f /out/x", Ask),
        // The name is not all that these show.
        ("file .env", Ask),
        ("wc -l .env", Ask),
        ("du -X .env src", Ask),
        ("ls < .env", Ask),
        ("test -f .env && cat .env", Ask),
        // Its output may be the words of another command.
        ("ls .env | xargs cat", Ask),
        ("ls .e* | xargs -n1 head", Ask),
        ("cat $(ls .env)", Ask),
        ("ls .env | while read f; do cat \"$f\"; done", Ask),
        ("ls .env | wc -l", Allow),
    ] {
        assert_eq!(asks_of(&rules, command(line)).0, want, "{line}");
    }
}

#[test]
fn a_directory_outside_is_asked_about_once() {
    let files = [("/out/a/.x/y", ""), ("/out/b/.z", ""), ("/out/.h", "")];
    for line in [
        "tar czf a.tgz -C /out .",
        "tar xzf a.tgz -C /out",
        "grep -r k /out",
    ] {
        let host = MemoryHost::with(&files);
        let (_, asks) = checked_on(host, &ALL, line);
        let directories = patterns(&asks, "external_directory");
        assert_eq!(directories, ["/out/*"], "{line}");
        // A rule for one of those below holds all the same.
        let rules = [("*", "*", Allow), ("external_directory", "/out/a/*", Deny)];
        let (action, _) = checked_on(MemoryHost::with(&files), &rules, line);
        assert_eq!(action, Deny, "{line}");
    }
}

#[test]
fn of_a_fixed_program_with_words_that_are_not_known_its_kind_is_enough_behind_walls() {
    let rules = [
        ("*", "*", Allow),
        ("bash", "rm -r*", Ask),
        ("bash", "git push *", Ask),
    ];
    for (line, full, partial) in [
        ("lsof -ti:3000 | xargs kill", Allow, Ask),
        ("find . -name '*.py' | xargs sed -i 's/a/b/'", Allow, Ask),
        ("git ls-files | xargs cat", Allow, Ask),
        ("x | xargs rm -rf", Ask, Ask),
        ("x | xargs git", Ask, Ask),
        ("x | xargs sh", Ask, Ask),
        ("x | xargs -I{} sh -c {}", Ask, Ask),
        ("x | xargs", Allow, Allow),
        ("x | xargs sudo", Ask, Ask),
        ("x | xargs no-such-program", Ask, Ask),
    ] {
        let host = |confinement| MemoryHost::confined(&[("src/a", "")], confinement);
        let (action, _) = checked_on(host(Confinement::Full), &rules, line);
        assert_eq!(action, full, "{line}");
        let walls = Confinement::Partial { gaps: Vec::new() };
        assert_eq!(checked_on(host(walls), &rules, line).0, partial, "{line}");
    }
}

#[test]
fn without_walls_a_reading_of_files_that_cannot_be_told_is_asked() {
    let rules = [
        ("*", "*", Ask),
        ("read", "*", Allow),
        ("bash.readonly", "*", Allow),
    ];
    for (line, want) in [
        ("cat @(.env)", Ask),
        ("cat ~1/.env", Ask),
        ("cat $x", Ask),
        ("cat ${x:-.env}", Ask),
        ("cat src/a", Allow),
    ] {
        let why = "none".to_owned();
        let host = MemoryHost::confined(&[("src/a", "")], Confinement::NotEnforced { why });
        assert_eq!(checked_on(host, &rules, line).0, want, "{line}");
    }
}
