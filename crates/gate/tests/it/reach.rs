//! What a command wants to reach while it runs: the connection waits for the rules, and for a person.

use crate::world::{command, fault, unasked};
use conform::testkit::{Bench, MemoryHost, block_on, exactly, no, nobody, yes};
use futures::{future::join_all, future::pending};
use policy::Action::{self, Allow, Ask, Deny};
use schema::RawArguments;
use std::{
    path::Path,
    pin::pin,
    sync::Mutex,
    task::{Context, Poll, Waker},
};
use tollgate_gate::{
    BoxFuture, Fault,
    access::{Evidence, ReadFile, ReadTree, Spawn, WriteFile},
    call::{CallId, NotRun, RawCall},
    g2_admit::{Approver, Question, Reply, Scope},
    g3_confine::{Confinement, Order, REACH_ASKS_MAX, Reach},
    host::{Content, Ended, Exit, Host, HostError, ResolveError, Resolved, Tree},
    journal::{Event, Record},
    output::CallOutput,
};
use tools::builtins;

/// What a command does instead of running.
type Script = dyn Fn(Reach) -> BoxFuture<'static, String> + Send + Sync;

/// A machine whose commands dial.
struct Dialer<'h>(&'h MemoryHost, Box<Script>);

impl Host for Dialer<'_> {
    fn confinement(&self) -> Confinement {
        self.0.confinement()
    }
    fn workspace(&self) -> &Path {
        self.0.workspace()
    }
    fn hides(&self, _variable: &str) -> bool {
        false
    }

    fn home(&self) -> Option<&Path> {
        self.0.home()
    }
    fn expand(&self, pattern: &str, max: usize) -> Option<Vec<String>> {
        self.0.expand(pattern, max)
    }
    fn resolve(&self, path: &str) -> Result<Resolved, ResolveError> {
        self.0.resolve(path)
    }
    fn open_call(&self, call: CallId) {
        self.0.open_call(call);
    }
    fn close_call(&self, call: CallId) {
        self.0.close_call(call);
    }
    fn read_file(&self, order: Order<ReadFile>) -> BoxFuture<'_, Result<Content, HostError>> {
        self.0.read_file(order)
    }
    fn read_tree(&self, order: Order<ReadTree>) -> BoxFuture<'_, Result<Tree, HostError>> {
        self.0.read_tree(order)
    }
    fn write_file(&self, order: Order<WriteFile>) -> BoxFuture<'_, Result<(), HostError>> {
        self.0.write_file(order)
    }
    fn spawn(&self, order: Order<Spawn>) -> BoxFuture<'_, Result<Ended, HostError>> {
        let dialled = (self.1)(order.reach().clone());
        Box::pin(async move {
            let text = dialled.await;
            Ok(Ended {
                refused: Vec::new(),
                undone: Vec::new(),
                exit: Exit::Code(0),
                bytes_total: text.len() as u64,
                tail: text.into_bytes(),
                kept_at: None,
            })
        })
    }
    fn keep_output(&self, call: CallId, text: &str) -> BoxFuture<'_, Result<String, HostError>> {
        self.0.keep_output(call, text)
    }
}

/// A command that dials these one after another, those of one entry (`a:1 b:2`) at the same time, and
/// says what it was told.
fn dials(entries: &[&str]) -> Box<Script> {
    let entries: Vec<String> = entries.iter().map(|it| (*it).to_owned()).collect();
    Box::new(move |reach| {
        let entries = entries.clone();
        Box::pin(async move {
            let mut said = Vec::new();
            for entry in &entries {
                let each = entry.split(' ').map(|target| dial(&reach, target));
                said.extend(join_all(each).await);
            }
            said.join("\n")
        })
    })
}

async fn dial(reach: &Reach, target: &str) -> String {
    let (host, port) = target.rsplit_once(':').unwrap();
    match reach.ask(host.to_owned(), port.parse().unwrap()).await {
        Ok(()) => format!("{target} open"),
        Err(why) => format!("{target} closed: {why}"),
    }
}

