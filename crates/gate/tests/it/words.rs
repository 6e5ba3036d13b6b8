//! Every text the model reads from the gates, word for word. A change here is a change of a prompt.

use conform::testkit::Bench;
use insta::assert_snapshot;
use policy::{
    Action::{Allow, Ask, Deny},
    Decision, Subject, decide,
};
use schema::ArgumentFault;
use std::sync::Arc;
use tollgate_gate::{
    Fault, Problem,
    call::NotRun,
    g2_admit::{Gate, Refusal},
};

fn decision(rules: &[(&str, &str, policy::Action)], subject: Subject) -> Box<Decision> {
    let rules = Bench::new(rules).rules.current();
    Box::new(decide(&rules, &Arc::from([subject]), None))
}

fn path(path: &str) -> Subject {
    Subject::path("edit", path, format!("/w/{path}"), vec![])
}

fn command(text: &str) -> Subject {
    Subject::command("bash", text, text, vec![])
}

#[test]
fn a_denial_names_the_thing_and_the_rule_and_no_file_of_ours() {
    let denied = |rules: &[_], subject| Refusal::Denied(decision(rules, subject));
    assert_snapshot!(denied(&[("edit", "src/*", Deny)], path("src/a.rs")), @"Denied: `edit` for `src/a.rs` is not allowed by the rule `edit: src/* = deny`. Nothing was done. Do not try the same thing in another spelling; do it another way or tell the user.");
    assert_snapshot!(denied(&[("bash", "rm *", Deny)], command("rm -r x")), @"Denied: `bash` for `rm -r x` is not allowed by the rule `bash: rm * = deny`. Nothing was done. Do not try the same thing in another spelling; do it another way or tell the user.");
    assert_snapshot!(
        denied(&[("skill", "*", Deny)], Subject::name("skill", "a\u{202e}b\u{1b}[2J")),
        @r#"Denied: `skill` for `a\u{202e}b\u{1b}[2J` is not allowed by the rule `skill: * = deny`. Nothing was done. Do not try the same thing in another spelling; do it another way or tell the user."#
    );
    // Told even if no rule denied it.
    assert_snapshot!(denied(&[], path("a")), @"Denied: `edit` for `a` needs an approval (no rule allows it). Nothing was done. Do not try the same thing in another spelling; do it another way or tell the user.");
}

#[test]
fn a_rejection_passes_on_the_word_of_the_person() {
    let rejected = |word: Option<&str>| Refusal::Rejected {
        who: "ann".into(),
        word: word.map(str::to_owned),
        asked_by: decision(&[("bash", "*", Ask)], command("git push")),
    };
    assert_snapshot!(rejected(Some("commit first")), @"The user rejected `bash` for `git push` and says: commit first");
    assert_snapshot!(rejected(None), @"The user rejected `bash` for `git push`. Nothing was done. Ask what to do instead, or go on without it.");
}

#[test]
fn an_unanswered_ask_says_why_it_was_asked_and_why_nobody_answered() {
    let unanswered = |rules: &[_], subject| Refusal::Unanswered {
        why: "no terminal".into(),
        asked_by: decision(rules, subject),
    };
    assert_snapshot!(unanswered(&[("bash", "*", Ask)], command("git push")), @"Denied: `bash` for `git push` needs an approval by the rule `bash: * = ask`, and nobody can give it here (no terminal). Nothing was done. Go on without it and say so at the end.");
    assert_snapshot!(unanswered(&[], path("a")), @"Denied: `edit` for `a` needs an approval (no rule allows it), and nobody can give it here (no terminal). Nothing was done. Go on without it and say so at the end.");
    let mut opaque = command("sudo x");
    opaque.opaque = Some("`sudo` runs what its arguments say".into());
    assert_snapshot!(unanswered(&[("bash", "sudo *", Allow)], opaque), @"Denied: `bash` for `sudo x` needs an approval (it cannot be told what would run: `sudo` runs what its arguments say), and nobody can give it here (no terminal). Nothing was done. Go on without it and say so at the end.");
    let mut unheld = command("true");
    unheld.ask_because = Some("no sandbox holds this command: none is built in".into());
    assert_snapshot!(unanswered(&[("bash", "*", Allow)], unheld), @"Denied: `bash` for `true` needs an approval (no sandbox holds this command: none is built in), and nobody can give it here (no terminal). Nothing was done. Go on without it and say so at the end.");
    assert_snapshot!(
        Refusal::Unanswered {
            why: "the rules changed while the call was under way".into(),
            asked_by: decision(&[("edit", "*", Ask)], path("a")),
        },
        @"Denied: `edit` for `a` needs an approval by the rule `edit: * = ask`, and nobody can give it here (the rules changed while the call was under way). Nothing was done. Go on without it and say so at the end."
    );
}

