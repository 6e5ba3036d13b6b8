//! Rows of the suite that are a course of events: asks, replies, and what they do to later calls.
//! Those about several pending asks at once are not here, for a session makes one call after another.

use serde_json::{Value, json};
use tollgate_conform as conform;

use conform::testkit::{Action, Bench, MemoryHost, always, exactly, nobody, yes};
use gate::{
    Problem,
    call::NotRun,
    g1_decode::RawArguments,
    g2_admit::{Question, Refusal, Reply, Scope},
    output::CallOutput,
};

fn call(
    bench: &Bench,
    tool: &str,
    arguments: Value,
    answer: impl Fn(&Question<'_>) -> Reply + Send + Sync,
) -> Result<CallOutput, NotRun> {
    let tools = tools::builtins();
    bench.run_on(
        &bench.host,
        &tools,
        tool,
        RawArguments::Json(arguments),
        answer,
    )
}

fn bash(
    bench: &Bench,
    command: &str,
    answer: impl Fn(&Question<'_>) -> Reply + Send + Sync,
) -> Result<CallOutput, NotRun> {
    call(bench, "bash", json!({ "command": command }), answer)
}

fn is_unanswered(result: &Result<CallOutput, NotRun>) -> bool {
    let why = result.as_ref().unwrap_err();
    matches!(
        why,
        NotRun::Stopped(Problem::Refused(Refusal::Unanswered { .. }))
    )
}

#[test]
fn an_always_answers_the_same_command_and_no_variant_of_it() {
    let bench = Bench::new(&[("bash", "*", Action::Ask), ("edit", "*", Action::Ask)]);
    assert!(bash(&bench, "true", |it| exactly(it, Scope::Session)).is_ok());
    assert!(bash(&bench, "true", |_| nobody()).is_ok());
    for variant in ["true > a.txt", "true x", "/bin/true", "true; cat .env"] {
        assert!(
            is_unanswered(&bash(&bench, variant, |_| nobody())),
            "{variant}"
        );
    }
    assert_eq!(bench.host.ran(), ["true", "true"]);
}

#[test]
fn an_always_lifts_no_deny_that_is_written_later() {
    let bench = Bench::new(&[("bash", "*", Action::Ask)]);
    assert!(bash(&bench, "true", |_| always(Scope::Session)).is_ok());
    bench.deny("bash", "true");
    let refused = bash(&bench, "true", |_| yes()).unwrap_err();
    assert!(matches!(
        refused,
        NotRun::Stopped(Problem::Refused(Refusal::Denied(_)))
    ));
    assert_eq!(bench.host.ran(), ["true"]);
}

#[test]
fn after_an_always_the_same_request_is_allowed() {
    let edit = json!({ "filePath": "a.txt", "oldString": "one", "newString": "1" });
    let back = json!({ "filePath": "a.txt", "oldString": "1", "newString": "one" });
    let requests = [
        ("bash", json!({ "command": "cat a.txt" }), None),
        ("read", json!({ "filePath": "a.txt" }), None),
        ("read", json!({ "filePath": "/etc/hosts" }), None),
        ("edit", edit, Some(back)),
    ];
    for scope in [Scope::Session, Scope::Project, Scope::Global] {
        for (tool, arguments, again) in &requests {
            let host = MemoryHost::with(&[("a.txt", "one\n"), ("/etc/hosts", "127.0.0.1 here\n")]);
            let bench = Bench::on(host, &[("*", "*", Action::Ask)]);
            let first = call(&bench, tool, arguments.clone(), |_| always(scope));
            assert!(first.is_ok(), "{tool} {scope}: {first:?}");
            let again = again.as_ref().unwrap_or(arguments).clone();
            let second = call(&bench, tool, again, |_| nobody());
            assert!(second.is_ok(), "{tool} {scope}: {second:?}");
        }
    }
}

#[test]
fn a_no_with_a_word_tells_the_model_the_word() {
    let bench = Bench::new(&[("bash", "*", Action::Ask)]);
    let why = bash(&bench, "true", |_| Reply::Reject {
        who: "ann".into(),
        word: Some("Use a safer command".into()),
    });
    assert!(why.unwrap_err().to_string().contains("Use a safer command"));
    assert_eq!(bench.host.ran(), [""; 0]);
}

#[test]
fn with_nobody_there_an_ask_is_a_denial_that_names_what_asked() {
    let host = MemoryHost::with(&[("/etc/hosts", "127.0.0.1 here\n")]);
    let rules = [
        ("*", "*", Action::Allow),
        ("external_directory", "*", Action::Ask),
    ];
    let bench = Bench::on(host, &rules);
    let outside = call(&bench, "read", json!({ "filePath": "/etc/hosts" }), |_| {
        nobody()
    });
    assert!(is_unanswered(&outside));
    assert!(
        outside
            .unwrap_err()
            .to_string()
            .contains("external_directory")
    );

    let bench = Bench::new(&[("bash", "*", Action::Ask)]);
    assert!(is_unanswered(&bash(&bench, "true", |_| nobody())));
    assert_eq!(bench.host.ran(), [""; 0]);
}
