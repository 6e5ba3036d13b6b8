//! What a shell line asks the rules for: its files, its machines, its commands. The gate reads the line
//! itself. Must not decide: what cannot be told is said on the subject, and the rules do the rest.

mod file;
mod machine;
mod simple;
mod way;

use super::{
    Handle, Spawn,
    handle::{self, Touch},
};
use crate::{g3_confine::Confinement, host::Host};
use command::{AccessClass, Class, Line, RedirectOp, Setting, Shell, Simple, TouchedPath};
use file::{Source, redirects};
use machine::machine;
use policy::Subject;
use simple::command_of;
use std::{
    cell::OnceCell,
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    sync::Arc,
};

/// How the line is read in this workspace.
fn line_of(spawn: &Spawn, host: &dyn Host) -> Line {
    let workspace = host.workspace().to_string_lossy();
    let directory = spawn.workdir().map_or(&*workspace, Handle::absolute);
    let home = host.home().and_then(|home| home.to_str());
    let setting = Setting {
        directory,
        home,
        shell: Shell::Bash,
    };
    command::read(spawn.command(), &setting)
}

/// Everything the line is known to do: directories outside first, then files, machines and commands.
/// What cannot be told is one more subject, opaque.
pub(super) fn subjects(spawn: &Spawn, host: &dyn Host) -> Vec<Subject> {
    let line = line_of(spawn, host);
    spawn.note_looking(line.access() == AccessClass::ReadOnly);
    let mut asked = Asked {
        host,
        spawn,
        commands: BTreeMap::new(),
        redirects: redirects(&line),
        sources: OnceCell::new(),
        passes_names: passes_names(&line),
        made: OnceCell::new(),
        outside: HashMap::new(),
        holds_all: spawn.confinement(host) == Confinement::Full,
        files: Vec::new(),
        untold: BTreeSet::new(),
        loose: Vec::new(),
        hidden: Vec::new(),
    };
    // A command may read and change what lies where it starts.
    let outside = |touch| handle::external_directory(touch, spawn.workdir()?);
    let outside = [Touch::Read, Touch::Write].into_iter().filter_map(outside);
    outside.for_each(|subject| asked.push(subject));
    for touch in &line.touches {
        asked.touch(touch, &line);
    }
    let unknown = line.unknown.iter();
    let unknown = unknown.map(|it| format!("{} at byte {}", it.what, it.range.start));
    asked.hidden.extend(unknown);

    let mut commands: Vec<Subject> = Vec::new();
    for (at, simple) in line.commands.iter().enumerate() {
        let mut subject = command_of(spawn, simple);
        // What the words of a fixed program could be is no more than full walls hold.
        if asked.holds_all && subject.opaque.is_some() && simple.is_fixed() {
            subject.opaque = None;
        }
        subject.ask_because = asked.why_to_ask(at, simple);
        commands.push(subject);
    }
    // As the text reads, whatever runs first.
    commands.sort_by_key(|it| it.span.as_ref().map(|span| span.start));
    asked.rest(spawn, &mut commands);
    let mut files = asked.files;
    files.sort_by_key(|it| it.permission != "external_directory");
    let is_walled = unconfined(&spawn.confinement(host)).is_none();
    let hosts = line.hosts.iter().map(|it| machine(it, is_walled));
    // A word that is read by three commands is asked about once; each command stands in its own place.
    let mut all = each_once(files.into_iter().chain(hosts));
    all.extend(commands);
    all
}

fn each_once(subjects: impl Iterator<Item = Subject>) -> Vec<Subject> {
    let mut places: HashMap<(String, String), Vec<usize>> = HashMap::new();
    let mut all: Vec<Subject> = Vec::new();
    for subject in subjects {
        let key = (subject.permission.clone(), subject.source.clone());
        let places = places.entry(key).or_default();
        if places.iter().all(|at| all.get(*at) != Some(&subject)) {
            places.push(all.len());
            all.push(subject);
        }
    }
    all
}

