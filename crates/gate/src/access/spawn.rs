//! Running a command line. The gate reads the line itself, so a tool cannot misstate what it runs.

use super::{
    Handle,
    handle::{self, Touch},
};
use crate::host::Host;
use command::{Line, Redirect, RedirectOp, Simple, WordKind};
use policy::Subject;

/// Leave is asked to give this text to the shell.
#[derive(Debug)]
pub struct Spawn {
    command: String,
    workdir: Option<Handle>,
    timeout_ms: u64,
    description: Option<String>,
}

/// How long a command may take unless it says otherwise, in milliseconds (as the compatible
/// systems).
pub const TIMEOUT_MS_DEFAULT: u64 = 120_000;

impl Spawn {
    /// A line for the shell, in the workspace, with the default timeout.
    pub fn new(command: impl Into<String>) -> Self {
        let command = command.into();
        Self {
            command,
            workdir: None,
            timeout_ms: TIMEOUT_MS_DEFAULT,
            description: None,
        }
    }

    /// In this directory.
    #[must_use]
    pub fn in_directory(self, workdir: Handle) -> Self {
        Self {
            workdir: Some(workdir),
            ..self
        }
    }

    /// For at most so many milliseconds.
    #[must_use]
    pub fn for_at_most(self, timeout_ms: u64) -> Self {
        Self { timeout_ms, ..self }
    }

    /// With the model's own words about it, shown labelled as such.
    #[must_use]
    pub fn described_as(self, description: impl Into<String>) -> Self {
        Self {
            description: Some(description.into()),
            ..self
        }
    }

    /// The line.
    pub fn command(&self) -> &str {
        &self.command
    }

    /// Where it starts; `None`: the workspace.
    pub fn workdir(&self) -> Option<&Handle> {
        self.workdir.as_ref()
    }

    /// How long it may take, in milliseconds.
    pub fn timeout_ms(&self) -> u64 {
        self.timeout_ms
    }

    /// The model's own words.
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// Everything the line is known to do: directories outside first, then the files its redirects
    /// touch, then its commands. What cannot be told is one more subject, opaque.
    pub(super) fn subjects(&self, host: &dyn Host, unconfined: Option<&str>) -> Vec<Subject> {
        let line = command::read(&self.command);
        let mut files = Vec::new();
        let mut hidden = Vec::new();
        // A command may read and change what lies where it starts.
        let outside = |touch| handle::external_directory(touch, self.workdir.as_ref()?);
        files.extend([Touch::Read, Touch::Write].into_iter().filter_map(outside));
        for simple in &line.commands {
            files.extend(self.operands_outside(&line, simple, host));
        }
        for redirect in redirects(&line) {
            match self.touched(&line, redirect, host) {
                Touched::Nothing => {}
                Touched::Subjects(list) => files.extend(list),
                Touched::Unknown(why) => hidden.push(why),
            }
        }
        hidden.extend(
            line.unknown
                .iter()
                .map(|it| format!("{} at byte {}", it.what, it.range.start)),
        );
        let mut commands: Vec<_> = line.commands.iter().map(|it| self.subject_of(it)).collect();
        if !hidden.is_empty() || (commands.is_empty() && files.is_empty()) {
            commands.push(self.whole(&hidden));
        }
        for subject in &mut commands {
            subject.ask_because = unconfined.map(str::to_owned);
        }
        files.sort_by_key(|it| it.permission != "external_directory");
        files.into_iter().chain(commands).collect()
    }

    /// Directories outside the workspace that words of a command name: such words as are there. What they
    /// name inside is for the walls, until each program's words are known.
    fn operands_outside(&self, line: &Line, simple: &Simple, host: &dyn Host) -> Vec<Subject> {
        let touches: &[Touch] = if simple.changes_no_operand() {
            &[Touch::Read]
        } else {
            &[Touch::Read, Touch::Write]
        };
        let mut found = Vec::new();
        for word in simple.words.iter().skip(1) {
            let text = word.text.as_str();
            // The value of an option may be written behind it.
            let text = match text.split_once('=') {
                Some((option, value)) if option.starts_with('-') => value,
                _ => text,
            };
            let climbs = text.split('/').any(|part| part == "..");
            let is_told = word.kind == WordKind::Literal && !(climbs && line.changes_directory);
            if !is_told || !(text.starts_with('/') || climbs) || NEUTRAL.contains(&text) {
                continue;
            }
            let Ok(resolved) = host.resolve(&self.below_workdir(text)) else {
                continue;
            };
            let handle = Handle::new(resolved);
            if handle.resolved().found.is_none() {
                continue;
            }
            let asked = touches.iter();
            for subject in asked.filter_map(|touch| handle::external_directory(*touch, &handle)) {
                if !found.contains(&subject) {
                    found.push(subject);
                }
            }
        }
        found
    }

