//! Denies that do not hold what they seem to hold.
//!
//! Must not: mind how a pattern is spelled.

use std::collections::BTreeSet;

use super::inclusion::{Search, includes, search};
use super::placed::{COMMAND, Placed};
use super::{Finding, FindingKind};
use crate::evaluate::evaluate;
use crate::rule::{Action, Rule};

/// Commands that do harm, each in a way that a list of denied names tends to forget.
const FORGOTTEN: [&str; 4] = [
    "find . -delete",
    "python3 x.py",
    "git clean -fd",
    "cp /dev/null x",
];

/// What a later allow lets through of what a rule denies, unless it names an exception.
pub(super) fn evaded(rules: &[Placed<'_>], deny: &Placed<'_>) -> Option<Finding> {
    if deny.rule.action != Action::Deny {
        return None;
    }
    let later = rules.get(deny.index + 1..).unwrap_or_default();
    let is_shared = |it: &&Placed<'_>| it.is_about_all_of(deny) || deny.is_about_all_of(it);
    let allows = later.iter().filter(|it| it.rule.action == Action::Allow);
    let (allow, text) = allows.filter(is_shared).find_map(|allow| {
        let text = leak(rules, deny, allow)?;
        (!is_exception(rules, deny, allow)).then_some((allow, text))
    })?;
    let pattern = deny.pattern();
    Some(Finding {
        others: vec![allow.index],
        ..Finding::of(
            FindingKind::EvadedDeny,
            deny,
            format!(
                "`{pattern}` is denied, but `{}` below it ({}) allows some of that, such as `{text}`: the last match wins",
                allow.pattern(),
                allow.seen_from(deny)
            ),
            format!("put `{pattern}` below what allows"),
        )
    })
}

/// A text that is denied first and allowed then, and that nothing stricter stands against.
fn leak(rules: &[Placed<'_>], deny: &Placed<'_>, allow: &Placed<'_>) -> Option<String> {
    let both = [deny.pattern(), allow.pattern()];
    if search(&both, &[]) == Search::Nothing {
        return None;
    }
    let later = rules.get(allow.index + 1..).unwrap_or_default().iter();
    let stricter = later
        .filter(|it| it.rule.action != Action::Allow)
        .filter(|it| it.speaks_for(deny) || it.speaks_for(allow));
    let stricter: Vec<_> = stricter.map(Placed::pattern).collect();
    match search(&both, &stricter) {
        Search::Text(text) => Some(text),
        Search::Nothing | Search::Open => None,
    }
}

/// Whether an allow lies inside of this deny, or of another narrow one above it: then it is an exception
/// from that, and what else it touches is a chance.
fn is_exception(rules: &[Placed<'_>], deny: &Placed<'_>, allow: &Placed<'_>) -> bool {
    let lies_in =
        |it: &Placed<'_>| it.is_about_all_of(allow) && includes(it.pattern(), allow.pattern());
    let above = rules.get(..allow.index).unwrap_or_default().iter();
    let mut narrow = above.filter(|it| it.rule.action == Action::Deny && !it.is_everything);
    lies_in(deny) || narrow.any(lies_in)
}

/// Denies behind a deny of a whole permission: they forbid nothing more, and the tool is offered again.
pub(super) fn offered_in_vain(rules: &[Placed<'_>]) -> Vec<Finding> {
    let names = rules.iter().map(|it| &*it.rule.permission);
    let names: BTreeSet<&str> = names.filter(|it| !it.contains(['*', '?'])).collect();
    names
        .into_iter()
        .filter_map(|name| offered(rules, name))
        .collect()
}

fn offered(rules: &[Placed<'_>], name: &str) -> Option<Finding> {
    let about: Vec<_> = rules.iter().filter(|it| it.rule.is_about(name)).collect();
    let last = about.iter().rposition(|it| it.is_everything)?;
    let (whole, behind) = (about.get(last)?, about.get(last + 1..)?);
    let first = behind.first()?;
    let is_deny = |it: &&Placed<'_>| it.rule.action == Action::Deny;
    if !is_deny(whole) || !behind.iter().all(is_deny) {
        return None;
    }
    Some(Finding {
        others: vec![whole.index],
        ..Finding::of(
            FindingKind::OfferedInVain,
            first,
            format!(
                "`{name}` is denied whole ({}): a narrower deny behind that forbids nothing more, and the model is offered a tool that is always refused",
                whole.seen_from(first)
            ),
            format!("take `{}` away", first.pattern()),
        )
    })
}

/// Every command allowed but what is denied by name.
pub(super) fn deny_list(written: &[Rule], rules: &[Placed<'_>]) -> Option<Finding> {
    let about: Vec<_> = rules
        .iter()
        .filter(|it| it.rule.is_about(COMMAND))
        .collect();
    let last = about.iter().rposition(|it| it.is_everything)?;
    let whole = about
        .get(last)
        .filter(|it| it.rule.action == Action::Allow)?;
    let behind = about.get(last + 1..)?.iter();
    let denies: Vec<_> = behind.filter(|it| it.rule.action == Action::Deny).collect();
    let first = denies.first()?;
    let is_allowed = |command: &&&str| {
        evaluate(written, COMMAND, command).is_some_and(|(_, it)| it.action == Action::Allow)
    };
    let allowed: Vec<_> = FORGOTTEN.iter().filter(is_allowed).take(2).collect();
    let examples = match allowed.as_slice() {
        [] => return None,
        [one] => format!("`{one}` is allowed"),
        [one, other, ..] => format!("`{one}` and `{other}` are allowed"),
    };
    let patterns = match denies.len() {
        1 => "one pattern denies".to_owned(),
        count => format!("{count} patterns deny"),
    };
    Some(Finding {
        others: denies.iter().map(|it| it.index).collect(),
        ..Finding::of(
            FindingKind::DenyList,
            whole,
            format!(
                "every command is allowed but what {patterns} (from {}), and such a list contains nothing: {examples}",
                first.seen_from(whole)
            ),
            "start from `\"*\": \"ask\"` and allow what is used; what commands can reach at all is for the sandbox to hold"
                .to_owned(),
        )
    })
}
