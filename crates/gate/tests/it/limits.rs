//! Tools that misbehave, a host that does, and calls that are no longer wanted.

use crate::{
    rogues::{Asker, Hangs, Late, Rogue, Says, says},
    world::{command, failure, fault, refusal, two, unasked},
};
use conform::testkit::{Bench, MemoryHost, block_on, no, yes};
use futures::future::pending;
use policy::Action::{Allow, Ask, Deny};
use schema::RawArguments;
use serde_json::{Value, json};
use std::{
    fmt::Debug,
    path::Path,
    pin::pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};
use tollgate_gate::{
    BoxFuture, Fault,
    access::{AskUser, ReadFile, ReadTree, Spawn, WriteFile},
    call::{CallId, RawCall},
    g2_admit::{Answers, Approver, Gate, LATE_ASKS_MAX, Question, Refusal, Reply},
    g3_confine::{Confinement, Order},
    host::{Content, Ended, Host, HostError, ResolveError, Resolved, Tree},
    journal::Event,
    tool::AnyTool,
};
use tools::{Bash, Edit, builtins};
use tracing::{
    Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id},
    subscriber::with_default,
};
use tracing_subscriber::{Layer, layer::Context as Layers, prelude::*};

#[test]
fn a_call_may_late_ask_eight_times() {
    let bench = Bench::new(&[]);
    let names = |count| Late((0..count).map(|n| format!("mcp_tool_{n}")).collect());
    bench
        .run(names(LATE_ASKS_MAX), json!({}), |_| yes())
        .unwrap();
    assert_eq!((LATE_ASKS_MAX, bench.asked().len()), (8, 8));
    let result = bench.run(names(LATE_ASKS_MAX + 1), json!({}), |_| yes());
    assert!(matches!(refusal(result), Refusal::TooManyLateAsks));
    assert_eq!(bench.asked().len(), 16, "the ninth is not put");
}

#[test]
fn what_rules_allow_counts_as_a_late_ask_too() {
    let bench = Bench::new(&[("*", "*", Allow)]);
    let names = Late((0..=LATE_ASKS_MAX).map(|n| format!("free_{n}")).collect());
    assert!(matches!(
        refusal(bench.run(names, json!({}), unasked)),
        Refusal::TooManyLateAsks
    ));
}

#[test]
fn the_first_late_refusal_answers_all_later_asks() {
    let bench = Bench::new(&[("free", "*", Allow)]);
    let names = ["one", "two", "three", "free"].map(str::to_owned);
    // Even what a rule allows is not granted any more.
    let result = bench.run(Late(names.into()), json!({}), |question: &Question<'_>| {
        if question.because.subject().permission == "two" {
            no()
        } else {
            yes()
        }
    });
    assert!(matches!(refusal(result), Refusal::Rejected { .. }));
    assert_eq!(bench.asked(), ["one x", "two x"]);
}

#[test]
fn a_late_ask_is_judged_with_all_that_was_granted_before() {
    let bench = Bench::new(&[]);
    let names = ["one", "two"].map(str::to_owned);
    let result = bench.run(Late(names.into()), json!({}), |question: &Question<'_>| {
        if question.because.subject().permission == "two" {
            bench.deny("one", "*");
        }
        yes()
    });
    assert!(matches!(refusal(result), Refusal::Denied(by) if by.subject().permission == "one"));
}

#[test]
fn misuse_of_the_contract_is_a_fault_and_not_a_panic() {
    for (rogue, expected) in [
        (Rogue::TakesTwice, Fault::TakenTwice),
        (Rogue::TakesWhatPreviewTook, Fault::TakenTwice),
        (Rogue::BindsNothing, Fault::UnboundWrite),
        (Rogue::BindsAnotherFile, Fault::UnrelatedBytes),
    ] {
        let bench = Bench::new(&[]);
        assert_eq!(fault(bench.run(rogue, json!({}), |_| yes())), expected);
        assert_eq!(bench.host.text("a.txt").unwrap(), "one\ntwo\n");
    }
}

#[test]
fn an_unbound_write_is_not_asked_about() {
    let bench = Bench::new(&[("read", "*", Allow)]);
    assert_eq!(
        fault(bench.run(Rogue::BindsNothing, json!({}), unasked)),
        Fault::UnboundWrite
    );
}

#[test]
fn a_want_kept_from_an_earlier_call_is_a_fault() {
    let bench = Bench::new(&[("*", "*", Allow)]);
    let rogue = [AnyTool::new(Rogue::KeepsItsWant(Mutex::default()))];
    let run = || {
        bench.run_on(
            &bench.host,
            &rogue,
            "rogue",
            RawArguments::Json(json!({})),
            unasked,
        )
    };
    assert_eq!(run().unwrap().output, "wrote");
    assert_eq!(fault(run()), Fault::WantOfAnotherCall);
    assert_eq!(bench.host.text("a.txt").unwrap(), "one\ntwo\n");
}

