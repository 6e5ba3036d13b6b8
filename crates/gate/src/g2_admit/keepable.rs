//! What a yes for more than once may keep, from the very words to something wider.
//!
//! Must not: offer what would leave the same question open next time, or judge by anything but the one
//! decision function.

use policy::{
    Action, Decision, Layer, Origin, Pattern, Rule, Ruleset, Subject, SubjectKind, decide,
};
use std::sync::Arc;

/// What a yes for more than once may keep. Of one question, under the rules by which it was asked.
#[derive(Clone, Debug)]
pub struct Keepable {
    /// What may be chosen, narrowest first: each a rule for every thing that needs leave. Under any of
    /// them the same question is not asked again.
    pub levels: Vec<Vec<Rule>>,
    /// Which of them a plain always keeps: the prefix of a command if it is safe, else the very words.
    pub usual: usize,
    /// Why there is no level.
    pub why_not: Option<String>,
    rules: Arc<Ruleset>,
    subjects: Arc<[Subject]>,
}

/// Subcommands of our own that change nothing about what is allowed.
const HARMLESS: [&str; 5] = ["check", "doctor", "sandbox", "shell", "tools"];

impl Keepable {
    /// What may be kept of a yes to these subjects.
    pub fn of(rules: &Arc<Ruleset>, subjects: &Arc<[Subject]>) -> Self {
        let mut keepable = Self {
            levels: Vec::new(),
            usual: 0,
            why_not: once_only(&decide(rules, subjects, None)),
            rules: Arc::clone(rules),
            subjects: Arc::clone(subjects),
        };
        if keepable.why_not.is_none() {
            keepable.why_not = keepable.fill().err();
        }
        keepable
    }

    /// What a plain always keeps, if anything.
    pub fn usual(&self) -> Option<&[Rule]> {
        self.levels.get(self.usual).map(Vec::as_slice)
    }

    /// Whether these rules may be kept, as a person has edited them. They may say more or less than was
    /// offered, but must be about what is asked and answer it.
    ///
    /// # Errors
    /// Why not, for that person.
    pub fn accepts(&self, rules: &[Rule]) -> Result<(), String> {
        if let Some(why) = &self.why_not {
            return Err(why.clone());
        }
        for rule in rules {
            if rule.action != Action::Allow {
                return Err(format!("only an allow is kept, not `{}`", rule.action));
            }
            if !self.subjects.iter().any(|it| is_about(rule, it)) {
                let Rule {
                    permission,
                    pattern,
                    ..
                } = rule;
                return Err(format!("`{permission}: {pattern}` is not what is asked"));
            }
        }
        self.open_under(rules).map_or(Ok(()), Err)
    }

    /// Builds the levels: the very words of everything, then what is usual, then what is wider.
    fn fill(&mut self) -> Result<(), String> {
        let ladders = self.ladders()?;
        let height = ladders.iter().map(Vec::len).max().unwrap_or_default();
        for at in 0..height {
            let rungs = ladders.iter().filter_map(|it| it.get(at).or(it.last()));
            let mut level: Vec<Rule> = Vec::new();
            for rule in rungs {
                if !level.contains(rule) {
                    level.push(rule.clone());
                }
            }
            // The last match wins, so what is narrow stands behind what is wide.
            level.sort_by_key(|rule| rule.pattern.is_exact());
            if self.levels.contains(&level) || self.open_under(&level).is_some() {
                continue;
            }
            if at == 1 {
                self.usual = self.levels.len();
            }
            self.levels.push(level);
        }
        if self.levels.is_empty() {
            return Err("no rule could answer all of it".to_owned());
        }
        Ok(())
    }

    /// For each thing that needs leave: its very words, what is usual, and what is wider.
    fn ladders(&self) -> Result<Vec<Vec<Rule>>, String> {
        let is_outside = self
            .subjects
            .iter()
            .any(|it| it.permission == "external_directory");
        let mut ladders = Vec::new();
        for subject in self.subjects.iter() {
            let alone = Arc::from([subject.clone()]);
            if decide(&self.rules, &alone, None).action() != Action::Ask {
                continue;
            }
            let open = |rule: &Rule| open_under(&self.rules, &alone, std::slice::from_ref(rule));
            let exact = rule(subject, Pattern::exact(subject.as_asked()));
            if let Some(why) = open(&exact) {
                return Err(why);
            }
            let is_kept = |rule: &Rule| open(rule).is_none();
            let mut usual = subject.always.iter().filter_map(|it| prefix(subject, it));
            let usual = usual.find(is_kept).unwrap_or(exact.clone());
            let wider = wider(subject, is_outside).into_iter();
            let wider = wider
                .filter_map(|it| Pattern::read(&it).ok())
                .map(|it| rule(subject, it))
                .filter(is_kept);
            ladders.push([exact, usual].into_iter().chain(wider).collect());
        }
        Ok(ladders)
    }

