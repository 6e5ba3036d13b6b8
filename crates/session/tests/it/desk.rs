//! Asks that wait at a desk. The courses of events stand in the suite as data (`sequence`); here is what
//! they cannot say: what is shown, channels, threads, and that every ask ends once.

use conform::testkit::{Bench, DeskBench, ManualTimer, MemoryHost, block_on};
use gate::{
    BoxFuture,
    call::{NotRun, RawCall},
    g1_decode::RawArguments,
    g2_admit::{Approver, Question, Reply, Scope},
    output::CallOutput,
};
use policy::{
    Action::{Allow, Ask},
    Layer, Origin, Pattern, Rule, RuleBook, RuleLayers,
};
use proptest::prelude::*;
use serde_json::json;
use std::{
    collections::BTreeMap,
    sync::{Arc, mpsc},
    thread,
};
use tollgate_session::desk::{
    Cascade, Deadline, Desk, DeskEvent, End, ReplyError, Seat, SeatTaken, Seated, Shown, Timer,
};

fn yes() -> Reply {
    Reply::Once { who: "ann".into() }
}

fn always(scope: Scope) -> Reply {
    Reply::Always {
        who: "ann".into(),
        scope,
        rules: None,
    }
}

fn desk(started_ms: u64) -> Desk {
    let timer = Arc::new(ManualTimer::default());
    Desk::new(started_ms, Deadline { ms: 1000, timer })
}

fn seated(id: &str, parent: Option<&str>, workspace: &str, base: Vec<Rule>) -> Seated {
    let layers = RuleLayers {
        base,
        ..RuleLayers::default()
    };
    Seated {
        id: id.into(),
        parent: parent.map(str::to_owned),
        workspace: workspace.into(),
        rules: Arc::new(RuleBook::new(layers)),
    }
}

fn seat(desk: &Desk, id: &str, rules: &Arc<RuleBook>) -> Seat {
    let rules = rules.clone();
    let seated = Seated {
        rules,
        ..seated(id, None, "/w", Vec::new())
    };
    desk.open_session(seated).unwrap()
}

/// One command on a bench, with this approver.
fn bash(bench: &Bench, approver: &dyn Approver, command: &str) -> Result<CallOutput, NotRun> {
    let raw = RawCall {
        id: "call_1".into(),
        tool: "bash".into(),
        arguments: RawArguments::Json(json!({ "command": command })),
        repeats: None,
    };
    let tools = tools::builtins();
    bench.with_room(&bench.host, &tools, approver, |room| {
        block_on(room.run(raw))
    })
}

#[test]
fn an_ask_shows_all_that_a_person_has_to_see() {
    let mut bench = DeskBench::new();
    let read = Rule::new("read", Pattern::wildcard("*"), Allow, Origin::named("t"));
    bench.open(seated("s", None, "/w", vec![read])).unwrap();
    let line = json!({ "command": "true && ls", "description": "looks around" });
    bench.call("A", "s", "bash", line).unwrap();
    let write = json!({ "filePath": "a.txt", "content": "one\n" });
    bench.call("B", "s", "write", write).unwrap();
    let asks = bench.desk().list(Some("s"));
    let [command, write] = asks.as_slice() else {
        panic!("{asks:?}")
    };
    assert_eq!(
        (
            command.session.as_str(),
            command.tool.as_str(),
            command.tool_call_id.as_str()
        ),
        ("s", "bash", "A")
    );
    let what: Vec<_> = command
        .subjects
        .iter()
        .map(|it| it.source.as_str())
        .collect();
    assert_eq!(what, ["true", "ls"]);
    let shown = Shown::Command {
        text: "true && ls".into(),
        described_as: Some("looks around".into()),
    };
    assert_eq!(command.shown, shown);
    assert_eq!(command.because.action(), Ask);
    assert!(command.keepable.usual().is_some());
    assert!(matches!(&write.shown, Shown::Diff(diff) if diff.contains("-two")));
    assert!(command.id.starts_with("per_") && command.id < write.id);
    assert_eq!(bench.desk().list(Some("t")).len(), 0);
}

#[test]
fn ids_ascend_and_are_never_those_of_an_earlier_desk() {
    let ids = |started_ms| {
        let bench = Bench::new(&[("bash", "*", Ask)]);
        let desk = desk(started_ms);
        let seat = seat(&desk, "ses_test", &bench.rules);
        let (_, mut events) = desk.watch();
        for command in ["true", "ls"] {
            thread::scope(|scope| {
                scope.spawn(|| bash(&bench, &seat, command));
                let ask = next_ask(&mut events);
                desk.reply(&ask, yes(), Cascade::Session).unwrap();
            });
        }
        let mut ids = Vec::new();
        while let Ok(DeskEvent::Ended { ask, .. } | DeskEvent::Asked(ask)) = events.try_recv() {
            ids.push(ask.id.clone());
        }
        ids
    };
    let (first, second) = (ids(1_700_000_000_000), ids(1_700_000_000_001));
    let all = [first, second].concat();
    assert!(
        all.is_sorted() && all.iter().all(|id| id.len() == 22),
        "{all:?}"
    );
}

