//! A decision in words for a person: what it is, why, and what to write to change it.
//!
//! Must not: need the manual. No word of ours that a user has not written or seen.

use std::sync::Arc;

use crate::decision::{Answer, AnsweredBy, Decision, decide};
use crate::explain::model::because;
use crate::explain::remedy::{allowing, without_project};
use crate::explain::shown::{in_json, instant, quoted, shown};
use crate::rule::{Action, Rule};
use crate::ruleset::Layer;
use crate::spelling::is_heard;
use crate::subject::{Subject, SubjectKind};
use crate::trace::{Step, StepKind};

/// Several lines. The first is the answer, `ask: `git push` (bash)`; the others stand below it and say
/// why, and what to write where to be allowed.
pub fn for_person(decision: &Decision) -> String {
    let title = format!("{}: {}", decision.action(), named(decision.subject()));
    let said_yes = |answer: &Answer| {
        let (who, at) = (shown(&answer.who), instant(answer.at_ms));
        vec![format!("Then {who} said yes, at {at}.")]
    };
    let last = match decision.answer() {
        Some(answer) => said_yes(answer),
        None => remedy(decision),
    };
    page(title, &[why(decision), beside(decision), last].concat())
}

/// The same for a permission whose tools are not on the table at all, by the rule that closes it.
pub fn closed_for_person(permission: &str, rule: &Rule, layer: Layer) -> String {
    let title = format!(
        "deny: a tool that needs {} is not offered at all",
        quoted(permission)
    );
    let says = format!(
        "{} closes it whole, and none behind it opens a part: {}",
        a_rule(rule, layer),
        cited(rule)
    );
    page(title, &[says])
}

fn page(title: String, lines: &[String]) -> String {
    let below: Vec<String> = lines.iter().map(|line| format!("\n  {line}")).collect();
    title + &below.concat() + "\n"
}

/// What a subject is, with the name that rules have for it.
fn named(subject: &Subject) -> String {
    let permission = subject.narrower.unwrap_or(&subject.permission);
    let what = match permission {
        "external_directory" => "outside the workspace, in ",
        "external_directory.read" => "reading outside the workspace, in ",
        "external_directory.write" => "writing outside the workspace, in ",
        _ => "",
    };
    match subject.as_asked() {
        "" if permission.is_empty() => "nothing was asked about".to_owned(),
        // All there is to say of a tool whose arguments are no names.
        "*" if subject.kind == SubjectKind::Name => quoted(permission),
        text => format!("{what}{} ({})", quoted(text), shown(permission)),
    }
}

/// How the deciding subject came to its answer, step by step.
fn why(decision: &Decision) -> Vec<String> {
    let subject = decision.subject();
    let alone: Arc<[Subject]> = match decision.subjects().len() {
        0 => return vec!["Where there is nothing to judge, a person is asked.".to_owned()],
        _ => Arc::from([subject.clone()]),
    };
    let steps = decide(decision.rules(), &alone, None).trace().steps;
    let mut lines = Vec::new();
    let mut before = None;
    for step in &steps {
        lines.extend(said(decision, step, before));
        before = Some(step.action);
    }
    lines
}