#[test]
fn a_permit_older_than_the_rules_is_decided_again_when_spent() {
    let bench = Bench::new(&[("*", "*", Allow)]);
    let dawdles = |action| Rogue::Dawdles(Arc::clone(&bench.rules), action);
    let refused = refusal(bench.run(dawdles(Deny), json!({}), unasked));
    assert!(matches!(refused, Refusal::Denied(_)), "{refused:?}");
    assert_eq!(
        bench.journal.verbs(),
        ["intend read", "did read", "refused"]
    );
    assert_eq!(bench.host.text("a.txt").unwrap(), "one\ntwo\n");
}

#[test]
fn an_ask_that_comes_too_late_is_a_denial() {
    let bench = Bench::new(&[("*", "*", Allow)]);
    let refused = refusal(bench.run(
        Rogue::Dawdles(Arc::clone(&bench.rules), Ask),
        json!({}),
        unasked,
    ));
    assert!(matches!(refused, Refusal::Unanswered { .. }), "{refused:?}");
    assert_eq!(bench.host.text("a.txt").unwrap(), "one\ntwo\n");
}

#[test]
fn a_change_of_the_rules_that_still_allows_is_no_obstacle_and_a_yes_stays_one() {
    for (rules, added) in [(&[("*", "*", Allow)][..], Allow), (&[][..], Ask)] {
        let bench = Bench::new(rules);
        let rogue = Rogue::Dawdles(Arc::clone(&bench.rules), added);
        bench.run(rogue, json!({}), |_| yes()).unwrap();
        assert_eq!(bench.host.text("a.txt").unwrap(), "new");
        let records = bench.journal.records();
        let written = crate::world::intents(&records).pop().unwrap();
        assert_eq!(
            written.generation(),
            2,
            "the journal has the later decision"
        );
    }
}

#[test]
fn a_tool_that_looks_away_from_a_refused_effect_has_still_had_none() {
    let bench = Bench::new(&[("*", "*", Allow)]);
    bench
        .run(
            Rogue::LooksAway(Arc::clone(&bench.rules)),
            json!({}),
            unasked,
        )
        .unwrap();
    assert_eq!(bench.host.text("a.txt").unwrap(), "one\ntwo\n");
    assert_eq!(bench.journal.verbs(), ["intend read", "did read"]);
}

/// Passes all on, but keeps write orders for later.
struct Hoarder<'h>(&'h MemoryHost, Mutex<Option<Order<WriteFile>>>);

impl Host for Hoarder<'_> {
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
        *self.1.lock().unwrap() = Some(order);
        Box::pin(async { Ok(()) })
    }
    fn spawn(&self, order: Order<Spawn>) -> BoxFuture<'_, Result<Ended, HostError>> {
        self.0.spawn(order)
    }
    fn keep_output(&self, call: CallId, text: &str) -> BoxFuture<'_, Result<String, HostError>> {
        self.0.keep_output(call, text)
    }
}

#[test]
fn an_order_of_a_closed_call_is_refused_by_the_host() {
    let bench = Bench::new(&[("*", "*", Allow)]);
    let hoarder = Hoarder(&bench.host, Mutex::default());
    let edit = RawArguments::Json(two());
    bench
        .run_on(&hoarder, &builtins(), "edit", edit, unasked)
        .unwrap();
    let order = hoarder.1.lock().unwrap().take().unwrap();
    let error = block_on(bench.host.write_file(order)).unwrap_err();
    assert!(
        matches!(&error, HostError::Refused(why) if why.contains("is not open")),
        "{error}"
    );
    assert_eq!(bench.host.text("a.txt").unwrap(), "one\ntwo\n");
}

#[test]
fn every_call_is_closed_at_the_host_however_it_ends() {
    let bench = Bench::new(&[("*", "*", Ask), ("bash", "rm *", Deny)]);
    bench.run(Edit, two(), |_| yes()).unwrap();
    bench.run(Edit, two(), |_| no()).unwrap_err();
    bench.run(Bash, command("rm x"), unasked).unwrap_err();
    bench.run(Bash, json!({}), unasked).unwrap_err();
    failure(bench.run(Says(Err("no".into())), json!({}), unasked));
    assert_eq!(bench.host.open_count(), 0);
}

/// Never answers.
struct Silence;

impl Approver for Silence {
    fn ask<'a>(&'a self, _: Question<'a>) -> BoxFuture<'a, Reply> {
        Box::pin(pending())
    }
    fn put<'a>(&'a self, _: &'a Order<AskUser>) -> BoxFuture<'a, Answers> {
        Box::pin(pending())
    }
}

fn raw(tool: &str, arguments: Value) -> RawCall {
    RawCall {
        id: "call_1".into(),
        tool: tool.into(),
        arguments: RawArguments::Json(arguments),
        repeats: None,
    }
}

