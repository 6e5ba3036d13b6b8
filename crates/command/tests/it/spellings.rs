//! What rules are matched against, and what is opaque. It must not look at how text is read.

use crate::command::{Simple, read};

fn first(text: &str) -> Simple {
    read(text).commands.into_iter().next().unwrap()
}

const OPAQUE: &[&str] = &[
    "sudo rm x",
    "doas rm x",
    "env rm x",
    "xargs rm",
    "timeout 5 rm x",
    "nice rm x",
    "nohup rm x",
    "\\time rm x",
    "command rm x",
    "builtin eval x",
    "exec rm x",
    "ssh h rm x",
    "busybox rm x",
    "watch rm x",
    "parallel rm",
    "stdbuf -o0 rm x",
    "setsid rm x",
    "/usr/bin/sudo rm x",
    "find . -exec rm {} +",
    "find . -ok rm {} \\;",
    "find . -execdir rm {} +",
    "bash",
    "sh -s",
    "zsh -",
    "dash -c x",
    "bash -ec x",
    "bash -x x.sh",
    "bash < x",
    "bash /dev/stdin",
    "python -c x",
    "python3.12 -Ic x",
    "python",
    "python -",
    "node -e x",
    "node --eval=x",
    "node --ev x",
    "node -pe x",
    "perl -e x",
    "perl -ne x",
    "ruby -e x",
    "php -r x",
    "python -m timeit x",
    "eval x",
    "source x",
    ". x",
    "trap x EXIT",
    "alias a=b",
    "shopt -s expand_aliases",
    "PATH=. ls",
    "LD_PRELOAD=x ls",
    "DYLD_INSERT_LIBRARIES=x ls",
    "GIT_PAGER=x git log",
    "MANPAGER=x man",
    "PAGER=x ls",
    "EDITOR=x ls",
    "VISUAL=x ls",
    "BASH_ENV=x ls",
    "ENV=x ls",
    "IFS=x ls",
    "SHELLOPTS=x ls",
    "PYTHONPATH=x ls",
    "NODE_OPTIONS=x ls",
    "PERL5OPT=x ls",
    "RUBYOPT=x ls",
    "PROMPT_COMMAND=x ls",
    "PATH=.",
    "PATH+=:. ls",
    "RUSTC_WRAPPER=x cargo build",
    "HOME=x ls",
    "export PATH=.",
    "declare -x LD_PRELOAD=x",
    "unset 'a[x]'",
    "printf -v PATH x",
    "printf -vx x",
    "test -v 'a[x]'",
    "read x",
    "mapfile -C x",
    "git -c core.pager=x log",
    "git -C . -c a=b log",
    "git grep -Ox y",
    "git grep --open-files-in-pager=x y",
    "git rebase -x y",
    "git submodule foreach x",
    "rg --pre x y",
    "sort --compress-program=x y",
    "tar -cf a --checkpoint-action=exec=x",
    "tar xf a --to-command=x",
    "tar --to-com x",
    "rsync -e x a b",
    "r? x",
    "* x",
    "~/*/x y",
    "rm *",
    "ls [a]b",
    "ls ?x",
    "ls -*",
    "'git push' x",
    "'' x",
    "-c x",
    "$x",
    "ls $x",
    "{ls,x}",
    "a -b c -d e -f g -h i -j k",
    "awk * x",
];

const PLAIN: &[&str] = &[
    "ls",
    "rm -rf x",
    "git log",
    "git switch -c x",
    "git commit -C HEAD",
    "find . -name '*.md' -delete",
    "bash x.sh -c",
    "python x.py -c y",
    "python -m pytest",
    "python --version",
    "node server.js -p 3000",
    "node --test",
    "awk '{print}' x",
    "sed -n 1p x",
    "A=1 ls",
    "RUST_LOG=debug cargo test",
    "export A=1",
    "printf x",
    "[ -f x ]",
    "ls src/*.rs",
    "ls ~/x",
    "./x.sh",
    "/bin/ls",
    "echo PATH=x",
    "sort -u x",
    "tar xf a",
    "npm run build",
    "cat ~",
    "A=~/x ls",
    "git -C a --no-pager diff",
    "grep -e x y",
];

#[test]
fn what_hides_what_it_runs_is_opaque_and_nothing_else() {
    for text in OPAQUE {
        assert!(first(text).opaque.is_some(), "{text}");
    }
    for text in PLAIN {
        assert_eq!(first(text).opaque, None, "{text}");
    }
}