/// One step. `before` is how things stood.
fn said(decision: &Decision, step: &Step, before: Option<Action>) -> Vec<String> {
    let subject = decision.subject();
    let rule = step.rule.as_ref();
    let by = |layer: Layer| {
        rule.map(|rule| (a_rule(rule, layer), verb(rule.action), cited(rule)))
            .unwrap_or_default()
    };
    let (whose, does, cited_rule) = by(layer_of(decision, rule));
    let line = match step.step {
        StepKind::Rule => {
            let read_as = (step.pattern != subject.as_asked())
                .then(|| format!("It is read as {}.", quoted(&step.pattern)));
            let first = format!("{whose} {does}: {cited_rule}");
            let lines = read_as.into_iter().chain([first]);
            return lines.chain(overruled(decision, step)).collect();
        }
        StepKind::Default => not_spoken_of(subject, step.action).to_owned(),
        StepKind::Source => format!(
            "As it is written, {}, {} {does}: {cited_rule}",
            quoted(&step.pattern),
            lower(&whose)
        ),
        StepKind::Other => format!(
            "By another name it is {}, and {} {does}: {cited_rule}",
            quoted(&step.pattern),
            lower(&whose)
        ),
        StepKind::By => {
            format!("But its command is allowed by a rule that says more than that: {cited_rule}")
        }
        StepKind::Opaque => {
            let why = shown(subject.opaque.as_deref().unwrap_or_default());
            match rule {
                Some(_) => format!(
                    "But it cannot be told what would run ({why}). It may be what this rule is \
                     about, so it is asked: {cited_rule}"
                ),
                None => format!(
                    "But it cannot be told what would run ({why}), and only an allow of `*` is \
                     meant for that. So it is asked."
                ),
            }
        }
        StepKind::Guard => {
            let source = rule.map_or("", |rule| &rule.origin.source);
            let which = shown(source.strip_prefix("hardening: ").unwrap_or(source));
            let start = match before {
                Some(Action::Allow) => "But",
                _ => "Besides,",
            };
            format!("{start} {which} are asked about: {}.", shown(&step.note))
        }
        StepKind::Project => of_project(decision, step),
        StepKind::Session | StepKind::Saved => {
            let layer = if step.step == StepKind::Session {
                Layer::Session
            } else {
                Layer::Saved
            };
            let (whose, does, cited_rule) = by(layer);
            let is_needless = rule.is_some_and(|rule| rule.action == step.action);
            if before != Some(step.action) {
                format!("{whose} {does}: {cited_rule}")
            } else if is_needless {
                return Vec::new();
            } else {
                let note = shown(&step.note);
                format!("{whose} does not count here ({note}): {cited_rule}")
            }
        }
        StepKind::Hard => {
            let (whose, does, cited_rule) = by(Layer::Hard);
            format!("{whose} {does}: {cited_rule}")
        }
        StepKind::AskBecause => format!(
            "But {}, so an allow is not enough and it is asked.",
            shown(&step.note)
        ),
        // Its own line says more.
        StepKind::Answer => return Vec::new(),
    };
    vec![line]
}

/// What holds where no rule speaks of a subject.
fn not_spoken_of(subject: &Subject, action: Action) -> &'static str {
    match action {
        Action::Allow if subject.is_possible => {
            "It may not be touched at all, and no rule names it."
        }
        Action::Allow => "No rule speaks of it, and its command is asked about by itself.",
        Action::Ask | Action::Deny => "No rule fits it, and what no rule speaks of is asked.",
    }
}

/// What a rule changed: the last one before it that says something else.
fn overruled(decision: &Decision, step: &Step) -> Option<String> {
    let rule = step.rule.as_ref()?;
    let subject = decision.subject();
    let layers = decision.rules().layers();
    if layer_of(decision, Some(rule)) == Layer::Project {
        // A step of its own tells what the project changed.
        return None;
    }
    let platform = decision.rules().platform();
    let list = decision.rules().base_and_project().unwrap_or(&layers.base);
    let at = list.iter().rposition(|it| it == rule)?;
    let is_other = |it: &&Rule| {
        it.action != rule.action
            && it.is_about_subject(subject)
            && is_heard(Layer::Base, subject, it)
            && it.pattern.fits_on(platform, &step.pattern, subject)
    };
    let earlier = list.get(..at)?.iter().rev().find(is_other)?;
    let is_near = earlier.origin.source == rule.origin.source && earlier.origin.line > 0;
    let what = if is_near {
        let rule = quoted(&earlier.in_short());
        format!("{rule} (same file, line {})", earlier.origin.line)
    } else {
        cited(earlier)
    };
    Some(format!(
        "It comes after {what}, and the last rule that fits wins."
    ))
}

/// How the rules of the project changed the answer, or why they did not.
fn of_project(decision: &Decision, step: &Step) -> String {
    let alone = Arc::from([decision.subject().clone()]);
    let without = decide(&without_project(decision.rules()), &alone, None).action();
    if without < step.action {
        return format!("Without the rules of the project the answer would be {without}.");
    }
    let rule = step.rule.as_ref().map(cited);
    let rule = rule.map_or_else(|| ".".to_owned(), |rule| format!(": {rule}"));
    format!(
        "The project would loosen that. It does not count, since a project may only be \
         stricter{rule}"
    )
}