fn run(
    bench: &Bench,
    line: &str,
    script: Box<Script>,
    answer: impl Fn(&Question<'_>) -> Reply + Send + Sync,
) -> Result<CallOutput, NotRun> {
    let host = Dialer(&bench.host, script);
    let raw = RawArguments::Json(command(line));
    bench.run_on(&host, &builtins(), "bash", raw, answer)
}

/// What the command was told, in lines.
fn told(bench: &Bench, line: &str, entries: &[&str], reply: fn() -> Reply) -> Vec<String> {
    let output = run(bench, line, dials(entries), |_| reply())
        .unwrap()
        .output;
    output.lines().map(str::to_owned).collect()
}

/// Commands are allowed, and machines as these rules say.
fn bench(network: &[(&str, Action)]) -> Bench {
    let rules = network
        .iter()
        .map(|(pattern, action)| ("network", *pattern, *action));
    let rules: Vec<_> = [("*", "*", Allow)].into_iter().chain(rules).collect();
    Bench::new(&rules)
}

#[test]
fn the_rules_are_asked_when_a_command_dials() {
    let bench = bench(&[("*", Ask), ("good.test:443", Allow), ("*.bad.test:*", Deny)]);
    let entries = ["good.test:443 good.test:80 x.bad.test:443"];
    let said = told(&bench, "sh x.sh", &entries, nobody);
    assert_eq!(said[0], "good.test:443 open");
    assert!(
        said[1].starts_with("good.test:80 closed: Denied: "),
        "{said:?}"
    );
    assert!(said[1].contains("no terminal"), "{said:?}");
    assert!(
        said[2].starts_with("x.bad.test:443 closed: Denied: "),
        "{said:?}"
    );
    assert_eq!(bench.asked(), ["network good.test:80"]);
    assert_eq!(
        bench.journal.verbs(),
        [
            "intend spawn",
            "intend declare",
            "did declare",
            "refused",
            "refused",
            "did spawn"
        ]
    );
}

#[test]
fn a_person_is_shown_the_command_that_dials() {
    let bench = bench(&[("*", Ask)]);
    let answer = |question: &Question<'_>| {
        let (text, described_as) = ("sh x.sh", None);
        assert_eq!(question.evidence, Evidence::Command { text, described_as });
        assert_eq!(question.tool, "bash");
        yes()
    };
    let output = run(&bench, "sh x.sh", dials(&["h.test:443"]), answer).unwrap();
    assert_eq!(output.output, "h.test:443 open");
    let records = bench.journal.records();
    let by = records.iter().find_map(|it| match &it.event {
        Event::Intent { effect, decision } if effect == "declare network h.test:443" => {
            decision.answer().map(|it| it.who.clone())
        }
        _ => None,
    });
    assert_eq!(
        by.as_deref(),
        Some("ann"),
        "written down before it is let through"
    );
}

#[test]
fn connections_to_one_machine_share_a_question_and_its_answer() {
    for (reply, state) in [(yes as fn() -> Reply, "open"), (no, "closed")] {
        let bench = bench(&[("*", Ask)]);
        let said = told(
            &bench,
            "sh x.sh",
            &["h.test:443 H.test:443", "h.test:443"],
            reply,
        );
        assert_eq!(said.len(), 3, "{said:?}");
        assert!(said.iter().all(|it| it.contains(state)), "{said:?}");
        assert_eq!(bench.asked(), ["network h.test:443"]);
        told(&bench, "sh x.sh", &["h.test:443"], reply);
        assert_eq!(
            bench.asked().len(),
            2,
            "in the next call it is a new question"
        );
    }
}

