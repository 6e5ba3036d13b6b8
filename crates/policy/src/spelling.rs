//! The spelling rule: what one layer of rules says about a subject that can be written in many ways.
//!
//! Must not: know the other layers, or work out a spelling.
//!
//! The canonical text decides. The source text may turn the answer into an allow, if a later rule says
//! so and nothing in it is dynamic. Source and other spellings may make it stricter. Nothing is ever
//! allowed because of another spelling.

use crate::index::{Found, List};
use crate::rule::{Action, Rule};
use crate::ruleset::Layer;
use crate::subject::{Subject, SubjectKind};
use crate::trace::{StepKind, Trail};
use crate::wildcard::Platform;

/// What a layer says about a subject.
#[derive(Debug, Default)]
pub(crate) struct Verdict<'r> {
    /// The rule that decides, if any speaks: the strictest of those that count, the latest of equals.
    pub(crate) found: Option<Found<'r>>,
    /// Every rule that counts and asks. What lifts the ask has to lie inside all of them.
    pub(crate) asks: Vec<&'r Rule>,
}

impl<'r> Verdict<'r> {
    /// Adds a rule that counts.
    fn count(&mut self, rule: Found<'r>) {
        if rule.1.action == Action::Ask {
            self.asks.push(rule.1);
        }
        let rank = |(index, rule): Found<'r>| (rule.action, index);
        self.found = match self.found {
            Some(found) if rank(found) > rank(rule) => Some(found),
            _ => Some(rule),
        };
    }

    /// How the subject stands by this layer alone; a base layer that says nothing asks.
    pub(crate) fn action(&self) -> Action {
        self.found.map_or(Action::Ask, |(_, rule)| rule.action)
    }
}

/// Judges one subject by the rules of one layer.
pub(crate) fn judge<'r>(
    layer: Layer,
    list: List<'r>,
    subject: &Subject,
    trail: &mut Trail,
) -> Verdict<'r> {
    judge_by(layer, list, subject, |_| true, trail)
}

/// The same, by those of the rules that are kept.
pub(crate) fn judge_by<'r>(
    layer: Layer,
    list: List<'r>,
    subject: &Subject,
    keep: impl Fn(&Rule) -> bool,
    trail: &mut Trail,
) -> Verdict<'r> {
    // Found once, since each spelling is held against the same rules.
    let section = list.about(&subject.permission, subject.narrower);
    let is_heard = |rule: &Rule| is_heard(layer, subject, rule) && keep(rule);
    let last = |text: &str| section.last(subject, text, is_heard);
    let mut verdict = Verdict::default();
    let mut decider = last(&subject.canonical);
    let (action, note) = match decider {
        Some((_, rule)) => (rule.action, ""),
        None if subject.is_possible => {
            let note = "it may not be touched at all, and no rule names it";
            (unnamed(subject), note)
        }
        None if subject.is_beside => (unnamed(subject), "no rule speaks of it beside its command"),
        None => (unnamed(subject), "no rule matches"),
    };
    let kind = decider.map_or(StepKind::Default, |_| StepKind::Rule);
    let rule = decider.map(|(_, rule)| rule);
    trail.step(kind, subject, &subject.canonical, rule, action, note);

    // The same text finds the same rule, which neither lifts nor counts.
    let is_source_apart = subject.kind != SubjectKind::Name && subject.source != subject.canonical;
    let source = if is_source_apart {
        last(&subject.source)
    } else {
        None
    };
    if let Some(found) = source
        && is_later(found, decider)
        && lifts(layer, subject, found.1)
        && decider.is_none_or(|(_, rule)| rule.action != Action::Allow)
    {
        decider = source;
        let note = "a later rule allows it as it is written";
        trail.step(
            StepKind::Source,
            subject,
            &subject.source,
            Some(found.1),
            Action::Allow,
            note,
        );
    }
    if let Some(found) = decider {
        verdict.count(found);
    }

    if let Some(found) = source
        && counts(list.platform(), subject, found, decider)
    {
        verdict.count(found);
        let note = "the text as it is written counts";
        trail.step(
            StepKind::Source,
            subject,
            &subject.source,
            Some(found.1),
            verdict.action(),
            note,
        );
    }
    for text in &subject.others {
        let reaches = |rule: &Rule| is_heard(rule) && reaches_spellings(subject.kind, rule);
        if let Some(found) = section.last(subject, text, reaches)
            && counts(list.platform(), subject, found, decider)
        {
            verdict.count(found);
            let note = "another spelling counts";
            trail.step(
                StepKind::Other,
                subject,
                text,
                Some(found.1),
                verdict.action(),
                note,
            );
        }
    }
    verdict
}