#[test]
fn the_word_to_blame_is_named() {
    for (text, blamed) in [
        ("find . -exec rm {} +", "-exec"),
        ("A=1 PATH=x ls", "PATH=x"),
        ("sudo x", "sudo"),
        ("git log -- $x", "$x"),
        ("node -e x", "-e"),
    ] {
        let opaque = first(text).opaque.unwrap();
        assert_eq!(&text[opaque.range], blamed, "{text}: {}", opaque.why);
    }
}

#[test]
fn the_canonical_form_drops_what_changes_nothing() {
    let cases = [
        ("FOO=1  rm\t-rf 'x'", "rm -rf x"),
        ("PATH=x A=1 rm y", "PATH=x rm y"),
        ("ls 2>/dev/null a", "ls a"),
        ("r''m \"a b\"", "rm 'a b'"),
        ("rm '' \"it's a\"", "rm '' 'it'\\''s a'"),
        ("A=1 B=2", "A=1 B=2"),
    ];
    for (text, canonical) in cases {
        assert_eq!(first(text).canonical(), canonical, "{text}");
    }
}

#[test]
fn the_source_is_what_was_written() {
    let cases = [
        ("  A=1 r''m  x 2>&1 ; ls", "A=1 r''m  x 2>&1"),
        ("> f cat x # y", "> f cat x"),
        ("(ls -l)", "ls -l"),
        ("a | cat > /etc/x", "a"),
    ];
    for (text, source) in cases {
        assert_eq!(first(text).source(text), source, "{text}");
    }
    let text = "ls | cat > /etc/x";
    assert_eq!(read(text).commands[1].source(text), "cat > /etc/x");
}

#[test]
fn the_program_is_the_first_word_where_it_can_be_told() {
    assert_eq!(first("A=1 'l's x").program(), Some("ls"));
    assert_eq!(first("~/bin/x y").program(), Some("~/bin/x"));
    assert_eq!(first("$x y").program(), None);
    assert_eq!(first("r* y").program(), None);
    assert_eq!(first("A=1").program(), None);
}

#[test]
fn other_spellings_hold_every_plausible_reading() {
    let cases: &[(&str, &[&str])] = &[
        ("/bin/rm -rf x", &["rm -rf x", "rm x"]),
        ("./x", &["x"]),
        ("git -C . push", &["git . push", "git push"]),
        (
            "git -C a -C b --no-pager push -f o",
            &["git push -f o", "git push o"],
        ),
        ("git --no-pager push", &["git push"]),
        ("git --git-dir=x push", &["git push"]),
        ("kubectl -n prod delete pod", &["kubectl delete pod"]),
        ("npm run --silent publish", &["npm run publish"]),
        ("PATH=x rm y", &["rm y"]),
        ("sudo -u me /bin/rm x", &["rm x"]),
        ("env A=1 rm x", &["rm x"]),
        ("timeout 5 rm x", &["rm x"]),
        ("find . -exec rm {} +", &["rm {} +"]),
        ("bash -c 'ls; rm -rf x'", &["ls", "rm -rf x"]),
        ("eval 'rm x'", &["rm x"]),
        ("command rm x", &["rm x"]),
    ];
    for &(text, expected) in cases {
        let others = first(text).others();
        assert!(others.len() <= 16);
        for spelling in expected {
            assert!(
                others.iter().any(|other| other == spelling),
                "{text} has {spelling}: {others:?}"
            );
        }
    }
    assert_eq!(first("ls x").others(), [""; 0]);
}

#[test]
fn a_saved_rule_is_offered_only_where_it_says_what_it_covers() {
    assert_eq!(first("git push origin").always(), ["git push *"]);
    assert_eq!(first("A=1 touch x > y").always(), ["touch *"]);
    for text in [
        "git -c a=b push",
        "sudo rm x",
        "git",
        "npx x",
        "awk x",
        "PATH=. ls",
        "ls $x",
        "A=1",
        "find . -exec rm {} +",
    ] {
        assert_eq!(first(text).always(), [""; 0], "{text}");
    }
}

#[test]
fn literal_means_every_word_is() {
    assert!(first("rm 'a*' \"b\"").is_literal());
    assert!(!first("rm a*").is_literal());
    assert!(!first("rm ~/a").is_literal());
    assert!(!first("rm $a").is_literal());
}
