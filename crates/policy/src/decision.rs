//! The one decision function and what it returns.
//!
//! Must not: be made elsewhere; a [`Decision`] has no other constructor and no setter.

use std::cmp::Ordering;
use std::sync::{Arc, LazyLock};

use crate::harden;
use crate::index::{Found, List};
use crate::rule::{Action, Rule};
use crate::ruleset::{Layer, Ruleset};
use crate::spelling::{Verdict, judge, judge_by, unnamed};
use crate::subject::Subject;
use crate::trace::{StepKind, Trace, Trail};
use crate::wildcard::Platform;

/// A yes, by whom and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Who said it, for the record.
    pub who: String,
    /// When, in milliseconds of the caller's clock.
    pub at_ms: u64,
}

/// Where the action of a decision comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnsweredBy {
    /// A rule.
    Rule {
        /// The rule.
        rule: Rule,
        /// The list it stands in.
        layer: Layer,
    },
    /// No rule: none matched, or caution made an ask of what the rules allow (an opaque command,
    /// `ask_because`, nothing asked about). The trace says which.
    Default,
    /// A yes to what the rules left as an ask.
    Approver(Answer),
}

/// The engine's answer for all subjects of one question. Only [`decide`] makes one.
#[derive(Clone, Debug)]
pub struct Decision {
    action: Action,
    by: AnsweredBy,
    /// Which subject decided; out of range when there are none.
    deciding: usize,
    rule: Option<(Layer, usize)>,
    /// The hardening that decided, which stands in no layer.
    guard: Option<&'static Rule>,
    once_only: Option<&'static str>,
    rules: Arc<Ruleset>,
    subjects: Arc<[Subject]>,
}

impl Decision {
    /// What to do.
    pub fn action(&self) -> Action {
        self.action
    }

    /// Where the action comes from.
    pub fn by(&self) -> &AnsweredBy {
        &self.by
    }

    /// The answer it rests on, if it rests on one.
    pub fn answer(&self) -> Option<&Answer> {
        match &self.by {
            AnsweredBy::Approver(answer) => Some(answer),
            AnsweredBy::Rule { .. } | AnsweredBy::Default => None,
        }
    }

    /// The generation of the rules it was made under.
    pub fn generation(&self) -> u64 {
        self.rules.generation()
    }

    /// The subject that decided: the first of the strictest, one beside a command behind all others. An empty
    /// one if nothing was asked about.
    pub fn subject(&self) -> &Subject {
        static NOTHING: LazyLock<Subject> = LazyLock::new(Subject::nothing);
        self.subjects.get(self.deciding).unwrap_or(&NOTHING)
    }

    /// Why a yes to this holds once and is never kept, if so: a protected path, or a rule about
    /// arguments. Of the first subject for which there is a reason.
    pub fn once_only(&self) -> Option<&'static str> {
        self.once_only
    }

    /// The rules it was made under.
    pub(crate) fn rules(&self) -> &Arc<Ruleset> {
        &self.rules
    }

    /// What was asked about.
    pub fn subjects(&self) -> &Arc<[Subject]> {
        &self.subjects
    }

    /// The rule that decided before anybody answered, if one did.
    pub fn rule(&self) -> Option<&Rule> {
        if self.guard.is_some() {
            return self.guard;
        }
        let (layer, index) = self.rule?;
        self.rules.layers().of(layer).get(index)
    }

    /// How it was reached. Walks the same way again, so a decision nobody asks about costs nothing.
    pub fn trace(&self) -> Trace {
        let mut trail = Trail::recording();
        let others = self
            .subjects
            .iter()
            .enumerate()
            .filter(|(index, _)| *index != self.deciding);
        for (_, subject) in others {
            walk(&self.rules, subject, Guards::All, &mut trail);
        }
        match self.subjects.get(self.deciding) {
            Some(subject) => {
                walk(&self.rules, subject, Guards::All, &mut trail);
            }
            None => trail.step(
                StepKind::Default,
                self.subject(),
                "",
                None,
                Action::Ask,
                "nothing to judge",
            ),
        }
        if let AnsweredBy::Approver(answer) = &self.by {
            let note = format!("{} said yes at {} ms", answer.who, answer.at_ms);
            let subject = self.subject();
            trail.step(
                StepKind::Answer,
                subject,
                &subject.canonical,
                self.rule(),
                Action::Allow,
                &note,
            );
        }
        trail.into_trace()
    }
}