type Events = futures::channel::mpsc::UnboundedReceiver<DeskEvent>;

/// Waits for the next ask.
fn next_ask(events: &mut Events) -> String {
    use futures::StreamExt;
    loop {
        if let DeskEvent::Asked(ask) = block_on(events.next()).unwrap() {
            return ask.id.clone();
        }
    }
}

#[test]
fn whoever_comes_later_sees_what_waits_and_misses_nothing_after() {
    let mut bench = DeskBench::new();
    bench.open(seated("s", None, "/w", Vec::new())).unwrap();
    bench
        .call("A", "s", "bash", json!({ "command": "true" }))
        .unwrap();
    let (waiting, mut events) = bench.desk().watch();
    assert_eq!(waiting.len(), 1);
    bench
        .call("B", "s", "bash", json!({ "command": "ls" }))
        .unwrap();
    bench.reply("A", yes(), Cascade::Session).unwrap();
    let mut heard = Vec::new();
    while let Ok(event) = events.try_recv() {
        heard.push(match event {
            DeskEvent::Asked(ask) => format!("asked {}", ask.tool_call_id),
            DeskEvent::Ended {
                ask,
                how: End::Allowed { who, .. },
            } => {
                format!("{who} allowed {}", ask.tool_call_id)
            }
            DeskEvent::Ended { .. } => "otherwise".to_owned(),
        });
    }
    assert_eq!(heard, ["asked B", "ann allowed A"]);
}

#[test]
fn a_session_has_one_seat_and_may_come_back_after_it_left() {
    let desk = desk(1);
    let again = seated("s", Some("s"), "/w", Vec::new());
    let first = seat(&desk, "s", &again.rules);
    let taken = desk.open_session(again.clone()).unwrap_err();
    assert_eq!(taken, SeatTaken("s".into()));
    drop(first);
    let second = desk.open_session(again);
    assert!(second.is_ok());
    desk.cancel("t");
}

/// Lets a rule come into force between the decision of the gate and the desk.
struct Overtaken<'b> {
    seat: Seat,
    rules: &'b RuleBook,
}

impl Approver for Overtaken<'_> {
    fn ask<'a>(&'a self, question: Question<'a>) -> BoxFuture<'a, Reply> {
        let allow = Rule::new("bash", Pattern::exact("true"), Allow, Origin::named("t"));
        self.rules.append(Layer::Session, vec![allow]);
        self.seat.ask(question)
    }
}

/// Every deadline has passed already.
struct AtOnce;

impl Timer for AtOnce {
    fn after(&self, _ms: u64) -> BoxFuture<'static, ()> {
        Box::pin(async {})
    }
}

#[test]
fn an_ask_that_a_kept_yes_has_overtaken_does_not_wait() {
    let bench = Bench::on(MemoryHost::with(&[]), &[("bash", "*", Ask)]);
    let timer = Arc::new(AtOnce);
    let desk = Desk::new(1, Deadline { ms: 1000, timer });
    let (_, mut events) = desk.watch();
    let overtaken = Overtaken {
        seat: seat(&desk, "ses_test", &bench.rules),
        rules: &bench.rules,
    };
    assert!(bash(&bench, &overtaken, "true").is_ok());
    assert!(events.try_recv().is_err(), "nobody was bothered");
}

#[test]
fn a_yes_that_could_not_be_kept_answers_no_other_ask() {
    let mut bench = DeskBench::new();
    for session in ["s", "t"] {
        bench.open(seated(session, None, "/w", Vec::new())).unwrap();
    }
    bench.approvals().fill_up();
    bench
        .call("A", "s", "bash", json!({ "command": "true" }))
        .unwrap();
    bench
        .call("B", "t", "bash", json!({ "command": "true" }))
        .unwrap();
    bench
        .reply("A", always(Scope::Global), Cascade::Session)
        .unwrap();
    assert!(
        bench.came_to("A").contains("internal fault"),
        "{}",
        bench.came_to("A")
    );
    assert_eq!(bench.came_to("B"), "waits");
    let rules = bench.rules("t").unwrap().current();
    assert_eq!(rules.layers().saved, []);
}