/// Whether a rule has a say at all.
pub(crate) fn is_heard(layer: Layer, subject: &Subject, rule: &Rule) -> bool {
    if subject.is_possible && rule.pattern.is_catch_all() {
        return false;
    }
    // An ask of everything is meant for the command, and has been heard there.
    let is_of_all = rule.permission.contains(['*', '?']) && rule.pattern.is_catch_all();
    if subject.is_beside && is_of_all && rule.action == Action::Ask {
        return false;
    }
    match layer {
        // COMPAT: a blanket deny of everything does not reach directories outside, or every agent with
        // an allow list would lose the ones its user has opened.
        Layer::Base | Layer::Project => {
            !(subject.permission == "external_directory" && is_blanket_deny(rule))
        }
        Layer::Session | Layer::Saved => rule.action != Action::Allow || is_answered(subject, rule),
        Layer::Hard => true,
    }
}

/// What holds for a subject that no rule speaks of.
pub(crate) fn unnamed(subject: &Subject) -> Action {
    if subject.is_possible || subject.is_beside {
        Action::Allow
    } else {
        Action::Ask
    }
}

/// Whether a reply that was kept can speak of this subject.
fn is_answered(subject: &Subject, rule: &Rule) -> bool {
    if rule.pattern.is_exact() && rule.pattern.text() == subject.source {
        return true;
    }
    // SECURITY: a reply to one exact command was given to these very characters: its canonical text may
    // be that of another command. And a reply for a pattern was given without knowing what an opaque
    // command would run.
    let is_other = subject.kind == SubjectKind::Command && rule.pattern.is_exact();
    subject.opaque.is_none() && !is_other
}

fn is_blanket_deny(rule: &Rule) -> bool {
    rule.permission == "*" && rule.pattern.is_catch_all() && rule.action == Action::Deny
}

/// Whether a rule that matches the source text may overrule a stricter one on the canonical text.
fn lifts(layer: Layer, subject: &Subject, rule: &Rule) -> bool {
    let is_known = subject.is_literal && subject.opaque.is_none();
    let may = match layer {
        Layer::Base | Layer::Project => is_known,
        // An exact reply was given to these very characters, known or not.
        Layer::Session | Layer::Saved => is_known || rule.pattern.is_exact(),
        Layer::Hard => false,
    };
    may && rule.action == Action::Allow
}

/// Whether a rule is looked at for spellings other than the source.
fn reaches_spellings(kind: SubjectKind, rule: &Rule) -> bool {
    match kind {
        SubjectKind::Name => false,
        SubjectKind::Path => true,
        // A pattern that names no program speaks of the line as it was typed. Such an ask or deny is
        // passed over and not merely ignored when last, or one more deny could hide a stricter rule.
        SubjectKind::Command => rule.action == Action::Allow || rule.pattern.names_a_program(),
    }
}

/// Whether the last match on the source or another spelling makes the answer stricter.
fn counts(
    platform: Platform,
    subject: &Subject,
    found: Found<'_>,
    decider: Option<Found<'_>>,
) -> bool {
    let (_, rule) = found;
    let is_overruled = match subject.kind {
        // An earlier rule has been overruled only where it matches the real path too.
        SubjectKind::Path => {
            let is_about_it = |text| rule.pattern.fits_on(platform, text, subject);
            !is_later(found, decider) && is_about_it(&subject.canonical)
        }
        SubjectKind::Name | SubjectKind::Command => !is_later(found, decider),
    };
    rule.action != Action::Allow && !is_overruled
}