/// Whether a command does to files what its words do not tell: they may be what another one printed.
fn passes_names(line: &Line) -> bool {
    let is_untold = |touch: &command::Touch| matches!(touch.path, TouchedPath::Unknown(_));
    line.touches.iter().any(is_untold) || line.commands.iter().any(|it| it.opaque.is_some())
}

/// What the files of a line come to.
struct Asked<'h> {
    host: &'h dyn Host,
    spawn: &'h Spawn,
    /// The commands that change files, by their place in the line.
    commands: BTreeMap<usize, Arc<Subject>>,
    /// The redirects of commands, by where they begin.
    redirects: BTreeMap<usize, RedirectOp>,
    /// What commands give another name.
    sources: OnceCell<HashSet<Source>>,
    /// Whether a name that is listed may be a word of another command, which then does anything to that file.
    passes_names: bool,
    /// What commands make that may be a link, by its path.
    made: OnceCell<HashMap<String, Vec<usize>>>,
    /// The directories outside, each with its place in `files`.
    outside: HashMap<(String, Option<&'static str>), usize>,
    /// Whether the walls hold whatever the line does to files.
    holds_all: bool,
    files: Vec<Subject>,
    /// For a command, by its place in the line: why it cannot be told which files it touches.
    untold: BTreeSet<(usize, String)>,
    /// The same for what belongs to no command.
    loose: Vec<String>,
    /// What cannot be told at all.
    hidden: Vec<String>,
}

impl Asked<'_> {
    /// Why an allow is not enough for a command.
    fn why_to_ask(&self, at: usize, simple: &Simple) -> Option<String> {
        // Walls would hold no more than is known of it: what it touches is asked about by itself.
        let is_plain =
            simple.opaque.is_none() && (simple.class == Class::ReadOnly || simple.is_told);
        let unheld = unconfined(&self.spawn.confinement(self.host)).filter(|_| !is_plain);
        let mut untold = self.untold.range((at, String::new())..);
        let untold = untold.next().filter(|(by, _)| *by == at);
        let untold = untold.map(|(_, why)| why.clone());
        let hidden = || simple.expanded().find(|name| self.host.hides(name));
        let shows = || hidden().map(|name| format!("it may show `{name}`, which looks secret"));
        unheld.or(untold).or_else(shows)
    }

    /// What belongs to no command is asked about with the whole line.
    fn rest(&mut self, spawn: &Spawn, commands: &mut Vec<Subject>) {
        if let [only] = commands.as_mut_slice()
            && only.opaque.is_some()
        {
            // It is the whole line already.
            let whys = only.opaque.take().into_iter().chain(self.hidden.drain(..));
            only.opaque = Some(whys.collect::<Vec<_>>().join(", "));
            only.ask_because = only.ask_because.take().or(self.loose.pop());
            return;
        }
        let is_nothing_else = commands.is_empty() && self.files.is_empty();
        if self.hidden.is_empty() && self.loose.is_empty() && !is_nothing_else {
            return;
        }
        let mut whole = whole(spawn, &self.hidden);
        whole.ask_because = unconfined(&spawn.confinement(self.host)).or(self.loose.pop());
        commands.push(whole);
    }
}

fn whole(spawn: &Spawn, hidden: &[String]) -> Subject {
    let text = spawn.command().trim();
    let mut subject = Subject::command("bash", text, text, Vec::new());
    subject.is_literal = false;
    subject.opaque = (!hidden.is_empty()).then(|| hidden.join(", "));
    subject.span = Some(0..spawn.command().len());
    subject
}

/// Only a child can leave walls that nobody holds; file effects are the host's own.
fn unconfined(confinement: &Confinement) -> Option<String> {
    match confinement {
        Confinement::Full | Confinement::Partial { .. } => None,
        Confinement::NotEnforced { why } => Some(format!("no sandbox holds this command: {why}")),
    }
}