/// Decides: the strictest answer over the subjects, nothing to judge being an ask. An `answer` is a yes;
/// it turns an ask into an allow and never lifts a deny.
///
/// Each subject is walked in this order, and no step undoes a deny:
/// 1. The base rules by the spelling rule; no match asks. If there are rules of the project, the whole
///    walk is done again with them behind the base rules, and the stricter of the two counts.
///    A built-in ask of any change yields where somebody's own rule allows the command that makes it.
/// 2. An opaque command is allowed only if `*` is and no narrower base rule asks or denies it, or denies
///    to read or edit something.
/// 3. Hardenings: a broad allow asks where it is not meant.
/// 4. Session and saved rules: a deny counts, an allow lifts an ask it lies inside of, an ask is no reply.
/// 5. Hard rules: only ever stricter.
/// 6. `ask_because`: an allow becomes an ask.
pub fn decide(
    rules: &Arc<Ruleset>,
    subjects: &Arc<[Subject]>,
    answer: Option<&Answer>,
) -> Decision {
    let mut worst: Option<(usize, Standing<'_>)> = None;
    let mut once_only = None;
    for (index, subject) in subjects.iter().enumerate() {
        let standing = walk(rules, subject, Guards::All, &mut Trail::silent());
        once_only = once_only.or(standing.once_only);
        // Of equal answers the one about a command says more than that about a file beside it.
        let rank = |action: Action, subject: &Subject| (action, !subject.is_beside);
        let is_graver = worst.as_ref().is_none_or(|(at, worst)| {
            let before = subjects.get(*at).map(|it| rank(worst.action, it));
            Some(rank(standing.action, subject)) > before
        });
        if is_graver {
            worst = Some((index, standing));
        }
    }
    let (deciding, standing) = worst.unwrap_or((0, Standing::cautious()));
    let (action, by) = match (standing.action, answer, &standing.by) {
        (Action::Ask, Some(answer), _) => (Action::Allow, AnsweredBy::Approver(answer.clone())),
        (action, _, Some(by)) => (
            action,
            AnsweredBy::Rule {
                rule: by.rule.clone(),
                layer: by.layer,
            },
        ),
        (action, _, None) => match standing.guard {
            Some(rule) => {
                let (rule, layer) = (rule.clone(), Layer::Base);
                (action, AnsweredBy::Rule { rule, layer })
            }
            None => (action, AnsweredBy::Default),
        },
    };
    Decision {
        action,
        by,
        deciding,
        rule: standing.by.map(|by| (by.layer, by.index)),
        guard: standing.guard,
        once_only,
        rules: Arc::clone(rules),
        subjects: Arc::clone(subjects),
    }
}

/// How a subject stands at some point of the walk.
#[derive(Debug)]
struct Standing<'r> {
    action: Action,
    by: Option<Placed<'r>>,
    /// The hardening that asks, if that is why.
    guard: Option<&'static Rule>,
    /// Why a yes holds once, if so.
    once_only: Option<&'static str>,
}

/// A rule and where it stands.
#[derive(Debug)]
struct Placed<'r> {
    layer: Layer,
    index: usize,
    rule: &'r Rule,
}

impl<'r> Standing<'r> {
    fn by(layer: Layer, (index, rule): (usize, &'r Rule)) -> Self {
        Self {
            action: rule.action,
            by: Some(Placed { layer, index, rule }),
            guard: None,
            once_only: None,
        }
    }

    /// The rule it rests on, if it rests on one.
    fn rule(&self) -> Option<&'r Rule> {
        self.by.as_ref().map(|by| by.rule)
    }

    fn cautious() -> Self {
        Self {
            action: Action::Ask,
            by: None,
            guard: None,
            once_only: None,
        }
    }
}

/// What the rules say to a subject where no hardening has a say.
pub(crate) fn action_by_rules(rules: &Ruleset, subject: &Subject) -> Action {
    walk(rules, subject, Guards::None, &mut Trail::silent()).action
}

/// Which hardenings are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Guards {
    All,
    None,
}