#[test]
fn what_the_words_of_the_command_name_was_asked_with_it() {
    let entries = ["h.test:443", "h.test:80"];
    for (line, asked) in [
        (
            "curl -s https://h.test:443/x",
            &["network h.test:443", "network h.test:80"][..],
        ),
        // Without a port in the question, the yes was to any.
        ("curl -s https://H.test/x", &["network h.test"]),
        (
            "curl -s https://other.test/x",
            &[
                "network other.test",
                "network h.test:443",
                "network h.test:80",
            ],
        ),
        // Which machine it reaches by itself no word says.
        ("sh x.sh", &["network h.test:443", "network h.test:80"]),
    ] {
        let bench = bench(&[("*", Ask)]);
        let said = told(&bench, line, &entries, yes);
        assert_eq!(said, ["h.test:443 open", "h.test:80 open"], "{line}");
        assert_eq!(bench.asked(), asked, "{line}");
        let is_let_through = |it: &&Record| matches!(&it.event, Event::Intent { effect, .. } if effect.starts_with("declare network"));
        let records = bench.journal.records();
        assert_eq!(records.iter().filter(is_let_through).count(), 2, "{line}");
    }
}

#[test]
fn a_denial_that_came_in_between_holds_for_what_the_words_name_too() {
    let bench = bench(&[("*", Ask)]);
    let rules = std::sync::Arc::clone(&bench.rules);
    let script: Box<Script> = Box::new(move |reach| {
        let rules = std::sync::Arc::clone(&rules);
        Box::pin(async move {
            let first = dial(&reach, "h.test:443").await;
            let pattern = policy::Pattern::wildcard("h.test:*");
            let origin = policy::Origin::named("added");
            let deny = policy::Rule::new("network", pattern, Deny, origin);
            rules.append(policy::Layer::Base, vec![deny]);
            format!("{first}\n{}", dial(&reach, "h.test:443").await)
        })
    });
    let output = run(&bench, "curl https://h.test/", script, |_| yes())
        .unwrap()
        .output;
    assert!(
        output.starts_with("h.test:443 open\nh.test:443 closed: "),
        "{output}"
    );
    assert_eq!(bench.asked().len(), 1);
}

#[test]
fn a_rule_that_changes_nothing_asks_nobody_twice() {
    let bench = bench(&[("*", Ask)]);
    let rules = std::sync::Arc::clone(&bench.rules);
    let script: Box<Script> = Box::new(move |reach| {
        let rules = std::sync::Arc::clone(&rules);
        Box::pin(async move {
            let first = dial(&reach, "h.test:443").await;
            let origin = policy::Origin::named("added");
            let other = policy::Rule::new("edit", policy::Pattern::wildcard("x"), Deny, origin);
            rules.append(policy::Layer::Base, vec![other]);
            format!("{first}\n{}", dial(&reach, "h.test:443").await)
        })
    });
    let output = run(&bench, "sh x.sh", script, |_| yes()).unwrap().output;
    assert_eq!(output, "h.test:443 open\nh.test:443 open");
    assert_eq!(bench.asked().len(), 1);
}

#[test]
fn an_answer_for_more_than_once_is_kept_and_holds_at_once() {
    let bench = bench(&[("*", Ask)]);
    let answer = |question: &Question<'_>| exactly(question, Scope::Session);
    let script = dials(&["h.test:443", "h.test:443"]);
    run(&bench, "sh x.sh", script, answer).unwrap();
    let kept = bench.approvals.kept();
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0].rules, ["network h.test:443"]);
    let again = run(&bench, "sh y.sh", dials(&["h.test:443"]), unasked).unwrap();
    assert_eq!(again.output, "h.test:443 open");
    assert_eq!(bench.asked().len(), 1);
}

#[test]
fn what_is_no_plain_name_is_refused_unasked() {
    let bench = bench(&[("*", Allow)]);
    let said = told(&bench, "sh x.sh", &["h.test:1"], nobody);
    assert_eq!(said, ["h.test:1 open"]);
    for host in [
        "",
        "*",
        "h.test.",
        "a b",
        "h.test\0.evil.test",
        "h.test%00",
        "[::1",
    ] {
        let name = host.to_owned();
        let script: Box<Script> = Box::new(move |reach| {
            let ask = reach.ask(name.clone(), 443);
            Box::pin(async move { format!("{:?}", ask.await) })
        });
        let output = run(&bench, "sh x.sh", script, unasked).unwrap().output;
        assert!(
            output.contains("neither a plain name"),
            "{host:?}: {output}"
        );
    }
}

