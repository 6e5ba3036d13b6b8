//! What rules are matched against, and what is opaque. It must not look at how text is read.

use crate::command::Simple;
use crate::read;

fn first(text: &str) -> Simple {
    read(text).commands.into_iter().next().unwrap()
}

/// Lines whose first command may run what its words do not say, for what this reader alone can see.
const OPAQUE: &[&str] = &[
    "PATH=. ls",
    "LD_PRELOAD=x ls",
    "GIT_PAGER=x git log",
    "BASH_ENV=x ls",
    "IFS=x ls",
    "PATH=.",
    "PATH+=:. ls",
    "HOME=x ls",
    "r? x",
    "* x",
    "~root/*/x y",
    "'git push' x",
    "'' x",
    "-c x",
    "$x",
    "{ls,$x}x",
    "bash",
    "bash < x",
    "python - < x",
    "PYTHONPATH=src ls",
    "PYTHONPATH=/tmp/x python3 x.py",
    "PYTHONPATH=src/../.. python3 x.py",
    "PYTHONPATH=src python3 --version",
    "PYTHONPATH=src ./python3 x.py",
    "NODE_OPTIONS=--require=./x npm test",
    "RUSTFLAGS='-C linker=./x' cargo build",
    "source x",
    "source \"$x\"",
    ". /dev/stdin",
    "bash -O dotglob -c ls",
    "bash -o keyword x.sh",
    "redis-cli EVAL x 0",
    "sqlite3 a.db \"SELECT readfile('x')\"",
];

const PLAIN: &[&str] = &[
    "ls",
    "git log",
    "A=1 ls",
    "RUST_LOG=debug cargo test",
    "ls src/*.rs",
    "ls ~/x",
    "~/bin/x y",
    "/bin/ls",
    "echo PATH=x",
    "A=~/x ls",
    "x=rm; $x y",
    "bash <<< 'ls'",
    "PYTHONPATH=src python3 -m pytest",
    "PYTHONPATH=src:$PYTHONPATH pytest -q",
    "NODE_OPTIONS=--max-old-space-size=4096 npm run build",
    "RUSTFLAGS='-D warnings' cargo build",
    "GIT_PAGER=cat git log",
    "GIT_EDITOR=true git rebase --continue",
    "AWS_PROFILE=p aws s3 ls",
    "source .venv/bin/activate",
    ". ./env.sh",
    "bash -o pipefail x.sh",
    "redis-cli GET x",
    "sqlite3 a.db 'SELECT count(*) FROM t'",
];

#[test]
fn what_hides_what_it_runs_is_opaque_and_nothing_else() {
    for text in OPAQUE {
        assert!(first(text).opaque.is_some(), "{text}");
    }
    for text in PLAIN {
        assert!(
            read(text).commands.iter().all(|it| it.opaque.is_none()),
            "{text}"
        );
    }
}

#[test]
fn the_word_to_blame_is_named() {
    for (text, blamed) in [
        ("A=1 PATH=x ls", "PATH=x"),
        ("$x y", "$x"),
        ("bash", "bash"),
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
        ("PYTHONPATH=src python3 x.py", "python3 x.py"),
        ("PYTHONPATH=src ls", "PYTHONPATH=src ls"),
        ("PYTHONPATH=/x python3 x.py", "PYTHONPATH=/x python3 x.py"),
        ("GIT_PAGER=cat git log", "git log"),
        ("GIT_PAGER=x git log", "GIT_PAGER=x git log"),
        ("AWS_PROFILE=p aws s3 ls", "aws s3 ls"),
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
        assert_eq!(first(text).source, source, "{text}");
    }
    let text = "ls | cat > /etc/x";
    assert_eq!(read(text).commands[1].source, "cat > /etc/x");
}

#[test]
fn the_program_is_the_first_word_where_it_can_be_told() {
    assert_eq!(first("A=1 'l's x").program(), Some("ls"));
    assert_eq!(first("~/bin/x y").program(), Some("/home/u/bin/x"));
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
        "A=1",
    ] {
        assert_eq!(first(text).always(), [""; 0], "{text}");
    }
}

#[test]
fn a_program_of_the_project_is_named_with_the_one_that_runs_it_and_no_other_is() {
    let cases = [
        ("pnpm exec playwright test a.ts", true),
        ("npx tsc --noEmit", true),
        ("uv run pytest -q", true),
        ("npx -c 'tsc --noEmit'", false),
        ("sudo make", false),
        ("timeout 5 make", false),
        ("env make", false),
        ("ls | xargs make", false),
    ];
    for (text, is_named) in cases {
        let line = read(text);
        let via = line.commands.last().unwrap().via.clone().unwrap();
        assert_eq!(via.is_named, is_named, "{text}");
    }
    let deeper = read("pnpm exec sh -c 'rm x'");
    let named: Vec<bool> = deeper
        .commands
        .iter()
        .map(|it| it.via.as_ref().is_some_and(|via| via.is_named))
        .collect();
    assert_eq!(named, [false, true, false]);
}

#[test]
fn literal_means_every_word_is() {
    assert!(first("rm 'a*' \"b\"").is_literal());
    assert!(!first("rm a*").is_literal());
    assert!(!first("rm ~/a").is_literal());
    assert!(!first("rm $a").is_literal());
}

#[test]
fn no_number_of_options_hides_what_stands_behind_them() {
    for many in [1, 5, 6, 20, 500] {
        let options = "-c color.ui=never ".repeat(many);
        let far = "-x a ".repeat(many);
        for text in [
            format!("git {options}push"),
            format!("git {options}-p push -f o"),
            format!("/usr/bin/git {options}push {far}"),
            format!("git {options}-C x -p push {far}"),
        ] {
            let others = first(&text).others();
            let is_push = |it: &String| it == "git push" || it.starts_with("git push ");
            assert!(others.iter().any(is_push), "{text}: {others:?}");
        }
        let unknown = format!("deploy {far}production");
        let others = first(&unknown).others();
        assert!(
            others.contains(&"deploy production".to_owned()),
            "{unknown}"
        );
    }
}
