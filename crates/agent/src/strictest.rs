//! Two lists of hard rules as one.
//!
//! Must not: leave open what either of the two closes. In one list the last match decides, so one list
//! behind another would not do: an allow in the second, which only leaves something open, would open
//! what the first denies.

use policy::{Action, Origin, Pattern, Rule, wildcard};

/// A list that says of everything the stricter of what two lists say of it. What one list cannot say
/// exactly comes out stricter.
pub fn strictest(one: &[Rule], other: &[Rule]) -> Vec<Rule> {
    if one.is_empty() || one == other {
        return other.to_vec();
    }
    if other.is_empty() {
        return one.to_vec();
    }
    // What matches a rule of `one` last, and of those a rule of `other` last, ends at the rule for both.
    let mut both = other.to_vec();
    for rule in one {
        both.push(rule.clone());
        both.extend(with_each(rule, other));
    }
    if tells_commands_apart(one) && tells_commands_apart(other) {
        // SECURITY: another spelling of a command counts by the place of its rule, and two lists
        // have no common places. Nothing built in comes here.
        let origin = Origin::named("hard rules of two sources about commands");
        let all = Pattern::wildcard("*");
        both.push(Rule::new("bash", all, Action::Deny, origin));
    }
    without_repeats(both)
}

/// What a rule and each of a list say together of the things they are both about, in order.
fn with_each(rule: &Rule, list: &[Rule]) -> Vec<Rule> {
    let stricter = |one, other| std::cmp::max_by_key(other, one, |it: &&Rule| it.action);
    let mut strictest = rule;
    let mut said = Vec::new();
    for other in list {
        let of_both = stricter(rule, other);
        let permission = match common_permission(&rule.permission, &other.permission) {
            Common::Nothing => continue,
            Common::Name(name) => Some(name),
            Common::Unknown => None,
        };
        strictest = stricter(strictest, of_both);
        let common = permission.zip(common_pattern(&rule.pattern, &other.pattern));
        match common {
            Some((name, pattern)) => {
                let (action, origin) = (of_both.action, of_both.origin.clone());
                said.push(Rule::new(name, pattern.clone(), action, origin));
            }
            // Left out, this is as strict as what stands before.
            None if of_both.action == Action::Allow => {}
            // Said of all that `rule` is about, so no less strict than anything said of a part of it.
            None => said.push(Rule {
                action: strictest.action,
                origin: strictest.origin.clone(),
                ..rule.clone()
            }),
        }
    }
    said
}

/// What two names of permissions are both about.
enum Common<'a> {
    Nothing,
    Name(&'a str),
    Unknown,
}

fn common_permission<'a>(one: &'a str, other: &'a str) -> Common<'a> {
    let is_wild = |name: &str| name.contains(['*', '?']);
    // `external_directory` is about `external_directory.read` too.
    let is_above = |above: &str, name: &str| {
        let rest = name.strip_prefix(above);
        above == "*" || above == name || rest.is_some_and(|rest| rest.starts_with('.'))
    };
    if is_above(one, other) {
        return Common::Name(other);
    }
    if is_above(other, one) {
        return Common::Name(one);
    }
    match (is_wild(one), is_wild(other)) {
        (false, false) => Common::Nothing,
        (true, false) => common_with_wild(other, one),
        (false, true) => common_with_wild(one, other),
        (true, true) => Common::Unknown,
    }
}

fn common_with_wild<'a>(name: &'a str, wild: &str) -> Common<'a> {
    let whole = name.split('.').next().unwrap_or(name);
    if [name, whole].iter().any(|it| wildcard(wild, it)) {
        return Common::Name(name);
    }
    // Only a wildcard that may match a narrower name of the same permission is left.
    let start = wild.split(['*', '?']).next().unwrap_or_default();
    let below = format!("{name}.");
    if below.starts_with(start) || start.starts_with(&below) {
        return Common::Unknown;
    }
    Common::Nothing
}

fn common_pattern<'a>(one: &'a Pattern, other: &'a Pattern) -> Option<&'a Pattern> {
    if one.is_catch_all() || one == other {
        return Some(other);
    }
    other.is_catch_all().then_some(one)
}

fn tells_commands_apart(rules: &[Rule]) -> bool {
    let is_narrow = |rule: &Rule| rule.is_about("bash") && !rule.pattern.is_catch_all();
    rules.iter().any(is_narrow)
}

/// Of rules about the same things only the last one counts.
fn without_repeats(mut rules: Vec<Rule>) -> Vec<Rule> {
    let is_same = |one: &Rule, other: &Rule| {
        one.permission == other.permission && one.pattern == other.pattern
    };
    let mut kept: Vec<Rule> = Vec::new();
    while let Some(rule) = rules.pop() {
        if !kept.iter().any(|later| is_same(later, &rule)) {
            kept.push(rule);
        }
    }
    kept.reverse();
    kept
}