/// Walks one subject through the steps of [`decide`], all but the answer.
fn walk<'r>(
    rules: &'r Ruleset,
    subject: &Subject,
    guards: Guards,
    trail: &mut Trail,
) -> Standing<'r> {
    let base = rules.list(Layer::Base);
    let Some(both) = rules.tightened() else {
        return walk_from(base, rules, subject, guards, trail);
    };
    let (mut trail_without, mut trail_with) = (trail.fresh(), trail.fresh());
    let without = walk_from(base, rules, subject, guards, &mut trail_without);
    let with = walk_from(both, rules, subject, guards, &mut trail_with);
    let by = with.rule();
    let (standing, note) = match with.action.cmp(&without.action) {
        Ordering::Equal => {
            trail.append(trail_without);
            return without;
        }
        Ordering::Greater => {
            trail.append(trail_with);
            let note = format!("stricter than without the project: {}", without.action);
            (with, note)
        }
        Ordering::Less => {
            trail.append(trail_without);
            let note = format!("a project only tightens: it would say {}", with.action);
            (without, note)
        }
    };
    let text = &subject.canonical;
    trail.step(StepKind::Project, subject, text, by, standing.action, &note);
    standing
}

/// Walks one subject with these rules for a base: those of the layer, or those of the project behind
/// them.
fn walk_from<'r>(
    base_list: List<'r>,
    rules: &'r Ruleset,
    subject: &Subject,
    guards: Guards,
    trail: &mut Trail,
) -> Standing<'r> {
    let mut base = judge(Layer::Base, base_list, subject, trail);
    let nothing = || Standing {
        action: unnamed(subject),
        ..Standing::cautious()
    };
    let mut standing = base.found.map_or_else(nothing, |(index, rule)| {
        let of_project = index.checked_sub(rules.layers().base.len());
        let (layer, index) = match of_project {
            Some(index) => (Layer::Project, index),
            None => (Layer::Base, index),
        };
        Standing::by(layer, (index, rule))
    });
    if let Some(allow) = vouching(base_list, &base, subject) {
        base.asks.clear();
        standing = Standing::by(Layer::Base, allow);
        let (kind, note) = (
            StepKind::By,
            "its command is allowed by more than a built-in rule",
        );
        let text = &subject.canonical;
        trail.step(kind, subject, text, Some(allow.1), standing.action, note);
    }
    if let Some(why) = &subject.opaque
        && let Some((_, allow)) = base.found
        && standing.action == Action::Allow
    {
        let section = base_list.about(&subject.permission, subject.narrower);
        // It may read and change files too, so what is forbidden there is in its reach.
        let forbidden = |permission| base_list.about(permission, None).last_narrow_deny();
        let narrower = section
            .last_caution()
            .or_else(|| forbidden("read"))
            .or_else(|| forbidden("edit"));
        if !allow.pattern.is_catch_all() || narrower.is_some() {
            standing = Standing::cautious();
            let note = format!("a pattern is not enough for what cannot be told: {why}");
            trail.step(
                StepKind::Opaque,
                subject,
                &subject.source,
                narrower,
                standing.action,
                &note,
            );
        }
    }
    if base.asks.iter().any(|ask| ask.pattern.is_about_arguments()) {
        standing.once_only = Some("a rule about its arguments asks");
    }
    if guards == Guards::All && standing.action != Action::Deny {
        let around = harden::Around {
            found: base.found.map(|(_, rule)| rule),
            layers: rules.layers(),
        };
        for guarded in harden::guards(subject, around) {
            base.asks.push(guarded.rule);
            let once_only = standing.once_only.or(guarded.once_only);
            if standing.action == Action::Allow {
                standing = Standing {
                    guard: Some(guarded.rule),
                    ..Standing::cautious()
                };
            }
            standing.once_only = once_only;
            let text = &subject.canonical;
            let rule = Some(guarded.rule);
            trail.step(
                StepKind::Guard,
                subject,
                text,
                rule,
                Action::Ask,
                guarded.note,
            );
        }
    }
    reply(Layer::Session, rules, subject, &base, &mut standing, trail);
    reply(Layer::Saved, rules, subject, &base, &mut standing, trail);
    harden(rules, subject, &mut standing, trail);
    if let Some(why) = &subject.ask_because
        && standing.action == Action::Allow
    {
        standing = Standing::cautious();
        trail.step(
            StepKind::AskBecause,
            subject,
            &subject.canonical,
            None,
            standing.action,
            why,
        );
    }
    standing
}