#[test]
fn the_rule_that_decides_is_named_and_not_what_would_have_asked_without_it() {
    let mut both = command("sudo rm x");
    both.opaque = Some("`sudo` runs what its arguments say".into());
    both.ask_because = Some("no sandbox holds this command: none is built in".into());
    let denied = Refusal::Denied(decision(&[("bash", "*rm *", Deny)], both));
    assert_snapshot!(denied, @"Denied: `bash` for `sudo rm x` is not allowed by the rule `bash: *rm * = deny`. Nothing was done. Do not try the same thing in another spelling; do it another way or tell the user.");
}

#[test]
fn refusals_of_the_gates_themselves_say_what_to_do_instead() {
    assert_snapshot!(Refusal::TooManyLateAsks, @"Denied: this call asked for more than 8 things while running. Split the work into smaller calls.");
    assert_snapshot!(Refusal::Changed("`a.txt` is another file now".into()), @"Not done: `a.txt` is another file now. It changed after it was read and decided about. Read it again, then repeat the change on what is there now.");
    assert_snapshot!(Refusal::Walled("call #7 is not open".into()), @"Not done: call #7 is not open. The sandbox of this call does not allow it.");
    assert_snapshot!(Refusal::Cancelled, @"The call was cancelled by the user.");
}

#[test]
fn calls_that_were_not_understood_come_back_repairable() {
    let unknown = |tool: &str, offered: &[&str]| NotRun::UnknownTool {
        tool: tool.into(),
        offered: offered.iter().map(|&name| name.to_owned()).collect(),
    };
    assert_snapshot!(unknown("Bash", &["bash", "read"]), @"There is no tool `Bash`. Did you mean `bash`? Available tools: bash, read.");
    assert_snapshot!(unknown("teleport", &["bash", "read"]), @"There is no tool `teleport`. Available tools: bash, read.");
    assert_snapshot!(unknown("bash", &[]), @"There is no tool `bash`. No tools are available.");
    let faults = vec![
        ArgumentFault::at("filePath", "is missing and is required"),
        ArgumentFault::at("limit", "expected integer, got string \"ten\""),
    ];
    assert_snapshot!(NotRun::InvalidArguments { tool: "read".into(), faults }, @r#"
    The read tool was called with invalid arguments:
    filePath: is missing and is required
    limit: expected integer, got string "ten"
    Please rewrite the input so it satisfies the expected schema.
    "#);
}

#[test]
fn failures_pass_their_own_words_and_faults_keep_theirs() {
    let stopped = |problem: Problem| NotRun::Stopped(problem);
    assert_snapshot!(stopped(Problem::failed("File /w/a not found")), @"File /w/a not found");
    assert_snapshot!(stopped(Fault::Journal("/home/ann/.state: disk full".into()).into()), @"The call was stopped by an internal fault and may have had part of its effect. Do not retry it; tell the user.");
    assert_snapshot!(stopped(Refusal::Cancelled.into()), @"The call was cancelled by the user.");
}

#[test]
fn every_gate_has_a_number_and_a_name() {
    let gates = [Gate::Offer, Gate::Decode, Gate::Admit, Gate::Confine];
    let shown: Vec<String> = gates
        .iter()
        .map(|it| format!("{} {it}", it.number()))
        .collect();
    assert_eq!(shown, ["0 offer", "1 decode", "2 admit", "3 confine"]);
}