#[test]
fn what_is_kept_stands_once_in_a_book_that_sessions_share() {
    let mut bench = DeskBench::new();
    let first = seated("s", None, "/w", Vec::new());
    let rules = first.rules.clone();
    bench.open(first).unwrap();
    for id in ["t", "u"] {
        let rules = rules.clone();
        bench
            .open(Seated {
                rules,
                ..seated(id, None, "/w", Vec::new())
            })
            .unwrap();
    }
    bench.open(seated("x", None, "/w", Vec::new())).unwrap();
    bench
        .call("A", "s", "bash", json!({ "command": "true" }))
        .unwrap();
    bench
        .reply("A", always(Scope::Global), Cascade::Session)
        .unwrap();
    let saved = |id: &str| bench.rules(id).unwrap().current().layers().saved.len();
    assert_eq!((saved("s"), saved("x")), (1, 1));
}

#[test]
fn of_two_who_answer_at_once_one_is_told_that_it_was_too_late() {
    for _ in 0..50 {
        let bench = Bench::new(&[("bash", "*", Ask)]);
        let desk = desk(1);
        let seat = seat(&desk, "ses_test", &bench.rules);
        let (_, mut events) = desk.watch();
        thread::scope(|scope| {
            let call = scope.spawn(|| bash(&bench, &seat, "true"));
            let id = next_ask(&mut events);
            let (tell, told) = mpsc::channel();
            for _ in 0..2 {
                let (desk, id, tell) = (&desk, id.clone(), tell.clone());
                scope.spawn(move || tell.send(desk.reply(&id, yes(), Cascade::Session)));
            }
            let mut taken: Vec<_> = [told.recv().unwrap(), told.recv().unwrap()].into();
            taken.sort_by_key(Result::is_err);
            assert_eq!(taken, [Ok(()), Err(ReplyError::NotFound)]);
            assert!(call.join().unwrap().is_ok());
        });
        assert!(matches!(events.try_recv(), Ok(DeskEvent::Ended { .. })));
        assert!(events.try_recv().is_err(), "it ended once");
    }
}

/// Something that may happen.
#[derive(Clone, Debug)]
enum Act {
    Call {
        session: usize,
        command: usize,
    },
    Reply {
        to: usize,
        with: usize,
        is_alone: bool,
    },
    Drop(usize),
    Cancel(usize),
    Pass,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => (0..3_usize, 0..3_usize).prop_map(|(session, command)| Act::Call { session, command }),
        4 => (0..12_usize, 0..6_usize, any::<bool>())
            .prop_map(|(to, with, is_alone)| Act::Reply { to, with, is_alone }),
        1 => (0..12_usize).prop_map(Act::Drop),
        1 => (0..3_usize).prop_map(Act::Cancel),
        1 => Just(Act::Pass),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_ask_ends_once_and_nothing_runs_without_a_yes(acts in prop::collection::vec(act(), 1..24)) {
        let mut bench = DeskBench::new();
        // `c` is a child of `s`, and `t` is somewhere else.
        let sessions = ["s", "c", "t"];
        for (id, parent, workspace) in [("s", None, "/w"), ("c", Some("s"), "/w"), ("t", None, "/t")] {
            bench.open(seated(id, parent, workspace, Vec::new())).unwrap();
        }
        let mut made = Vec::new();
        for act in acts {
            match act {
                Act::Call { session, command } => {
                    let name = format!("call{}", made.len());
                    let command = ["true", "ls", "pwd"][command];
                    bench.call(&name, sessions[session], "bash", json!({ "command": command })).unwrap();
                    made.push(name);
                }
                Act::Reply { to, with, is_alone } => {
                    let who = String::from("ann");
                    let reply = match with {
                        0 => yes(),
                        1 => always(Scope::Session),
                        2 => always(Scope::Project),
                        3 => always(Scope::Global),
                        4 => Reply::Everything { who, scope: Scope::Session },
                        _ => Reply::Reject { who, word: None },
                    };
                    let cascade = if is_alone { Cascade::Nothing } else { Cascade::Session };
                    let _taken = bench.reply(&format!("call{to}"), reply, cascade);
                }
                Act::Drop(call) if call < made.len() => bench.abandon(&made[call]),
                Act::Drop(_) => {}
                Act::Cancel(session) => bench.cancel(sessions[session]),
                Act::Pass => bench.pass_time(),
            }
        }
        bench.pass_time();
        prop_assert_eq!(bench.listed(), Vec::<String>::new());
        let mut events: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for event in bench.events() {
            let (name, what) = event.split_once(' ').unwrap();
            events.entry(name).or_default().push(what);
        }
        for (name, events) in &events {
            prop_assert_eq!(events.len(), 2, "{} {:?}", name, events);
            prop_assert_eq!(events[0], "asked");
            let is_yes = events[1].starts_with("allowed") || events[1].starts_with("drained");
            let came_to = bench.came_to(name);
            prop_assert!(is_yes || came_to != "ran", "{} {:?} {}", name, events, came_to);
        }
        for name in &made {
            prop_assert!(bench.came_to(name) != "waits");
        }
    }
}