    /// A path of the line as the host takes it.
    fn below_workdir(&self, path: &str) -> String {
        match &self.workdir {
            Some(workdir) if !path.starts_with('/') => format!("{}/{path}", workdir.absolute()),
            Some(_) | None => path.to_owned(),
        }
    }

    fn subject_of(&self, simple: &Simple) -> Subject {
        let source = simple.source(&self.command);
        let mut subject = Subject::command("bash", simple.canonical(), source, simple.others());
        subject.is_literal = simple.is_literal();
        subject.opaque = simple.opaque.as_ref().map(|it| it.why.clone());
        subject.span = Some(simple.range.clone());
        subject.always = simple.always();
        // SECURITY: what stands beside opaque words may give them another meaning, as in
        // `X=...; eval "$X"`. An answer to them is to the whole line.
        if subject.opaque.is_some() {
            self.command.trim().clone_into(&mut subject.source);
        }
        subject
    }

    fn whole(&self, hidden: &[String]) -> Subject {
        let text = self.command.trim();
        let mut subject = Subject::command("bash", text, text, Vec::new());
        subject.is_literal = false;
        subject.opaque = (!hidden.is_empty()).then(|| hidden.join(", "));
        subject.span = Some(0..self.command.len());
        subject
    }

    fn touched(&self, line: &Line, redirect: &Redirect, host: &dyn Host) -> Touched {
        if redirect.op == RedirectOp::Duplicate {
            return Touched::Nothing;
        }
        let target = redirect.target.text.as_str();
        let at = redirect.range.start;
        match redirect.target.kind {
            WordKind::Literal => {}
            WordKind::Glob => {
                return Touched::Unknown(format!("redirect to a pattern at byte {at}"));
            }
            WordKind::Dynamic => {
                return Touched::Unknown(format!(
                    "redirect to a word that cannot be told at byte {at}"
                ));
            }
            WordKind::Tilde => {
                return Touched::Unknown(format!("redirect below a home at byte {at}"));
            }
        }
        if NEUTRAL.contains(&target) {
            return Touched::Nothing;
        }
        if let Some(peer) = target
            .strip_prefix("/dev/tcp/")
            .or(target.strip_prefix("/dev/udp/"))
        {
            return Touched::Subjects(vec![Subject::name("network", peer.replacen('/', ":", 1))]);
        }
        let is_relative = !target.starts_with('/');
        if is_relative && line.changes_directory {
            return Touched::Unknown(format!("redirect after a change of directory at byte {at}"));
        }
        let Ok(resolved) = host.resolve(&self.below_workdir(target)) else {
            return Touched::Unknown(format!(
                "redirect to a path that leads nowhere at byte {at}"
            ));
        };
        let file = Handle::new(resolved);
        let (reads, writes) = match redirect.op {
            RedirectOp::Read => (true, false),
            RedirectOp::ReadWrite => (true, true),
            RedirectOp::Write | RedirectOp::Append | RedirectOp::Clobber | RedirectOp::Both => {
                (false, true)
            }
            RedirectOp::Duplicate => (false, false),
        };
        let read = reads.then(|| handle::subjects(Touch::Read, &file));
        let write = writes.then(|| handle::subjects(Touch::Write, &file));
        Touched::Subjects(read.into_iter().chain(write).flatten().collect())
    }
}

/// Files that no redirect can harm or learn from.
const NEUTRAL: [&str; 6] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
];

enum Touched {
    Nothing,
    Subjects(Vec<Subject>),
    Unknown(String),
}

fn redirects(line: &Line) -> impl Iterator<Item = &Redirect> {
    line.redirects
        .iter()
        .chain(line.commands.iter().flat_map(|it| &it.redirects))
}