fn is_later(found: Found<'_>, decider: Option<Found<'_>>) -> bool {
    decider.is_none_or(|(index, _)| found.0 > index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Index;
    use crate::pattern::Pattern;
    use crate::rule::Origin;

    use Action::{Allow, Ask, Deny};

    fn rules(permission: &str, written: &[(&str, Action)]) -> Vec<Rule> {
        let rule = |&(pattern, action): &(&str, Action)| {
            Rule::new(
                permission,
                Pattern::wildcard(pattern),
                action,
                Origin::named("t"),
            )
        };
        written.iter().map(rule).collect()
    }

    fn judged(layer: Layer, rules: &[Rule], subject: &Subject) -> Action {
        let index = Index::new(Platform::Unix, rules);
        let list = List::new(rules, &index);
        judge(layer, list, subject, &mut Trail::silent()).action()
    }

    fn base(written: &[(&str, Action)], subject: &Subject) -> Action {
        judged(Layer::Base, &rules(&subject.permission, written), subject)
    }

    fn command(canonical: &str, source: &str, others: &[&str]) -> Subject {
        Subject::command(
            "bash",
            canonical,
            source,
            others.iter().map(|&text| text.to_owned()).collect(),
        )
    }

    #[test]
    fn rule_1_a_later_allow_of_the_source_text_lifts() {
        let quoted = command("rm x", "'rm' x", &[]);
        assert_eq!(base(&[("rm *", Deny), ("'rm' *", Allow)], &quoted), Allow);
        assert_eq!(base(&[("'rm' *", Allow), ("rm *", Deny)], &quoted), Deny);
        assert_eq!(
            base(&[("'rm' *", Allow)], &quoted),
            Allow,
            "nothing matches the canonical text"
        );
    }

    #[test]
    fn rule_1_does_not_move_an_allow_past_a_denial_of_another_spelling() {
        let both = command("/bin/rm x", "'/bin/rm' x", &["rm x"]);
        assert_eq!(
            base(
                &[("*", Allow), ("rm *", Deny), ("'/bin/rm' *", Allow)],
                &both
            ),
            Deny
        );
        assert_eq!(
            base(&[("*", Ask), ("rm *", Deny), ("'/bin/rm' *", Allow)], &both),
            Allow
        );
    }

    #[test]
    fn rule_1_does_not_lift_a_hard_deny() {
        let quoted = command("rm x", "'rm' x", &[]);
        let rules = rules("bash", &[("rm *", Deny), ("'rm' *", Allow)]);
        assert_eq!(judged(Layer::Hard, &rules, &quoted), Deny);
    }

    #[test]
    fn rule_1_wants_literal_words() {
        let mut dynamic = command("echo $X", "echo  $X", &[]);
        dynamic.is_literal = false;
        assert_eq!(base(&[("*", Ask), ("echo  $*", Allow)], &dynamic), Ask);
        dynamic.is_literal = true;
        assert_eq!(base(&[("*", Ask), ("echo  $*", Allow)], &dynamic), Allow);
    }

    #[test]
    fn rule_2_a_later_deny_of_another_spelling_counts() {
        let by_path = command("/bin/rm x", "/bin/rm x", &["rm x"]);
        assert_eq!(base(&[("*", Allow), ("rm *", Deny)], &by_path), Deny);
        assert_eq!(base(&[("*", Allow), ("rm *", Ask)], &by_path), Ask);
        assert_eq!(
            base(&[("rm *", Deny), ("*", Allow)], &by_path),
            Allow,
            "an earlier one does not"
        );
        assert_eq!(
            base(&[("rm *", Deny)], &by_path),
            Deny,
            "nothing matches the canonical text"
        );
        assert_eq!(
            base(&[("*", Ask), ("rm *", Allow)], &by_path),
            Ask,
            "an allow never counts"
        );
    }

    #[test]
    fn rule_2_wants_a_pattern_that_names_a_program_except_on_the_source_text() {
        let skipped = command("git -C . push", "git -C '.' push", &["git push"]);
        assert_eq!(base(&[("*", Allow), ("*t push", Deny)], &skipped), Allow);
        assert_eq!(base(&[("*", Allow), ("git push *", Deny)], &skipped), Deny);
        assert_eq!(base(&[("*", Allow), ("*'*", Ask)], &skipped), Ask);
        let hidden = [("*", Allow), ("git push *", Deny), ("g?t p*", Deny)];
        assert_eq!(base(&hidden, &skipped), Deny, "one more deny hides none");
    }

    #[test]
    fn rule_2_keeps_the_strictest() {
        let both = command("/bin/a", "'/bin/a'", &["a", "b"]);
        let written = [("*", Allow), ("'*", Ask), ("a", Deny), ("b", Ask)];
        assert_eq!(base(&written, &both), Deny);
        let rules = rules("bash", &written);
        let index = Index::new(Platform::Unix, &rules);
        let list = List::new(&rules, &index);
        let verdict = judge(Layer::Base, list, &both, &mut Trail::silent());
        assert_eq!(
            (verdict.found.map(|(index, _)| index), verdict.asks.len()),
            (Some(2), 2)
        );
    }

    #[test]
    fn rule_5_no_base_rule_lifts_a_deny_of_an_opaque_command() {
        let mut opaque = command("rm x", "'rm' x", &[]);
        opaque.opaque = Some("dynamic program".into());
        assert_eq!(base(&[("rm *", Deny), ("'rm' *", Allow)], &opaque), Deny);
    }

    #[test]
    fn rule_7_a_path_is_allowed_by_its_real_spelling_only() {
        let link = Subject::path("read", "b", "/w/b", vec!["a".into(), "/w/a".into()]);
        assert_eq!(base(&[("a", Allow), ("/w/a", Allow)], &link), Ask);
        assert_eq!(base(&[("b", Allow)], &link), Allow);
        assert_eq!(base(&[("b", Deny), ("/w/b", Allow)], &link), Allow);
        assert_eq!(base(&[("/w/b", Allow), ("b", Deny)], &link), Deny);
    }

    #[test]
    fn rule_7_any_spelling_of_a_path_may_deny_it() {
        let link = Subject::path("read", "b", "/w/b", vec!["a".into(), "/w/a".into()]);
        for (pattern, order) in [("a", 0), ("a", 1), ("/w/a", 0), ("/w/b", 0), ("/w/*", 1)] {
            let mut written = vec![("b", Allow)];
            written.insert(order, (pattern, Deny));
            assert_eq!(base(&written, &link), Deny, "{written:?}");
        }
        // An earlier deny that also matches the real path has been overruled there, for every spelling.
        assert_eq!(base(&[("?", Deny), ("b", Allow)], &link), Allow);
        assert_eq!(base(&[("b", Allow), ("?", Deny)], &link), Deny);
    }

    #[test]
    fn a_name_has_one_spelling() {
        let mut name = Subject::name("skill", "a");
        name.source = "b".into();
        name.others = vec!["c".into()];
        assert_eq!(
            base(&[("a", Allow), ("b", Deny), ("c", Deny)], &name),
            Allow
        );
        assert_eq!(base(&[("a", Deny), ("b", Allow)], &name), Deny);
    }

    #[test]
    fn a_blanket_deny_does_not_reach_outside_directories() {
        let outside = Subject::name("external_directory", "/etc/*");
        let blanket = Rule::new("*", Pattern::wildcard("*"), Deny, Origin::named("t"));
        let own = Rule::new(
            "external_directory",
            Pattern::wildcard("*"),
            Deny,
            Origin::named("t"),
        );
        assert_eq!(
            judged(Layer::Base, std::slice::from_ref(&blanket), &outside),
            Ask
        );
        assert_eq!(judged(Layer::Base, &[own], &outside), Deny);
        assert_eq!(judged(Layer::Hard, &[blanket], &outside), Deny);
    }

    #[test]
    fn a_name_for_reading_or_writing_outside_is_heard_beside_the_name_for_both() {
        let outside = |narrower| {
            let mut subject = Subject::name("external_directory", "/etc/*");
            subject.narrower = Some(narrower);
            subject
        };
        let blanket = rules("*", &[("*", Deny)]).remove(0);
        let both = rules("external_directory", &[("*", Ask)]).remove(0);
        let mut written = vec![blanket, both];
        written.extend(rules("external_directory.read", &[("/etc/*", Allow)]));
        written.extend(rules("external_directory.write", &[("/etc/*", Deny)]));
        for (narrower, want) in [
            ("external_directory.read", Allow),
            ("external_directory.write", Deny),
        ] {
            let got = |layer, rules: &[Rule]| judged(layer, rules, &outside(narrower));
            assert_eq!(got(Layer::Base, &written), want, "{narrower}");
            assert_eq!(got(Layer::Base, &written[..2]), Ask, "{narrower}");
            assert_eq!(got(Layer::Base, &written[..1]), Ask, "{narrower}");
            assert_eq!(got(Layer::Hard, &written[..1]), Deny, "{narrower}");
        }
        let neither = Subject::name("external_directory", "/etc/*");
        assert_eq!(judged(Layer::Base, &written, &neither), Ask);
    }
}