    fn open_under(&self, kept: &[Rule]) -> Option<String> {
        open_under(&self.rules, &self.subjects, kept)
    }
}

/// Why these subjects would still be asked about with these rules kept; `None`: they would not be.
fn open_under(rules: &Ruleset, subjects: &Arc<[Subject]>, kept: &[Rule]) -> Option<String> {
    let with = rules.with(Layer::Session, kept.iter().cloned());
    let decision = decide(&with, subjects, None);
    if decision.action() == Action::Allow {
        return None;
    }
    Some(match (decision.rule(), &decision.subject().opaque) {
        (Some(rule), _) => format!("it would still be asked by the rule {rule}"),
        (None, Some(why)) => format!("it cannot be told what would run: {why}"),
        (None, None) => "it would still be asked".to_owned(),
    })
}

/// Why a yes to this holds once, if so.
fn once_only(decision: &Decision) -> Option<String> {
    if decision.action() != Action::Ask {
        return Some("it is not asked".to_owned());
    }
    if let Some(why) = decision.once_only() {
        return Some(why.to_owned());
    }
    decision.subjects().iter().find_map(|subject| {
        if let Some(why) = &subject.ask_because {
            return Some(why.clone());
        }
        // A rule could not tell it from a wildcard.
        if subject.permission.contains(['*', '?']) {
            return Some("the name of its permission holds a wildcard".to_owned());
        }
        is_control(subject).then(|| "it may change what is allowed".to_owned())
    })
}

/// Whether it runs one of our own commands that changes what is allowed.
fn is_control(subject: &Subject) -> bool {
    let is_harmless = |it: Option<&str>| it.is_some_and(|word| HARMLESS.contains(&word));
    let mut spellings = own_commands(subject);
    spellings.any(|text| !is_harmless(text.split_whitespace().nth(1)))
}

/// The spellings of a command that run our own program.
fn own_commands(subject: &Subject) -> impl Iterator<Item = &String> {
    let is_own = |text: &&String| {
        let program = text.split_whitespace().next();
        program.and_then(|it| it.rsplit('/').next()) == Some("tollgate")
    };
    let canonical = (subject.kind == SubjectKind::Command).then_some(&subject.canonical);
    canonical
        .into_iter()
        .chain(canonical.map_or(&[][..], |_| &subject.others))
        .filter(is_own)
}

fn rule(subject: &Subject, pattern: Pattern) -> Rule {
    let origin = Origin::named("an answer");
    Rule::new(subject.kept_under(), pattern, Action::Allow, origin)
}

/// A rule for the words that a command begins with, or for a pattern that its tool named.
fn prefix(subject: &Subject, text: &str) -> Option<Rule> {
    // SECURITY: a program may be called `arg:command=*`; read again from a store it would be a condition.
    let is_plain = Pattern::read(text).is_ok_and(|it| !it.is_path() && !it.is_about_arguments());
    // Every subcommand of ours would be allowed, not the harmless ones alone.
    let is_own = own_commands(subject).next().is_some();
    let is_offered = is_plain && !is_own && text != subject.as_asked();
    is_offered.then(|| rule(subject, Pattern::wildcard(text)))
}

/// What a person may want beyond the one thing: a file's directory, then all files; all searches.
/// Outside the workspace nothing beyond the directory.
fn wider(subject: &Subject, is_outside: bool) -> Vec<String> {
    let mut found = Vec::new();
    match (subject.kind, subject.permission.as_str()) {
        (SubjectKind::Path, "read" | "edit") => {
            let path = subject.canonical.as_str();
            let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
            // A star of a name would become one of the rule.
            if !directory.contains(['*', '?']) {
                let slash = if path.contains('/') { "/" } else { "" };
                found.push(format!("path:{directory}{slash}*"));
            }
        }
        (SubjectKind::Name, "glob" | "grep") => {}
        (SubjectKind::Path | SubjectKind::Name | SubjectKind::Command, _) => return found,
    }
    if !is_outside {
        found.push("*".to_owned());
    }
    found
}

fn is_about(rule: &Rule, subject: &Subject) -> bool {
    let is_named =
        rule.permission == subject.permission || subject.narrower == Some(&rule.permission);
    let fits = |text: &str| rule.pattern.fits(text, subject);
    is_named && (fits(&subject.canonical) || fits(&subject.source))
}
