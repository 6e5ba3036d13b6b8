//! `shell explain`: what it says a line does, in both forms, and that its judgement is the one of `check`.

use crate::world::{BIN, World, check_plain};
use serde_json::{Value, json};

const RULES: &str = r#"{"permission": {
    "*": "allow",
    "bash": {"*": "ask", "cat *": "allow", "rm *": "deny"}
}}"#;

fn world() -> World {
    let world = World::new();
    world.rules(RULES);
    world
}

#[track_caller]
fn explained(line: &str) -> String {
    explained_by(line, "bash")
}

/// For a person. Nothing is left behind, and nothing printed that a terminal would act on.
#[track_caller]
fn explained_by(line: &str, shell: &str) -> String {
    let world = world();
    let before = world.files();
    let ran = world
        .run(&["shell", "explain", line, "--shell", shell])
        .ended_with(0);
    assert_eq!(world.files(), before);
    assert!(!world.path("data").exists(), "a state folder was made");
    check_plain(&ran.said());
    let workspace = world.path("ws").display().to_string();
    ran.out.replace(&workspace, "WS")
}

/// As JSON, with paths in the workspace behind `WS`.
#[track_caller]
fn as_json(line: &str, more: &[&str]) -> Value {
    let world = world();
    let words = [["shell", "explain", line, "--json"].as_slice(), more].concat();
    let ran = world.run(&words).ended_with(0);
    let workspace = world.path("ws").display().to_string();
    serde_json::from_str(&ran.out.replace(&workspace, "WS")).unwrap()
}

#[track_caller]
fn check_says(line: &str, says: &[&str]) {
    let out = explained(line);
    for part in says {
        assert!(out.contains(part), "`{part}` is not in\n{out}");
    }
}

fn keys(value: &Value) -> Vec<&str> {
    let map = value.as_object().unwrap();
    map.keys().map(String::as_str).collect()
}

fn list(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap()
}

#[test]
fn a_command_stands_below_the_one_that_runs_it() {
    for (line, says) in [
        (
            "sudo rm x",
            "\nsudo rm x\n  class     ordinary\n  in        WS\n\
             \n    rm x\n      class     ordinary\n      in        WS\n      writes    WS/x\n",
        ),
        (
            "bash -c 'cat a.txt; rm b'",
            "\nbash -c 'cat a.txt; rm b'\n  class     ordinary\n  in        WS\n\
             \n    cat a.txt\n      class     read-only\n      in        WS\n      reads     WS/a.txt\n\
             \n    rm b\n      class     ordinary\n      in        WS\n      writes    WS/b\n",
        ),
        (
            "env sudo nice ls; pwd",
            "\n            ls\n              class     read-only\n",
        ),
        ("env sudo nice ls; pwd", "\npwd\n  class     read-only\n"),
    ] {
        check_says(line, &[says]);
    }
}

#[test]
fn files_machines_and_directories_stand_with_the_command_that_has_them() {
    let cat = "\ncat < a.txt 2>> log\n  class     ordinary\n  in        WS/sub\n  \
               reads     WS/sub/a.txt\n  writes    WS/sub/log\n";
    check_says("cd sub && cat < a.txt 2>> log", &[cat]);
    check_says(
        "curl -s http://a.example:81/x",
        &["  reaches   a.example:81\n"],
    );
    check_says("cat *.c", &["  reads     WS/*.c (a pattern)\n"]);
    check_says("no-such-tool a/b", &["  reads     WS/a/b (perhaps)\n"]);
    let of_the_shell = "\nthe shell itself\n  writes    WS/all\n";
    check_says("for it in a; do cat b; done > all", &[of_the_shell]);
    check_says(
        "ssh a.example rm -rf /x",
        &[
            "      class     irreversible\n      in        cannot be told\n      where     not on this machine",
        ],
    );
}

#[test]
fn what_cannot_be_told_is_marked_below_its_place_with_the_reason() {
    check_says(
        "cat a.txt; eval \"$X\"",
        &[
            "  cat a.txt; eval \"$X\"\n                  ^^^^ ",
            "  opaque    ",
        ],
    );
    check_says(
        "ls\necho 'open",
        &["  ls\n  echo 'open\n       ^^^^^ an unterminated quote\n"],
    );
    // Behind an escape the caret still stands below its place.
    check_says(
        "echo '\u{7}' 'open",
        &[
            "  echo '\\u{7}' 'open\n",
            "\n        ^^^^^ a control character\n",
            "\n               ^^^^^ an unterminated quote\n",
        ],
    );
    let known = explained("cat a.txt");
    assert!(!known.contains('^'), "{known}");
}

#[test]
fn many_places_are_counted_and_not_all_drawn() {
    let out = explained(&"eval $X; ".repeat(30));
    assert_eq!(out.lines().filter(|it| it.contains("^^")).count(), 20);
    assert!(out.contains("more places, which --json lists"), "{out}");
}