fn poll<T: Debug>(future: std::pin::Pin<&mut impl Future<Output = T>>) -> Poll<T> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn a_call_that_waits_for_an_answer_can_be_cancelled() {
    let bench = Bench::new(&[]);
    bench.with_room(&bench.host, &[AnyTool::new(Edit)], &Silence, |room| {
        let mut call = pin!(room.run(raw("edit", two())));
        for _ in 0..2 {
            assert!(poll(call.as_mut()).is_pending());
            assert_eq!(bench.host.open_count(), 1);
        }
        bench.cancel.cancel();
        let Poll::Ready(result) = poll(call.as_mut()) else {
            panic!("still waiting")
        };
        let refused = refusal(result);
        assert!(matches!(refused, Refusal::Cancelled) && refused.gate() == Gate::Confine);
        assert_eq!(bench.host.open_count(), 0);
    });
    assert_eq!(bench.journal.verbs(), ["refused"]);
    let records = bench.journal.records();
    assert!(matches!(
        records.last().unwrap().event,
        Event::Refused(Refusal::Cancelled)
    ));
}

/// Counts how often it was woken.
#[derive(Default)]
struct Bell(AtomicUsize);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn raising_the_flag_wakes_a_call_that_hangs() {
    let bench = Bench::new(&[("*", "*", Allow)]);
    let bell = Arc::new(Bell::default());
    let waker = Waker::from(Arc::clone(&bell));
    bench.with_room(&bench.host, &[AnyTool::new(Hangs)], &Silence, |room| {
        let mut call = pin!(room.run(raw("hangs", json!({}))));
        let mut poll = || call.as_mut().poll(&mut Context::from_waker(&waker));
        assert!(poll().is_pending() && poll().is_pending());
        assert_eq!(bell.0.load(Ordering::Relaxed), 0);
        bench.cancel.cancel();
        assert_eq!(
            bell.0.load(Ordering::Relaxed),
            1,
            "once, however often it was polled"
        );
        let Poll::Ready(result) = poll() else {
            panic!("still hanging")
        };
        assert!(matches!(refusal(result), Refusal::Cancelled));
    });
    assert_eq!(bench.host.open_count(), 0);
}

#[test]
fn a_call_begun_after_the_flag_was_raised_does_nothing() {
    let bench = Bench::new(&[("*", "*", Allow)]);
    bench.cancel.cancel();
    assert!(matches!(
        refusal(bench.run(Edit, two(), unasked)),
        Refusal::Cancelled
    ));
    assert_eq!(bench.host.text("a.txt").unwrap(), "one\ntwo\n");
    assert_eq!(bench.journal.verbs(), ["refused"]);
}

#[test]
fn a_cancelled_effect_leaves_its_intent_open() {
    let bench = Bench::new(&[("*", "*", Allow)]);
    bench.with_room(&bench.host, &[AnyTool::new(Asker)], &Silence, |room| {
        let mut call = pin!(room.run(raw("question", json!({}))));
        assert!(poll(call.as_mut()).is_pending());
        bench.cancel.cancel();
        assert!(poll(call.as_mut()).is_ready());
    });
    assert_eq!(bench.journal.verbs(), ["intend ask", "refused"]);
}

#[test]
fn dropping_the_future_of_a_call_closes_it() {
    let bench = Bench::new(&[]);
    bench.with_room(&bench.host, &[AnyTool::new(Edit)], &Silence, |room| {
        {
            let mut call = Box::pin(room.run(raw("edit", two())));
            assert!(poll(call.as_mut()).is_pending());
            assert_eq!(bench.host.open_count(), 1);
        }
        assert_eq!(bench.host.open_count(), 0);
    });
}

/// Every new span, with its fields.
#[derive(Clone, Default)]
struct Spans(Arc<Mutex<Vec<Vec<String>>>>);

impl<S: Subscriber> Layer<S> for Spans {
    fn on_new_span(&self, attributes: &Attributes<'_>, _: &Id, _: Layers<'_, S>) {
        struct Fields(Vec<String>);
        impl Visit for Fields {
            fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
                self.0.push(format!("{field}={value:?}"));
            }
            fn record_str(&mut self, field: &Field, value: &str) {
                self.0.push(format!("{field}={value}"));
            }
        }
        let mut fields = Fields(vec![attributes.metadata().name().to_owned()]);
        attributes.record(&mut fields);
        self.0.lock().unwrap().push(fields.0);
    }
}

#[test]
fn every_call_has_a_span_that_names_it_and_nothing_of_its_content() {
    let spans = Spans::default();
    let bench = Bench::new(&[("*", "*", Allow)]);
    with_default(tracing_subscriber::registry().with(spans.clone()), || {
        bench.run(Edit, two(), unasked).unwrap();
        bench.run(Says(Ok(says("x"))), json!({}), unasked).unwrap();
    });
    let span = |tool: &str| {
        let fields = [
            "tool.execute",
            tool,
            "session.id=ses_test",
            "message.id=msg_test",
            "tool.call_id=call_1",
        ];
        fields.map(str::to_owned).to_vec()
    };
    assert_eq!(
        *spans.0.lock().unwrap(),
        [span("tool.name=edit"), span("tool.name=says")]
    );
}