#[test]
fn a_command_that_tries_one_machine_after_another_is_stopped_asking() {
    let bench = bench(&[("*", Ask), ("free.test:*", Allow)]);
    let many: Vec<String> = (0..=REACH_ASKS_MAX)
        .map(|at| format!("h{at}.test:443"))
        .collect();
    let mut entries: Vec<&str> = many.iter().map(String::as_str).collect();
    entries.push("free.test:443");
    let said = told(&bench, "sh x.sh", &entries, no);
    assert!(
        said[REACH_ASKS_MAX].contains("wanted more than 32 machines"),
        "{said:?}"
    );
    assert_eq!(said[REACH_ASKS_MAX + 1], "free.test:443 open");
    assert_eq!(bench.asked().len(), REACH_ASKS_MAX);
}

/// Never answers.
struct Silence(Mutex<Vec<String>>);

impl Approver for Silence {
    fn ask<'a>(&'a self, question: Question<'a>) -> BoxFuture<'a, Reply> {
        let subject = question.because.subject();
        self.0.lock().unwrap().push(subject.canonical.clone());
        Box::pin(pending())
    }
}

fn raw(line: &str) -> RawCall {
    RawCall {
        id: "call_1".into(),
        tool: "bash".into(),
        arguments: RawArguments::Json(command(line)),
        repeats: None,
    }
}

#[test]
fn while_a_person_thinks_only_what_must_be_asked_waits() {
    let bench = bench(&[("*", Ask), ("free.test:*", Allow), ("bad.test:*", Deny)]);
    let told = std::sync::Arc::new(Mutex::new(Vec::new()));
    let tell = std::sync::Arc::clone(&told);
    let script: Box<Script> = Box::new(move |reach| {
        let tell = std::sync::Arc::clone(&tell);
        Box::pin(async move {
            let targets = ["one.test:1", "two.test:2", "free.test:3", "bad.test:4"];
            let each = targets.map(|target| {
                let (reach, tell) = (reach.clone(), std::sync::Arc::clone(&tell));
                async move {
                    let said = dial(&reach, target).await;
                    tell.lock().unwrap().push(said);
                }
            });
            join_all(each).await;
            String::new()
        })
    });
    let (host, silence) = (Dialer(&bench.host, script), Silence(Mutex::default()));
    bench.with_room(&host, &builtins(), &silence, |room| {
        let mut call = pin!(room.run(raw("sh x.sh")));
        let mut poll = || call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        for _ in 0..4 {
            assert!(poll().is_pending());
        }
        assert_eq!(
            *silence.0.lock().unwrap(),
            ["one.test:1"],
            "one question at a time"
        );
        let heard = told.lock().unwrap().clone();
        assert_eq!(heard.len(), 2, "{heard:?}");
        assert!(heard.contains(&"free.test:3 open".to_owned()), "{heard:?}");
        assert!(
            heard[1].starts_with("bad.test:4 closed: Denied"),
            "{heard:?}"
        );
    });
}