#[test]
fn flagged_characters_are_spelled_wherever_they_stand() {
    let out = explained("c\u{430}t a\u{202e}b\u{200b}; \u{1b}[2J\r");
    for odd in ["\u{430}", "\u{202e}", "\u{200b}", "\u{1b}", "\r"] {
        assert!(!out.contains(odd), "{odd:?} is in {out:?}");
    }
    let marked = "  c\\u{430}t a\\u{202e}b\\u{200b}; \\u{1b}[2J\\u{d}\n   ^^^^^^^ ";
    assert!(out.starts_with(marked), "{out}");
    assert!(
        out.contains("looks like an ASCII character and is none"),
        "{out}"
    );
    let value = as_json("cat a\u{202e}b", &[]);
    assert_eq!(value["flagged"][0]["character"], r"\u{202e}");
    assert_eq!(value["flagged"][0]["range"], json!([5, 8]));
}

#[test]
fn each_part_is_judged_by_a_rule_with_its_place() {
    let rules = "rules.jsonc:3:";
    let out = explained("bash -c 'cat a.txt; rm b'");
    let judged = out.split_once("\nFor the agent code: deny\n").unwrap().1;
    for says in [
        "\n  allow: `a.txt` (read)\n",
        "\n  ask: `bash -c 'cat a.txt; rm b'` (bash)\n    A rule asks: `bash: * = ask` (",
        "\n  allow: `cat a.txt` (bash.readonly)\n    A rule allows it: `bash: cat * = allow` (",
        "\n  deny: `rm b` (bash)\n    A rule denies it: `bash: rm * = deny` (",
        rules,
    ] {
        assert!(judged.contains(says), "`{says}` is not in\n{judged}");
    }
}

#[test]
fn the_judgement_is_that_of_check_and_changes_with_the_agent() {
    for (line, agent, action) in [
        ("cat a.txt", "code", "allow"),
        ("make", "code", "ask"),
        ("make", "plan", "deny"),
        ("cat a.txt > b", "code", "allow"),
        ("cat a.txt > b", "plan", "deny"),
        ("cat a.txt; rm b", "code", "deny"),
        ("cat 'open", "code", "ask"),
    ] {
        let value = as_json(line, &["--agent", agent]);
        assert_eq!(
            (&value["action"], &value["agent"]),
            (&json!(action), &json!(agent))
        );
        let checked = world().run(&["check", "bash", line, "--agent", agent, "--json"]);
        assert_eq!(checked.json()["action"], action, "{line} by {agent}");
        // The whole is as strict as its strictest part.
        let strictness = |it: &Value| ["allow", "ask", "deny"].iter().position(|a| it == a);
        let parts = list(&value["parts"]).iter();
        let strictest = parts.map(|it| strictness(&it["action"])).max().flatten();
        assert_eq!(strictest, strictness(&value["action"]), "{line} by {agent}");
    }
}

#[test]
fn the_json_has_the_documented_keys_and_names_who_runs_what() {
    let value = as_json("sudo rm x > log", &[]);
    let wanted = [
        "line", "access", "commands", "shell", "unknown", "flagged", "agent", "offered", "action",
        "parts",
    ];
    assert_eq!(keys(&value), wanted);
    assert_eq!(
        (&value["access"], &value["offered"]),
        (&json!("writes"), &json!(true))
    );
    let [sudo, rm] = list(&value["commands"]).as_slice() else {
        panic!("{value:#}");
    };
    let touch =
        |path: &str, range: [usize; 2]| json!([{"path": path, "certain": true, "range": range}]);
    assert_eq!(sudo["writes"], touch("WS/log", [10, 15]));
    assert_eq!(
        rm,
        &json!({
            "source": "rm x", "range": [5, 9], "program": "rm", "class": "ordinary", "directory": "WS",
            "via": {"command": 0, "local": true}, "opaque": null,
            "looks": [], "reads": [], "writes": touch("WS/x", [8, 9]), "hosts": [],
        })
    );
    let denied = list(&value["parts"])
        .iter()
        .find(|it| it["action"] == "deny")
        .unwrap();
    let wanted = [
        "action",
        "permission",
        "pattern",
        "range",
        "rule",
        "origin",
        "trace",
    ];
    assert_eq!(keys(denied), wanted);
    assert_eq!(
        (&denied["rule"], &denied["pattern"]),
        (&json!("bash: rm * = deny"), &json!("rm x"))
    );
    assert_eq!(
        (&denied["origin"]["line"], &denied["range"]),
        (&json!(3), &json!([5, 9]))
    );
    assert_eq!(keys(&denied["origin"]), ["file", "line", "column"]);

    let value = as_json("cat 'open", &[]);
    assert_eq!(value["access"], "unknown");
    assert_eq!(
        value["unknown"],
        json!([{"range": [4, 9], "why": "an unterminated quote"}])
    );
}

