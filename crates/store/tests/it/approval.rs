//! Approvals: where they hold, that they are all or none, and that they outlive a process that is
//! killed at any moment.

use crate::{
    NOW_MS,
    child::{SAID, child},
    integrity, open, records,
};
use gate::{call::Ids, g2_admit::Scope};
use policy::{Action, Origin, Pattern, Rule};
use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader, Read},
    path::Path,
    process::Stdio,
    thread,
};
use tollgate_store::{Store, StoredApproval};

/// How many kills each of the two processes meets, and how many approvals it gives at least.
const KILL_COUNT: usize = 50;
const APPROVAL_COUNT: usize = 1_000;

/// A rule as a person's answer makes it.
pub(crate) fn rule(permission: &str, pattern: Pattern) -> Rule {
    let origin = Origin {
        source: "test".into(),
        line: 0,
        column: 0,
    };
    Rule::new(permission, pattern, Action::Allow, origin)
}

pub(crate) fn ids(session: &str) -> Ids {
    let mut ids = records::intent("call_1").ids;
    ids.session = session.into();
    ids
}

fn approve(store: &Store, scope: Scope, session: &str, workspace: &str, pattern: &str) -> String {
    let rules = [rule("bash", Pattern::exact(pattern))];
    let kept = store.approve(scope, workspace, &rules, &ids(session), "me");
    kept.unwrap().remove(0)
}

fn patterns(kept: &[StoredApproval]) -> Vec<&str> {
    kept.iter().map(|it| it.pattern.as_str()).collect()
}

#[test]
fn an_approval_comes_back_with_who_gave_it_and_where() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let rules = [
        rule("bash", Pattern::exact("rm *\n\u{1b}[2J")),
        rule("edit", Pattern::wildcard("src/*")),
    ];
    let ids = ids("ses");
    let kept = open(&path)
        .approve(Scope::Project, "/w", &rules, &ids, "me")
        .unwrap();
    let all = open(&path).approvals().unwrap();
    let first = StoredApproval {
        id: kept[0].clone(),
        at_ms: NOW_MS,
        scope: Scope::Project,
        session: "ses".into(),
        workspace: "/w".into(),
        message: ids.message.clone(),
        tool_call_id: "call_1".into(),
        who: "me".into(),
        permission: "bash".into(),
        pattern: "rm *\n\u{1b}[2J".into(),
        is_exact: true,
        revoked_ms: None,
    };
    assert_eq!(all[0], first);
    assert_eq!((&all[1].id, all[1].is_exact), (&kept[1], false));
    for (approval, rule) in all.iter().zip(&rules) {
        let again = approval.rule();
        assert_eq!(
            (&again.permission, &again.pattern, again.action),
            (&rule.permission, &rule.pattern, Action::Allow)
        );
        assert!(
            again.origin.source.contains(&approval.id),
            "{}",
            again.origin.source
        );
    }
}

#[test]
fn each_scope_holds_where_it_was_given() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("store.db"));
    approve(&store, Scope::Session, "s1", "/w", "of the session");
    approve(&store, Scope::Project, "s1", "/w", "of the project");
    approve(&store, Scope::Global, "s1", "/w", "of all");
    for (session, workspace, want) in [
        (
            "s1",
            "/w",
            ["of the session", "of the project", "of all"].as_slice(),
        ),
        ("s2", "/w", &["of the project", "of all"]),
        ("s2", "/v", &["of all"]),
        // A session belongs to its workspace.
        ("s1", "/v", &["of all"]),
        ("s1", "/w/", &["of all"]),
    ] {
        let kept = store.approvals_for(session, workspace).unwrap();
        assert_eq!(patterns(&kept), want, "{session} {workspace}");
    }
}

#[test]
fn what_is_revoked_holds_no_more_and_stays_in_the_list() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("store.db"));
    let first = approve(&store, Scope::Global, "s", "/w", "a");
    approve(&store, Scope::Global, "s", "/w", "b");
    assert!(store.revoke(&first).unwrap());
    assert!(!store.revoke(&first).unwrap(), "it is revoked already");
    for unknown in ["", "%", "apr_no"] {
        assert!(!store.revoke(unknown).unwrap(), "`{unknown}`");
    }
    assert_eq!(patterns(&store.approvals_for("s", "/w").unwrap()), ["b"]);
    let revoked: Vec<Option<u64>> = store
        .approvals()
        .unwrap()
        .iter()
        .map(|it| it.revoked_ms)
        .collect();
    assert_eq!(revoked, [Some(NOW_MS), None]);
}

/// What the next child of this name is to print before it is killed: up to 40, from a generator
/// that every run starts alike.
fn next_count(state: &mut u64) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state % 40) as usize + 1
}

/// Has one child after another give approvals and kills each; a last one gives what is left. Returns
/// the ids that were printed.
fn approve_and_be_killed(path: &Path, name: &str, seed: u64) -> Vec<String> {
    let mut state = seed;
    let mut said = Vec::new();
    for round in 0..=KILL_COUNT {
        let is_last = round == KILL_COUNT;
        let left = APPROVAL_COUNT.saturating_sub(said.len()).max(1);
        let count = if is_last {
            left
        } else {
            next_count(&mut state)
        };
        let mut child = child("approve until killed", path, &format!("{name}-{round}"))
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut text = String::new();
        let mut lines = 0;
        while lines < count {
            let start = text.len();
            let length = output.read_line(&mut text).unwrap();
            if length == 0 {
                break;
            }
            lines += usize::from(text[start..].starts_with(SAID));
        }
        child.kill().unwrap();
        output.read_to_string(&mut text).unwrap();
        let mut error = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut error)
            .unwrap();
        child.wait().unwrap();
        assert!(
            error.is_empty() && lines == count,
            "{name} {round}: {error}{text}"
        );
        let whole = text
            .split_inclusive('\n')
            .filter_map(|line| line.strip_suffix('\n'));
        said.extend(
            whole
                .filter_map(|line| line.strip_prefix(SAID))
                .map(str::to_owned),
        );
    }
    said
}

#[test]
fn what_two_processes_had_approved_before_each_of_a_hundred_kills_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let (first, second) = thread::scope(|scope| {
        let first = scope.spawn(|| approve_and_be_killed(&path, "a", 0x9e37_79b9_7f4a_7c15));
        let second = scope.spawn(|| approve_and_be_killed(&path, "b", 0xd1b5_4a32_d192_ed03));
        (first.join().unwrap(), second.join().unwrap())
    });
    for said in [&first, &second] {
        assert!(said.len() >= APPROVAL_COUNT, "{}", said.len());
    }
    let said: BTreeSet<String> = first.into_iter().chain(second).collect();
    let all = open(&path).approvals().unwrap();
    let kept: BTreeSet<String> = all.iter().map(|it| it.id.clone()).collect();
    let lost: Vec<&String> = said.difference(&kept).collect();
    assert!(lost.is_empty(), "{lost:?}");
    // At most one a kill was kept and not said any more.
    let unsaid = kept.len() - said.len();
    assert!(unsaid <= 2 * (KILL_COUNT + 1), "{unsaid}");
    assert_eq!(integrity(&path), "ok");
    assert_eq!(
        open(&path).approvals_for("ses", "/w").unwrap().len(),
        kept.len()
    );
}
