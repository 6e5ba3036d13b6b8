//! The decision once more: slow, plain, written from the rules alone. Shares no code with the engine
//! but the types it reads, and answers with the action only.

use tollgate_policy as policy;

use Action::{Allow, Ask, Deny};
use policy::{Action, Pattern, Platform, Rule, RuleLayers, Subject, SubjectKind};

use crate::glob::{folded, glob, matches};

/// A rule and its place in its list.
type Placed<'r> = (i64, &'r Rule);

pub(crate) struct Reference<'r> {
    pub(crate) platform: Platform,
    pub(crate) layers: &'r RuleLayers,
}

impl Reference<'_> {
    pub(crate) fn decide(&self, subjects: &[Subject], is_answered: bool) -> Action {
        let actions = subjects.iter().map(|subject| self.decide_one(subject));
        match actions.max().unwrap_or(Ask) {
            Ask if is_answered => Allow,
            action => action,
        }
    }

    /// Once as if there were no project, once as if its rules were ordinary ones; the stricter counts.
    fn decide_one(&self, subject: &Subject) -> Action {
        let base: Vec<&Rule> = self.layers.base.iter().collect();
        let without = self.decide_with(&base, subject);
        if self.layers.project.is_empty() {
            return without;
        }
        let both: Vec<&Rule> = base.into_iter().chain(&self.layers.project).collect();
        without.max(self.decide_with(&both, subject))
    }

    /// The base rule that decides about a command alone.
    fn decides<'r>(&self, base: &[&'r Rule], command: &Subject) -> Option<&'r Rule> {
        let is_known = command.is_literal && command.opaque.is_none();
        let counted = self.counted(base, command, |_| true, |_| is_known);
        let found = counted
            .into_iter()
            .max_by_key(|(at, rule)| (rule.action, *at));
        found.map(|(_, rule)| rule)
    }

    fn decide_with(&self, base: &[&Rule], subject: &Subject) -> Action {
        let is_opaque = subject.opaque.is_some();
        let is_known = subject.is_literal && !is_opaque;

        // The base rules; a blanket deny does not reach directories outside.
        let is_outside = subject.permission == "external_directory";
        let is_blanket = |it: &Rule| it.permission == "*" && is_star(it) && it.action == Deny;
        let is_unmeant = |rule: &Rule| {
            let is_of_all =
                rule.permission.contains(['*', '?']) && is_star(rule) && rule.action == Ask;
            (subject.is_possible && is_star(rule)) || (subject.is_beside && is_of_all)
        };
        let heard = |rule: &Rule| !(is_unmeant(rule) || is_outside && is_blanket(rule));
        let counted = self.counted(base, subject, heard, |_| is_known);
        let found = counted.iter().max_by_key(|(at, rule)| (rule.action, *at));
        let found = found.map(|(_, rule)| *rule);
        let is_quiet = subject.is_possible || subject.is_beside;
        let unnamed = if is_quiet { Allow } else { Ask };
        let mut action = found.map_or(unnamed, |rule| rule.action);
        let asks = counted.iter().filter(|(_, rule)| rule.action == Ask);
        let mut asks: Vec<Pattern> = asks.map(|(_, rule)| rule.pattern.clone()).collect();

        // A built-in ask of any change yields to a rule of one's own for the command that makes it.
        let is_general = |rule: &Rule| is_star(rule) && rule.origin.source.starts_with("built-in ");
        let mut asking = counted.iter().filter(|(_, rule)| rule.action == Ask);
        if action == Ask
            && subject.permission == "edit"
            && found.is_some()
            && asking.all(|(_, rule)| is_general(rule))
            && let Some(command) = &subject.by
            && let Some(rule) = self.decides(base, command)
            && rule.action == Allow
            && !rule.origin.source.starts_with("built-in ")
            && (subject.is_beside || is_star(rule))
        {
            action = Allow;
            asks.clear();
        }

        // What cannot be told is allowed by a star that nothing narrows, and by nothing else.
        let is_of_files = |rule: &Rule| {
            let mut names = ["read", "edit"].iter();
            names.any(|name| glob(self.platform, &rule.permission, name)) && rule.action == Deny
        };
        let is_caution = |rule: &&Rule| {
            let is_meant = self.is_about(rule, subject) || is_of_files(rule);
            is_meant && !is_star(rule) && rule.action != Allow
        };
        let is_plain_star = found.is_some_and(is_star) && !base.iter().any(is_caution);
        if is_opaque && action == Allow && !is_plain_star {
            action = Ask;
        }

        // An ask about arguments, and one about a protected path, is answered once and no more.
        let mut is_once = asks.iter().any(Pattern::is_about_arguments);
        if action != Deny {
            for (pattern, is_once_here) in guards(subject, found, self.layers) {
                asks.push(Pattern::read(pattern).unwrap());
                is_once |= is_once_here;
                action = Ask;
            }
        }

        // Replies. Each list for itself: a deny counts, an allow lifts what it is no broader than, and
        // of those that are broader none hides one that is not.
        for list in [&self.layers.session, &self.layers.saved] {
            let list: Vec<&Rule> = list.iter().collect();
            let says = |heard: &dyn Fn(&Rule) -> bool| {
                let may_lift = |rule: &Rule| is_exact(rule) || is_known;
                let counted = self.counted(&list, subject, heard, may_lift);
                let strictest = counted.iter().max_by_key(|(at, rule)| (rule.action, *at));
                strictest.map(|(_, rule)| *rule)
            };
            let heard = |rule: &Rule| {
                let is_this = is_exact(rule) && rule.pattern.text() == subject.source;
                let is_other = subject.kind == SubjectKind::Command && is_exact(rule);
                let is_meant = rule.action != Allow || is_this || !(is_opaque || is_other);
                is_meant && !is_unmeant(rule)
            };
            let is_inside = |rule: &Rule| {
                let mut asks = asks.iter();
                is_exact(rule) || asks.all(|ask| self.covers(ask, &rule.pattern))
            };
            let heard_inside = |it: &Rule| heard(it) && (it.action != Allow || is_inside(it));
            let Some(said) = says(&heard) else { continue };
            let is_lifted =
                || is_inside(said) || says(&heard_inside).is_some_and(|it| it.action == Allow);
            match said.action {
                Deny => action = Deny,
                Allow if action == Ask && !is_once && is_lifted() => action = Allow,
                Allow | Ask => {}
            }
        }

        // Hard rules tighten, and so does the caller.
        let hard: Vec<&Rule> = self.layers.hard.iter().collect();
        let hard = self.counted(&hard, subject, |rule| !is_unmeant(rule), |_| false);
        let hard = hard.iter().map(|(_, rule)| rule.action).max();
        let caller = subject.ask_because.as_ref().map(|_| Ask);
        action
            .max(hard.unwrap_or(Allow))
            .max(caller.unwrap_or(Allow))
    }

    /// The rules that count for a subject: the one that decides, and those of its spellings.
    fn counted<'r>(
        &self,
        rules: &[&'r Rule],
        subject: &Subject,
        heard: impl Fn(&Rule) -> bool,
        may_lift: impl Fn(&Rule) -> bool,
    ) -> Vec<Placed<'r>> {
        let is_command = subject.kind == SubjectKind::Command;
        let about = (0..).zip(rules.iter().copied());
        let about = about.filter(|(_, rule)| self.is_about(rule, subject) && heard(rule));
        let about: Vec<Placed<'r>> = about.collect();
        let last = |text: &str, is_other: bool| {
            let hit = |(_, rule): &&Placed<'r>| {
                let is_deaf = is_command && is_other && !names_a_program(&rule.pattern);
                self.fits(&rule.pattern, text, subject) && (rule.action == Allow || !is_deaf)
            };
            about.iter().rfind(hit).copied()
        };
        let mut decider = last(&subject.canonical, false);
        if subject.kind == SubjectKind::Name {
            return decider.into_iter().collect();
        }
        let is_later = |at: i64, decider: Option<Placed<'_>>| decider.is_none_or(|it| at > it.0);
        let source = last(&subject.source, false);
        if let Some((at, rule)) = source
            && decider.is_none_or(|(_, rule)| rule.action != Allow)
            && (rule.action == Allow && is_later(at, decider) && may_lift(rule))
        {
            decider = source;
        }
        let others = subject.others.iter().map(|text| last(text, true));
        let spellings = [source].into_iter().chain(others).flatten();
        let counts = |(at, rule): &Placed<'_>| {
            let is_here = is_command || self.fits(&rule.pattern, &subject.canonical, subject);
            rule.action != Allow && (is_later(*at, decider) || !is_here)
        };
        decider
            .into_iter()
            .chain(spellings.filter(counts))
            .collect()
    }

    fn is_about(&self, rule: &Rule, subject: &Subject) -> bool {
        let is_named = |name: &str| glob(self.platform, &rule.permission, name);
        is_named(&subject.permission) || subject.narrower.is_some_and(is_named)
    }

    fn fits(&self, pattern: &Pattern, text: &str, subject: &Subject) -> bool {
        if !pattern.is_about_arguments() {
            return matches(self.platform, pattern, text);
        }
        let conditions = pattern.text().strip_prefix("arg:").unwrap();
        conditions.split(" && ").all(|condition| {
            let (name, want) = condition.split_once('=').unwrap();
            let mut arguments = subject.arguments.iter();
            arguments.any(|(it, value)| it == name && glob(self.platform, want, value))
        })
    }

    /// Whether a reply is no broader than an ask: the same, or seen to be all inside it.
    fn covers(&self, ask: &Pattern, reply: &Pattern) -> bool {
        if ask == reply || (ask.text() == "*" && !ask.is_exact()) {
            return true;
        }
        if ask.is_exact() || ask.is_about_arguments() || reply.is_about_arguments() {
            return false;
        }
        let is_plain = |text: &str| !text.contains(['*', '?']);
        let [outer, inner] = [ask, reply].map(|it| folded(self.platform, it.text()));
        let [outer, inner] = [&outer, &inner].map(|it| it.strip_prefix("path:").unwrap_or(it));

        // All that begins with some text, all that lies in some folder.
        let begin = outer.strip_suffix(if ask.is_path() { "**" } else { "*" });
        let begin = begin.filter(|it| is_plain(it) && (!ask.is_path() || it.ends_with('/')));
        let all_begin = inner.split(['*', '?']).next().unwrap();
        let all_begin = all_begin.strip_suffix(' ').unwrap_or(all_begin);
        if begin.is_some_and(|begin| !all_begin.is_empty() && all_begin.starts_with(begin)) {
            return true;
        }
        // The reply as a text, and without what may be missing from it.
        let shortest = reply.text().strip_suffix(" *").unwrap_or(reply.text());
        let is_match = |text: &str| matches(self.platform, ask, text);
        !(ask.is_path() || reply.is_path())
            && (is_plain(reply.text()) || !ask.text().contains('?'))
            && (is_match(reply.text()) && is_match(shortest))
    }
}

