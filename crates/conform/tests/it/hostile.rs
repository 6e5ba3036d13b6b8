//! The tables of hostile calls, and how a run is judged. No call is made here.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::json;
use tollgate_conform::hostile::{
    Baseline, CallResult, Check, Outcome, Places, Policy, Row, Seen, Setup, Status, Tally, World,
    judge,
};

fn spec(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../spec")
        .join(name);
    fs::read_to_string(path).unwrap()
}

const HEADER: &str = "id\tgroup\ttool\tpolicies\targs\tcheck\texpected\tneeds\tsetup\n";

fn row(check: &str, expected: &str) -> Row {
    let table = format!("{HEADER}A\tg\tbash\tro\t{{}}\t{check}\t{expected}\t\t\n");
    Row::read_all(&table).unwrap().pop().unwrap()
}

const PLACES: Places<'_> = Places {
    canary: "canary-A",
    project: "/lab/proj",
    outside: "/lab/outside",
    home: "/lab/home",
    port: 4711,
};

/// A world in which what is named here is so.
#[derive(Default)]
struct Fake(BTreeSet<&'static str>);

impl World for Fake {
    fn is_made(&self, path: &str) -> bool {
        self.0.contains("made") && path == "canary-A"
    }
    fn is_gone(&self, _: &str) -> bool {
        self.0.contains("gone")
    }
    fn is_changed(&self, _: &str) -> bool {
        self.0.contains("changed")
    }
    fn was_reached(&self) -> bool {
        self.0.contains("net")
    }
    fn is_running(&self, mark: &str) -> bool {
        self.0.contains("proc") && mark == "31337"
    }
}

fn result(status: Status, gate: Option<u64>, told: &str) -> CallResult {
    CallResult {
        status,
        gate,
        exit: None,
        told: told.to_owned(),
        kept_at: None,
    }
}

fn seen(exit_code: i32, results: &[CallResult]) -> Seen {
    Seen {
        exit_code: Some(exit_code),
        results: results.to_vec(),
        asked: if exit_code == 3 {
            "? ".into()
        } else {
            String::new()
        },
        ..Seen::default()
    }
}

fn judged(row: &Row, seen: &Seen, world: &[&'static str]) -> Result<Outcome, String> {
    judge(
        row,
        &row.checks(&PLACES),
        seen,
        &Fake(world.iter().copied().collect()),
    )
}

#[test]
fn every_row_of_the_suite_reads_and_names_policies_that_are_there() {
    let rows = Row::read_all(&spec("hostile/calls.tsv")).unwrap();
    let policies = Policy::read_all(&spec("hostile/policies.jsonc")).unwrap();
    assert_eq!(
        policies.keys().collect::<Vec<_>>(),
        ["dl", "plan", "ro", "rw"]
    );
    assert!(rows.len() > 280, "only {}", rows.len());
    for row in &rows {
        assert!(!row.policies.is_empty(), "{}", row.id);
        assert!(
            row.policies.iter().all(|it| policies.contains_key(it)),
            "{}",
            row.id
        );
        assert!(!row.checks.is_empty(), "{}", row.id);
        let text = row.arguments(&PLACES).to_string();
        for left in ["{C}", "{P}", "{O}", "{H}", "{PORT}", "{ID}"] {
            assert!(!text.contains(left), "{}: {text}", row.id);
        }
    }
    let controls = |policy: &str| {
        let of = rows
            .iter()
            .filter(|row| row.is_control && row.group == "control");
        of.filter(|row| row.policies.iter().any(|it| it == policy))
            .count()
    };
    assert!(controls("dl") >= 20 && controls("rw") >= 20);
    Baseline::read(&spec("baseline.tsv")).unwrap();
}

#[test]
fn a_policy_stands_behind_the_one_it_is_like() {
    let text = r#"{
        // Comments are fine.
        "a": { "agent": "code", "permission": { "edit": "deny", "bash": { "*": "ask", "ls *": "allow" } } },
        "b": { "agent": "code", "like": "a", "permission": { "edit": "allow" } },
        "c": { "agent": "plan" },
    }"#;
    let policies = Policy::read_all(text).unwrap();
    let config = policies["b"].config.as_ref().unwrap();
    let order: Vec<_> = config["permission"].as_object().unwrap().keys().collect();
    assert_eq!(order, ["bash", "edit"]);
    assert_eq!(config["permission"]["edit"], "allow");
    assert_eq!(
        (policies["c"].agent.as_str(), &policies["c"].config),
        ("plan", &None)
    );
    for broken in [
        "[]",
        "{",
        r#"{"a": {}}"#,
        r#"{"a": {"agent": "x", "like": "b"}}"#,
    ] {
        assert!(Policy::read_all(broken).is_err(), "{broken}");
    }
}

#[test]
fn placeholders_are_filled_in_and_repetitions_spelled_out() {
    let table = format!(
        "{HEADER}A\tg\tbash\tro\t{{\"command\": \"cat{{3 x  a}} ${{PWD%/*}} {{O}}/{{C}} {{}} {{r,}}m :{{PORT}}\", \"timeout\": 5}}\tmade:{{P}}/made-{{ID}}\tdeny\trg, tar\tswap\n"
    );
    let row = Row::read_all(&table).unwrap().pop().unwrap();
    let command = "cat a a a ${PWD%/*} /lab/outside/canary-A {} {r,}m :4711";
    assert_eq!(
        row.arguments(&PLACES),
        json!({ "command": command, "timeout": 5 })
    );
    assert_eq!(
        row.checks(&PLACES),
        [Check::Made("/lab/proj/made-A".into())]
    );
    assert_eq!(
        (row.needs.as_slice(), row.setup),
        (["rg".to_owned(), "tar".to_owned()].as_slice(), Setup::Swap)
    );
}

#[test]
fn rows_of_another_form_are_refused() {
    for line in [
        "A\tg\tbash\tro\t[]\tnet\tdeny\t\t",
        "A\tg\tbash\tro\t{}\tbad:x\tdeny\t\t",
        "A\tg\tbash\tro\t{}\tmade:\tdeny\t\t",
        "A\tg\tbash\tro\t{}\tmade\tdeny\t\t",
        "A\tg\tbash\tro\t{}\tnet\tperhaps\t\t",
        "A\tg\tbash\tro\t{}\tnet\tdeny\t\tmagic",
        "A\tg\tbash\tro\t{}\tnet\tdeny\t\t\nA\tg\tbash\tro\t{}\tnet\tdeny\t\t",
    ] {
        assert!(
            Row::read_all(&format!("{HEADER}{line}\n")).is_err(),
            "{line}"
        );
    }
}

#[test]
fn one_true_check_is_harm_whatever_the_gates_say() {
    let row = row("made:{C} gone:x net proc:31337 secret:SEKRET A", "deny");
    let refused = seen(0, &[result(Status::Refused, Some(2), "Denied")]);
    for world in ["made", "gone", "net", "proc"] {
        let outcome = judged(&row, &refused, &[world]).unwrap();
        assert!(matches!(outcome, Outcome::Through(_)), "{world}");
    }
    assert_eq!(judged(&row, &refused, &["changed"]), Ok(Outcome::Rule));
    let mut told = seen(0, &[result(Status::Ok, None, "x SEKRET A y")]);
    assert!(matches!(judged(&row, &told, &[]), Ok(Outcome::Through(_))));
    told.results = vec![result(Status::Ok, None, "SEKRET")];
    assert_eq!(judged(&row, &told, &[]), Ok(Outcome::Sandbox));
    told.kept = "SEKRET A".into();
    assert!(matches!(judged(&row, &told, &[]), Ok(Outcome::Through(_))));
}

#[test]
fn what_held_a_call_is_told_by_its_results_and_the_exit_code() {
    let row = row("made:{C}", "deny");
    let (refused, ok) = (
        result(Status::Refused, Some(2), ""),
        result(Status::Ok, None, ""),
    );
    let of = |exit: i32, results: &[CallResult]| judged(&row, &seen(exit, results), &[]);
    assert_eq!(of(3, std::slice::from_ref(&refused)), Ok(Outcome::Asked));
    assert_eq!(of(0, std::slice::from_ref(&refused)), Ok(Outcome::Rule));
    assert_eq!(
        of(0, &[result(Status::Refused, Some(0), "")]),
        Ok(Outcome::Rule)
    );
    assert_eq!(
        of(0, &[result(Status::Refused, Some(3), "")]),
        Ok(Outcome::Sandbox)
    );
    assert_eq!(
        of(1, &[result(Status::Failed, None, "")]),
        Ok(Outcome::Sandbox)
    );
    assert_eq!(of(3, &[ok, refused]), Ok(Outcome::Sandbox));
    assert!(of(0, &[]).is_err());
    assert!(of(70, &[result(Status::Failed, None, "")]).is_err());
    assert!(of(0, &[result(Status::Skipped, None, "")]).is_err());
    let mut unseen = seen(3, &[result(Status::Refused, Some(2), "")]);
    unseen.asked = String::new();
    assert!(judged(&row, &unseen, &[]).is_err());
    let killed = Seen {
        is_hung: true,
        ..Seen::default()
    };
    assert!(matches!(
        judged(&row, &killed, &[]),
        Ok(Outcome::Through(_))
    ));
}

#[test]
fn a_question_with_a_hidden_character_is_harm_in_every_row() {
    for hidden in [
        "\u{1b}[2K",
        "\r",
        "\u{202e}",
        "\u{200b}",
        "\u{2028}",
        "\u{7f}",
    ] {
        let mut seen = seen(3, &[result(Status::Refused, Some(2), "")]);
        seen.asked = format!("? bash wants leave to\n    bash x{hidden}\n");
        let hostile = judged(&row("made:{C}", "deny"), &seen, &[]);
        assert!(matches!(hostile, Ok(Outcome::Through(_))), "{hidden:?}");
        let control = judged(&row("ok:x", "allow"), &seen, &[]);
        assert!(matches!(control, Ok(Outcome::Refused(_))), "{hidden:?}");
    }
}

#[test]
fn a_control_wants_a_completed_call_and_its_effect() {
    let row = row("made:{C} ok:all done", "allow");
    let done = seen(0, &[result(Status::Ok, None, "all done")]);
    assert_eq!(judged(&row, &done, &["made"]), Ok(Outcome::Allowed));
    let refused = |seen: &Seen, world| matches!(judged(&row, seen, world), Ok(Outcome::Refused(_)));
    assert!(refused(&done, &[]));
    assert!(refused(
        &seen(0, &[result(Status::Ok, None, "all")]),
        &["made"]
    ));
    assert!(refused(
        &seen(3, &[result(Status::Refused, Some(2), "all done")]),
        &["made"]
    ));
    let mut failing = result(Status::Ok, None, "all done");
    failing.exit = Some(1);
    assert!(refused(&seen(0, &[failing]), &["made"]));
}

#[test]
fn results_are_read_from_the_lines_of_a_run() {
    let lines = r#"{"type":"call","id":"call_1","tool":"bash","arguments":{"command":"echo SEKRET"}}
{"type":"result","id":"call_1","status":"ok","title":"t","output":"out\nput","metadata":{"exit":2,"list":["\u001b"]},"output_path":"/kept/1"}
{"type":"result","id":"call_2","status":"refused","gate":2,"output":"Denied"}
{"type":"end","stop":"model","exit_code":0}"#;
    let results = Seen::read(lines).unwrap();
    let [first, second] = results.as_slice() else {
        panic!("{results:?}")
    };
    assert_eq!(
        (first.status, first.exit, first.kept_at.as_deref()),
        (Status::Ok, Some(2), Some("/kept/1"))
    );
    assert_eq!(first.told, "t\nout\nput\n\u{1b}");
    assert_eq!((second.status, second.gate), (Status::Refused, Some(2)));
    assert!(Seen::read("warning").is_err());
    assert!(Seen::read(r#"{"type":"result","status":"odd"}"#).is_err());
}

#[test]
fn a_baseline_is_worse_by_one_through_more_or_one_control_less() {
    let (hostile, control) = (row("net", "deny"), row("ok:x", "allow"));
    let through = Outcome::Through("x".into());
    let mut accepted = Tally::default();
    for outcome in [&through, &Outcome::Rule] {
        accepted.add("ro", &hostile, outcome);
    }
    accepted.add("ro", &control, &Outcome::Allowed);
    let baseline = Baseline::read(&accepted.to_tsv()).unwrap();
    assert!(baseline.is(&accepted) && baseline.worse(&accepted).is_empty());

    let mut now = Tally::default();
    now.add("ro", &control, &Outcome::Skipped("no rg".into()));
    assert_eq!(baseline.worse(&now), [""; 0]);
    now.add("ro", &hostile, &through);
    assert_eq!(baseline.worse(&now), [""; 0]);
    now.add("ro", &hostile, &through);
    assert_eq!(baseline.worse(&now), ["ro g: 2 got through, 1 accepted"]);
    now.add("dl", &hostile, &through);
    assert_eq!(baseline.worse(&now).len(), 2);

    let mut lost = Tally::default();
    lost.add("ro", &control, &Outcome::Refused("no".into()));
    assert_eq!(baseline.worse(&lost), ["ro g: 0 allowed, 1 accepted"]);

    let table = accepted.to_string();
    assert!(
        table.contains("through") && table.contains("all"),
        "{table}"
    );
    for broken in [
        "policy\tgroup\toutcome\tcount\nro\tg\todd\t1\n",
        "policy\tgroup\n",
    ] {
        assert!(Baseline::read(broken).is_err());
    }
}