#[test]
fn inside_a_tools_walls_it_gets_as_far_as_check() {
    let world = world();
    // The binary may be read there, and the rules of this test may not.
    std::fs::copy(BIN, world.path("ws/tollgate")).unwrap();
    let inside = |line: &[&str]| {
        let start = [
            "sandbox",
            "--",
            "env",
            "-u",
            "TOLLGATE_CONFIG",
            "./tollgate",
        ];
        world.run(&[start.as_slice(), line].concat())
    };
    let check = inside(&["check", "bash", "cat a.txt"]);
    let explain = inside(&["shell", "explain", "cat a.txt"]);
    assert_eq!(explain.code, check.code, "{explain:#?} {check:#?}");
    assert_eq!(explain.err, check.err);
}

#[test]
fn a_line_that_is_none_is_a_mistake_of_usage() {
    for words in [
        ["shell", "explain", ""].as_slice(),
        &["shell", "explain", " \n"],
        &["shell", "explain"],
        &["shell", "explain", "ls", "-x"],
        &["shell", "explain", "ls", "--agent", "no-such-agent"],
    ] {
        let ran = world().run(words).ended_with(2);
        assert_eq!(ran.out, "");
        assert!(!ran.err.contains("Please"), "{ran:#?}");
    }
}

#[test]
fn a_line_is_read_as_the_shell_reads_it_that_is_named() {
    assert!(explained_by("ls", "sh").contains("Not judged: the tools run bash"));
    assert!(explained_by("print -l **/*(.)", "zsh").contains('^'));
}

#[cfg(feature = "powershell")]
#[test]
fn a_line_that_is_not_bash_is_read_and_not_judged() {
    let value = as_json("Remove-Item x", &["--shell", "powershell"]);
    assert_eq!(value["commands"][0]["writes"][0]["path"], "WS/x");
    assert_eq!(
        (&value["action"], &value["offered"], &value["parts"]),
        (&Value::Null, &Value::Null, &Value::Null)
    );
    let value = as_json("del x", &["--shell", "cmd"]);
    assert_eq!(value["commands"][0]["writes"][0]["path"], "WS/x");
}

#[cfg(feature = "powershell")]
#[test]
fn powershell_is_explained() {
    insta::assert_snapshot!(explained_by("ls *.log | Remove-Item -Recurse; git push", "powershell"), @r#"
      ls *.log | Remove-Item -Recurse; git push

    It may write or reach another machine.

    ls *.log
      class     read-only
      in        WS
      reads     WS/*.log (a pattern)

    Remove-Item -Recurse
      class     irreversible
      in        WS
      writes    WS/*.log (a pattern) (perhaps)

    git push
      class     publish
      in        WS
      reaches   ? (perhaps: the program may by itself)

    Not judged: the tools run bash, and the gates judge what bash reads.
    "#);
    insta::assert_snapshot!(explained_by("cd sub && cat ..\\.env > out.txt", "powershell"), @r#"
      cd sub && cat ..\.env > out.txt

    It may write or reach another machine.

    cd sub
      class     read-only
      in        WS

    cat ..\.env > out.txt
      class     ordinary
      in        WS/sub
      reads     WS/.env
      writes    WS/sub/out.txt

    Not judged: the tools run bash, and the gates judge what bash reads.
    "#);
    insta::assert_snapshot!(explained_by("irm https://a.example/x | iex", "powershell"), @r#"
      irm https://a.example/x | iex
                                ^^^ `Invoke-Expression` runs what its words do not say

    It does something that cannot be told.

    irm https://a.example/x
      class     ordinary
      in        WS
      reaches   a.example

    iex
      class     ordinary
      in        WS
      opaque    `Invoke-Expression` runs what its words do not say

    Not judged: the tools run bash, and the gates judge what bash reads.
    "#);
    insta::assert_snapshot!(explained_by("foo ([IO.File]::Delete('x')) \"$(rm y)\"", "powershell"), @r#"
      foo ([IO.File]::Delete('x')) "$(rm y)"
          ^^^^^^^^^^^^^^^^^^^^^^^^ `([IO.File]::Delete('x'))` could become an option
          ^^^^^^^^^^^^^^^^^^^^^^^^ the value of `([IO.File]::Delete('x'))` is not known
           ^^^^^^^^^^^^^^^^^^^^^^ a call of a method, which can do anything
                                   ^^^^^^^^^ the value of `"$(rm y)"` is not known

    It does something that cannot be told.

    rm y
      class     ordinary
      in        WS
      writes    WS/y

    foo ([IO.File]::Delete('x')) "$(rm y)"
      class     ordinary
      in        WS
      opaque    `([IO.File]::Delete('x'))` could become an option
      reads     cannot be told: the value of `([IO.File]::Delete('x'))` is not known (perhaps)
      reads     cannot be told: the value of `"$(rm y)"` is not known (perhaps)
      writes    cannot be told: the value of `([IO.File]::Delete('x'))` is not known (perhaps)
      writes    cannot be told: the value of `"$(rm y)"` is not known (perhaps)

    Not judged: the tools run bash, and the gates judge what bash reads.
    "#);
}