/// The rule that allows the command by which a file is changed, where it says more than what asks about
/// the file: only a built-in list does, of any file, and the rule is somebody's own.
fn vouching<'r>(list: List<'r>, of_file: &Verdict<'r>, file: &Subject) -> Option<Found<'r>> {
    let command = file.by.as_ref().filter(|_| file.permission == "edit")?;
    let is_general = |ask: &&Rule| ask.origin.is_built_in() && ask.pattern.is_catch_all();
    let is_asked = of_file.action() == Action::Ask && of_file.found.is_some();
    if !is_asked || !of_file.asks.iter().all(is_general) {
        return None;
    }
    let found = judge(Layer::Base, list, command, &mut Trail::silent()).found;
    // A redirect is the shell's, and only a rule about all commands speaks of it.
    let is_meant = |rule: &Rule| file.is_beside || rule.pattern.is_catch_all();
    let is_own = |rule: &Rule| rule.action == Action::Allow && !rule.origin.is_built_in();
    found.filter(|(_, rule)| is_own(rule) && is_meant(rule))
}

/// Applies a layer of replies.
fn reply<'r>(
    layer: Layer,
    rules: &'r Ruleset,
    subject: &Subject,
    base: &Verdict<'r>,
    standing: &mut Standing<'r>,
    trail: &mut Trail,
) {
    let list = rules.list(layer);
    let silent = &mut Trail::silent();
    let Some(mut found) = judge(layer, list, subject, silent).found else {
        return;
    };
    let is_inside = |rule: &Rule| lies_inside(list.platform(), rule, base);
    if found.1.action == Action::Allow && !is_inside(found.1) {
        // An answer that is too broad hides none that was given to just this.
        let keep = |rule: &Rule| rule.action != Action::Allow || is_inside(rule);
        let narrower = judge_by(layer, list, subject, keep, silent).found;
        found = narrower
            .filter(|(_, rule)| rule.action == Action::Allow)
            .unwrap_or(found);
    }
    let rule = found.1;
    let note = match (rule.action, standing.action) {
        (Action::Deny, Action::Allow | Action::Ask) => {
            *standing = Standing::by(layer, found);
            ""
        }
        (Action::Allow, Action::Ask) if standing.once_only.is_some() => "a yes to this holds once",
        (Action::Allow, Action::Ask) if is_inside(rule) => {
            *standing = Standing::by(layer, found);
            "lifts the ask"
        }
        (Action::Allow, Action::Ask) => "broader than the ask it would lift",
        (Action::Allow, Action::Deny) => "does not lift a deny",
        // COMPAT: a saved ask is no reply; it neither lifts nor tightens.
        (Action::Ask, _) => "an ask is no reply",
        (Action::Allow, Action::Allow) | (Action::Deny, Action::Deny) => "changes nothing",
    };
    let step = if layer == Layer::Session {
        StepKind::Session
    } else {
        StepKind::Saved
    };
    trail.step(
        step,
        subject,
        &subject.canonical,
        Some(rule),
        standing.action,
        note,
    );
}

/// Whether a reply covers no more than the asks it would lift. An exact one covers this subject only,
/// and this subject is what they asked about.
fn lies_inside(platform: Platform, rule: &Rule, base: &Verdict<'_>) -> bool {
    let covers = |ask: &&Rule| ask.pattern.covers(platform, &rule.pattern);
    rule.pattern.is_exact() || base.asks.iter().all(covers)
}

/// Applies the hard rules.
fn harden<'r>(
    rules: &'r Ruleset,
    subject: &Subject,
    standing: &mut Standing<'r>,
    trail: &mut Trail,
) {
    let Some(found) = judge(
        Layer::Hard,
        rules.list(Layer::Hard),
        subject,
        &mut Trail::silent(),
    )
    .found
    else {
        return;
    };
    if found.1.action <= standing.action {
        return;
    }
    *standing = Standing::by(Layer::Hard, found);
    trail.step(
        StepKind::Hard,
        subject,
        &subject.canonical,
        Some(found.1),
        standing.action,
        "",
    );
}