#[test]
fn when_the_call_is_over_whoever_waits_or_comes_later_hears_no() {
    let bench = bench(&[("*", Ask)]);
    let held = std::sync::Arc::new(Mutex::new(None));
    let hold = std::sync::Arc::clone(&held);
    let script: Box<Script> = Box::new(move |reach| {
        *hold.lock().unwrap() = Some(reach);
        Box::pin(pending())
    });
    let (host, silence) = (Dialer(&bench.host, script), Silence(Mutex::default()));
    bench.with_room(&host, &builtins(), &silence, |room| {
        let mut call = pin!(room.run(raw("sh x.sh")));
        let mut poll = || call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(poll().is_pending());
        let reach = held.lock().unwrap().take().unwrap();
        let mut waiting = pin!(dial(&reach, "h.test:443"));
        let mut ask = || {
            waiting
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()))
        };
        assert!(ask().is_pending() && poll().is_pending() && ask().is_pending());
        assert_eq!(*silence.0.lock().unwrap(), ["h.test:443"]);
        bench.cancel.cancel();
        assert!(poll().is_ready());
        let Poll::Ready(said) = ask() else {
            panic!("still waiting")
        };
        assert!(said.contains("closed: the command is over"), "{said}");
        let late = block_on(dial(&reach, "h.test:443"));
        assert!(late.contains("closed: the command is over"), "{late}");
    });
}

#[test]
fn a_connection_that_waits_no_more_is_asked_about_no_more() {
    let bench = bench(&[("*", Ask)]);
    let held = std::sync::Arc::new(Mutex::new(None));
    let hold = std::sync::Arc::clone(&held);
    let script: Box<Script> = Box::new(move |reach| {
        *hold.lock().unwrap() = Some(reach);
        Box::pin(pending())
    });
    let host = Dialer(&bench.host, script);
    let asked = Mutex::new(Vec::new());
    let slow = Slow(&asked, futures::lock::Mutex::new(()));
    bench.with_room(&host, &builtins(), &slow, |room| {
        let mut call = pin!(room.run(raw("sh x.sh")));
        let mut poll = || call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(poll().is_pending());
        let reach = held.lock().unwrap().take().unwrap();
        let thinking = slow.1.try_lock().unwrap();
        let mut first = Box::pin(dial(&reach, "one.test:1"));
        let mut second = Box::pin(dial(&reach, "two.test:2"));
        let cx = &mut Context::from_waker(Waker::noop());
        assert!(first.as_mut().poll(cx).is_pending() && second.as_mut().poll(cx).is_pending());
        assert!(poll().is_pending());
        // The deadline of the second passes while the first is being thought about.
        drop(second);
        drop(thinking);
        assert!(poll().is_pending() && poll().is_pending());
        assert!(first.as_mut().poll(cx).is_ready());
        assert_eq!(*asked.lock().unwrap(), ["one.test:1"]);
    });
}

/// Says yes once the lock is free.
struct Slow<'a>(&'a Mutex<Vec<String>>, futures::lock::Mutex<()>);

impl Approver for Slow<'_> {
    fn ask<'a>(&'a self, question: Question<'a>) -> BoxFuture<'a, Reply> {
        let subject = question.because.subject();
        self.0.lock().unwrap().push(subject.canonical.clone());
        Box::pin(async {
            drop(self.1.lock().await);
            yes()
        })
    }
}

#[test]
fn what_cannot_be_written_down_is_not_let_through() {
    let bench = bench(&[("*", Ask)]);
    let result = run(&bench, "sh x.sh", dials(&["h.test:443"]), |_| {
        bench.journal.fill_up();
        yes()
    });
    assert!(matches!(fault(result), Fault::Journal(_)));
}

#[test]
fn an_answer_that_could_not_be_kept_is_a_fault_of_the_call() {
    let bench = bench(&[("*", Ask)]);
    bench.approvals.fill_up();
    let heard = std::sync::Arc::new(Mutex::new(String::new()));
    let hear = std::sync::Arc::clone(&heard);
    let script: Box<Script> = Box::new(move |reach| {
        let hear = std::sync::Arc::clone(&hear);
        Box::pin(async move {
            *hear.lock().unwrap() = dial(&reach, "h.test:443").await;
            String::new()
        })
    });
    let result = run(&bench, "sh x.sh", script, |question| {
        exactly(question, Scope::Session)
    });
    assert!(matches!(fault(result), Fault::Approval(_)));
    assert!(
        heard.lock().unwrap().starts_with("h.test:443 closed"),
        "{heard:?}"
    );
}