/// The hardenings, as far as the world of these tests has what they guard: what asks, and whether a yes
/// holds once.
fn guards(
    subject: &Subject,
    found: Option<&Rule>,
    layers: &RuleLayers,
) -> Vec<(&'static str, bool)> {
    let mut absolute = [&subject.source].into_iter().chain(&subject.others);
    let lies_in = |folder: &str, path: &String| format!("/{path}").contains(folder);
    let is_secret = absolute.clone().any(|path| lies_in("/.ssh/", path));
    let is_configuration = absolute.any(|path| lies_in("/.kilo/", path));
    let names = subject
        .others
        .iter()
        .map(|path| path.rsplit('/').next().unwrap());
    let mut names = names.chain([subject.canonical.as_str()]);
    let is_environment = names.any(|name| name.to_lowercase().ends_with(".env"));

    let is_wide = |it: &Rule| it.permission.contains(['*', '?']) || it.pattern.is_about_arguments();
    let names_nothing = |rule: &Rule| {
        let text = rule.pattern.text();
        let text = text.strip_prefix("path:").unwrap_or(text);
        !is_exact(rule) && !text.contains(char::is_alphanumeric)
    };
    let is_broad = found.is_none_or(|rule| is_wide(rule) || names_nothing(rule));
    let names_secret = found.is_some_and(|it| !is_wide(it) && it.pattern.text().contains(".ssh"));
    let is_read = subject.kind == SubjectKind::Path && subject.permission == "read";
    let is_change = [Some(&*subject.permission), subject.narrower]
        .iter()
        .any(|name| matches!(name, Some("edit" | "external_directory.write")));

    let (secret, configuration) = ("*.ssh/*", "*.kilo/*");
    let is_closed = !layers.is_configuration_open;
    [
        (is_read && is_environment && is_broad, ("*.env", false)),
        (is_read && is_secret && !names_secret, (secret, false)),
        (
            is_read && is_configuration && is_broad,
            (configuration, false),
        ),
        (is_change && is_secret, (secret, true)),
        (
            is_change && is_configuration && is_closed,
            (configuration, true),
        ),
    ]
    .into_iter()
    .filter_map(|(speaks, guard)| speaks.then_some(guard))
    .collect()
}

fn is_exact(rule: &Rule) -> bool {
    rule.pattern.is_exact()
}

fn is_star(rule: &Rule) -> bool {
    !is_exact(rule) && rule.pattern.text() == "*"
}

/// Whether its first word is a name, but for wildcards at that word's end.
fn names_a_program(pattern: &Pattern) -> bool {
    if pattern.is_path() || pattern.is_about_arguments() {
        return false;
    }
    let is_wild = |c: char| (c == '*' || c == '?') && !pattern.is_exact();
    let before = pattern.text().split(is_wild).next().unwrap();
    if pattern.is_exact() {
        return !before.is_empty();
    }
    let word = pattern.text().split_whitespace().next().unwrap_or("");
    let word = word.trim_end_matches(is_wild);
    !word.is_empty() && before.contains(word)
}
