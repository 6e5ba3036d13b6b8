//! Records come back as they were kept.

use crate::{NOW_MS, open, records};
use gate::journal::{Event, Journal, Record};
use policy::Action;
use serde_json::Value;
use std::process;
use tollgate_store::{Filter, Ruling, Store, StoredEvent, StoredRecord};

fn keep(store: &Store, records: impl IntoIterator<Item = Record>) -> Vec<StoredRecord> {
    let last = store
        .journal(Filter::All)
        .unwrap()
        .last()
        .map_or(0, |it| it.id);
    for record in records {
        store.append(record).unwrap();
    }
    store.journal(Filter::After(last)).unwrap()
}

fn trace(ruling: &Ruling) -> Vec<Value> {
    serde_json::from_str(&ruling.trace).unwrap()
}

#[test]
fn an_intent_and_its_outcome_come_back_with_the_decision_and_who_made_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let [intent, outcome] = records::read();
    let kept = keep(&open(&path), [intent.clone(), outcome]);
    let [first, second] = kept.as_slice() else {
        panic!("{kept:?}")
    };
    for record in [first, second] {
        assert_eq!((record.at_ms, record.pid), (NOW_MS, process::id()));
        assert_eq!(record.call, intent.ids.call.number());
        assert_eq!(
            [
                &record.session,
                &record.message,
                &record.tool_call_id,
                &record.tool
            ],
            [
                &intent.ids.session,
                &intent.ids.message,
                &intent.ids.tool_call_id,
                &intent.tool
            ]
        );
        assert!(record.process.starts_with("prc_"), "{}", record.process);
    }
    let (
        Event::Intent {
            effect: meant,
            decision,
        },
        StoredEvent::Intent { effect, ruling },
    ) = (&intent.event, &first.event)
    else {
        panic!("{first:?}")
    };
    assert_eq!((effect, effect.as_str()), (meant, "read a.txt"));
    assert_eq!(
        (ruling.action, ruling.generation),
        (Action::Allow, decision.generation())
    );
    let rule = decision.rule().unwrap();
    let at_ms = decision.answer().unwrap().at_ms;
    assert_eq!(
        ruling.decided_by,
        format!("approver \"ann\" at {at_ms} ms, asked by {rule}")
    );
    let steps = trace(ruling);
    assert_eq!(steps.len(), decision.trace().steps.len());
    assert_eq!(steps[0]["rule"], "read: * = ask");
    assert_eq!(steps[0]["origin"]["file"], *rule.origin.source);
    assert_eq!(steps[0]["origin"]["line"], rule.origin.line);
    assert_eq!(steps.last().unwrap()["action"], "allow");
    assert_eq!(
        second.event,
        StoredEvent::Outcome {
            effect: effect.clone(),
            result: Ok(())
        }
    );

    // Another process sees the same.
    assert_eq!(open(&path).journal(Filter::All).unwrap(), kept);
}

#[test]
fn an_effect_that_failed_comes_back_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let [_, mut outcome] = records::read();
    let result = Err("no such file\0 \u{1b}[2J".to_owned());
    outcome.event = Event::Outcome {
        effect: "read b".into(),
        result: result.clone(),
    };
    let kept = keep(&open(&folder.path().join("store.db")), [outcome]);
    assert_eq!(
        kept[0].event,
        StoredEvent::Outcome {
            effect: "read b".into(),
            result
        }
    );
}

#[test]
fn a_refusal_comes_back_with_its_gate_its_words_and_the_rule() {
    let folder = tempfile::tempdir().unwrap();
    let denied = records::denied();
    let rejected = records::rejected();
    let mut cancelled = denied.clone();
    cancelled.event = Event::Refused(gate::g2_admit::Refusal::Cancelled);
    let kept = keep(
        &open(&folder.path().join("store.db")),
        [denied.clone(), rejected.clone(), cancelled.clone()],
    );
    assert_eq!(kept.len(), 3);
    let mut rulings = Vec::new();
    for (kept, given) in kept.iter().zip([&denied, &rejected, &cancelled]) {
        let (
            StoredEvent::Refused {
                gate,
                words,
                ruling,
            },
            Event::Refused(refusal),
        ) = (&kept.event, &given.event)
        else {
            panic!("{kept:?}")
        };
        assert_eq!(
            (gate, words),
            (&refusal.gate().to_string(), &refusal.to_string())
        );
        rulings.push(ruling.as_ref());
    }
    let [Some(denied), Some(rejected), None] = rulings[..] else {
        panic!("{rulings:?}")
    };
    assert_eq!(denied.action, Action::Deny);
    assert!(
        denied
            .decided_by
            .starts_with("base read \"*.env\" deny (user:"),
        "{}",
        denied.decided_by
    );
    assert_eq!(
        (rejected.action, rejected.decided_by.as_str()),
        (Action::Ask, "default")
    );
}

#[test]
fn a_session_has_its_own_records() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("store.db"));
    let [mut intent, outcome] = records::read();
    intent.ids.session = "ses_other".into();
    let kept = keep(&store, [intent, outcome]);
    assert_eq!(
        store.journal(Filter::Session("ses_other")).unwrap(),
        kept[..1]
    );
    assert_eq!(
        store.journal(Filter::Session(&kept[1].session)).unwrap(),
        kept[1..]
    );
    assert_eq!(store.journal(Filter::Session("%")).unwrap(), []);
}

#[test]
fn an_intent_is_open_until_its_own_outcome_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("store.db"));
    let open_ids = || {
        store
            .open_intents()
            .unwrap()
            .iter()
            .map(|it| it.id)
            .collect::<Vec<_>>()
    };
    let [first, outcome] = records::read();
    let [other_call, _] = records::read();
    // The same effect three times: twice in one call, once in another.
    let ids: Vec<i64> = keep(&store, [first.clone(), first, other_call])
        .iter()
        .map(|it| it.id)
        .collect();
    assert_eq!(open_ids(), ids);
    let mut of_another_effect = outcome.clone();
    of_another_effect.event = Event::Outcome {
        effect: "read elsewhere".into(),
        result: Ok(()),
    };
    keep(&store, [of_another_effect]);
    assert_eq!(open_ids(), ids);
    keep(&store, [outcome.clone()]);
    assert_eq!(open_ids(), [ids[1], ids[2]]);
    keep(&store, [outcome]);
    assert_eq!(open_ids(), [ids[2]]);
}