/// What else was asked about in the same breath, each once, with the reason of what is not allowed.
fn beside(decision: &Decision) -> Vec<String> {
    let deciding = decision.subject();
    let mut lines: Vec<String> = Vec::new();
    for subject in decision.subjects().iter().filter(|it| *it != deciding) {
        let alone = decide(decision.rules(), &Arc::from([subject.clone()]), None);
        let why = match alone.action() {
            Action::Allow => String::new(),
            Action::Ask | Action::Deny => because(&alone),
        };
        let line = format!("    {}: {}{why}", alone.action(), named(subject));
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    if !lines.is_empty() {
        let first = "The same call needs more, and the strictest answer counts:";
        lines.insert(0, first.to_owned());
    }
    lines
}

/// What to write to be allowed, or why nothing would do.
fn remedy(decision: &Decision) -> Vec<String> {
    if decision.action() == Action::Allow {
        return Vec::new();
    }
    let line = |text: &str| vec![text.to_owned()];
    if let AnsweredBy::Rule { layer, .. } = decision.by() {
        match layer {
            Layer::Hard => return line("Nothing you write or answer changes that."),
            Layer::Project => {
                return line("To allow it, change that rule of the project.");
            }
            Layer::Session | Layer::Saved => {
                return line("To allow it, take that answer back.");
            }
            Layer::Base => {}
        }
    }
    if let Some(why) = decision.once_only() {
        return vec![format!("It is asked each time, whatever you write: {why}.")];
    }
    if let Some(rules) = allowing(decision.rules(), decision.subjects()) {
        return vec![
            format!("To allow it, add {}:", place_for(decision, rules.len())),
            format!("    \"permission\": {}", as_config(&rules)),
        ];
    }
    let subjects = decision.subjects();
    if subjects.iter().any(|it| it.ask_because.is_some()) {
        return line("It is asked each time, whatever you write.");
    }
    if subjects.iter().any(|it| it.opaque.is_some()) {
        return line(
            "No narrow rule can allow it. Written as plain commands, its parts can be allowed one by \
             one.",
        );
    }
    line("No rule for just this can allow it: change the rule that decides.")
}

/// Which rules would go where.
fn place_for(decision: &Decision, count: usize) -> String {
    let what = if count == 1 {
        "this rule"
    } else {
        "these rules"
    };
    let is_users = |rule: &&Rule| rule.origin.line > 0 && !rule.origin.is_built_in();
    let base = &decision.rules().layers().base;
    if let Some(rule) = decision
        .rule()
        .filter(is_users)
        .filter(|it| base.contains(it))
    {
        return format!(
            "{what} behind the one at {}",
            shown(&rule.origin.to_string())
        );
    }
    match base.iter().rev().find(is_users) {
        Some(rule) => format!("{what} behind all others in {}", shown(&rule.origin.source)),
        None => format!("{what} to your configuration"),
    }
}

/// Rules as a configuration has them.
fn as_config(rules: &[Rule]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for rule in rules {
        if !names.contains(&rule.permission.as_str()) {
            names.push(&rule.permission);
        }
    }
    let of = |name: &str| {
        let list = rules.iter().filter(|rule| rule.permission == name);
        let is_whole = |rule: &Rule| rule.permission == name && rule.pattern.is_catch_all();
        if rules.iter().any(is_whole) {
            return format!("{}: \"allow\"", in_json(name));
        }
        let list: Vec<String> = list
            .map(|rule| format!("{}: \"{}\"", in_json(rule.pattern.text()), rule.action))
            .collect();
        format!("{}: {{ {} }}", in_json(name), list.join(", "))
    };
    let list: Vec<String> = names.into_iter().map(of).collect();
    format!("{{ {} }}", list.join(", "))
}

/// Whose rule it is, in words.
fn a_rule(rule: &Rule, layer: Layer) -> String {
    let is_answer = rule.origin.source.starts_with("appro");
    match layer {
        Layer::Base if rule.origin.is_built_in() => "A built-in rule",
        Layer::Base => "A rule",
        Layer::Project => "A rule of the project",
        Layer::Session if is_answer => "An answer kept for this session",
        Layer::Session => "A rule of this session",
        Layer::Saved => "An answer kept from before",
        Layer::Hard => "A rule that nothing lifts",
    }
    .to_owned()
}

fn layer_of(decision: &Decision, rule: Option<&Rule>) -> Layer {
    let project = &decision.rules().layers().project;
    match rule {
        Some(rule) if project.contains(rule) => Layer::Project,
        _ => Layer::Base,
    }
}

fn verb(action: Action) -> &'static str {
    match action {
        Action::Allow => "allows it",
        Action::Ask => "asks",
        Action::Deny => "denies it",
    }
}

/// A rule with its place.
fn cited(rule: &Rule) -> String {
    let origin = rule.origin.to_string();
    let place = origin.strip_prefix("built-in ").unwrap_or(&origin);
    format!("{} ({})", quoted(&rule.in_short()), shown(place))
}

fn lower(whose: &str) -> String {
    let mut chars = whose.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_lowercase().chain(chars).collect()
    })
}
