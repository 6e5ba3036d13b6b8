//! What a shell line asks the rules for: its files, its machines, its commands. The gate reads the line
//! itself. Must not decide: what cannot be told is said on the subject, and the rules do the rest.

use super::{
    Handle, Spawn,
    handle::{self, Touch},
};
use crate::{
    g3_confine::Confinement,
    host::{FileKind, Host},
};
use command::{
    AccessClass, Below, Class, Line, Mode, RedirectOp, Setting, Shell, Simple, TouchedPath, Word,
    WordKind,
};
use policy::Subject;
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    net::IpAddr,
    ops::Range,
    sync::Arc,
};

/// Most files that a pattern may name and still be looked at one by one.
const NAMES_MAX: usize = 512;

/// Names that begin with a dot, in a directory and one below: such as rules often speak of.
const HIDDEN: [&str; 2] = [".*", "*/.*"];

/// Names without a dot before them, in a directory and one below.
const VISIBLE: [&str; 2] = ["*", "*/*"];

/// All names in a directory and one below.
const ALL: [&str; 4] = ["*", ".*", "*/*", "*/.*"];

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
        holds_all: host.confinement() == Confinement::Full,
        files: Vec::new(),
        untold: BTreeSet::new(),
        loose: Vec::new(),
        hidden: Vec::new(),
    };
    // A command may read and change what lies where it starts.
    let outside = |touch| handle::external_directory(touch, spawn.workdir()?);
    let outside = [Touch::Read, Touch::Write].into_iter().filter_map(outside);
    asked.files.extend(outside);
    for touch in &line.touches {
        asked.touch(touch, &line);
    }
    let unknown = line.unknown.iter();
    let unknown = unknown.map(|it| format!("{} at byte {}", it.what, it.range.start));
    asked.hidden.extend(unknown);

    let mut commands: Vec<Subject> = Vec::new();
    for (at, simple) in line.commands.iter().enumerate() {
        let mut subject = command_of(spawn, simple);
        subject.ask_because = asked.why_to_ask(at, simple);
        commands.push(subject);
    }
    // As the text reads, whatever runs first.
    commands.sort_by_key(|it| it.span.as_ref().map(|span| span.start));
    asked.rest(spawn, &mut commands);
    let mut files = asked.files;
    files.sort_by_key(|it| it.permission != "external_directory");
    let is_walled = unconfined(&host.confinement()).is_none();
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

/// What the files of a line come to.
struct Asked<'h> {
    host: &'h dyn Host,
    spawn: &'h Spawn,
    /// The commands that change files, by their place in the line.
    commands: BTreeMap<usize, Arc<Subject>>,
    /// The redirects of commands, by where they begin.
    redirects: BTreeMap<usize, RedirectOp>,
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
        let unheld = unconfined(&self.host.confinement()).filter(|_| !is_plain);
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
        whole.ask_because = unconfined(&self.host.confinement()).or(self.loose.pop());
        commands.push(whole);
    }

    fn touch(&mut self, touch: &command::Touch, line: &Line) {
        let mode = match touch.mode {
            Mode::Read => Touch::Read,
            Mode::Write => Touch::Write,
        };
        match &touch.path {
            TouchedPath::Exact(path) => self.exact(mode, path, touch, line),
            TouchedPath::Below { pattern, .. } => match self.host.expand(pattern, NAMES_MAX) {
                Some(names) if names.is_empty() => self.exact(mode, pattern, touch, line),
                Some(names) => {
                    self.each(mode, pattern, &names, touch, line);
                    for name in names {
                        if let Ok(resolved) = self.host.resolve(&name) {
                            self.whole_directory(mode, &Handle::new(resolved), touch, line);
                        }
                    }
                }
                None => self.untold(
                    touch,
                    &format!("`{pattern}` names more files than are looked at"),
                    line,
                ),
            },
            TouchedPath::Unknown(why) => self.untold(touch, why, line),
        }
    }

    fn exact(&mut self, mode: Touch, path: &str, touch: &command::Touch, line: &Line) {
        let Ok(resolved) = self.host.resolve(path) else {
            let at = touch.range.start;
            self.hidden
                .push(format!("a path that leads nowhere at byte {at}"));
            return;
        };
        let handle = Handle::new(resolved);
        let is_redirect = self.is_redirect(touch);
        // A word that only may be a path, and names nothing outside, is a word.
        let is_word = !touch.is_certain && !is_redirect;
        if is_word && handle.is_outside() && handle.resolved().found.is_none() {
            return;
        }
        let found = handle.resolved().found.map(|found| found.kind);
        let kind = match found {
            None => Kind::New,
            Some(FileKind::File) if self.overwrites(line, touch) => Kind::Overwritten,
            Some(_) => Kind::Changed,
        };
        for subject in handle::subjects(mode, &handle) {
            let subject = self.by_command(subject, touch, line, kind);
            self.files.push(subject);
        }
        self.whole_directory(mode, &handle, touch, line);
    }

    /// What lies in a directory that a command goes through, or gives another name.
    fn whole_directory(
        &mut self,
        mode: Touch,
        handle: &Handle,
        touch: &command::Touch,
        line: &Line,
    ) {
        let found = handle.resolved().found.map(|found| found.kind);
        let Some(by) = touch.by.and_then(|by| line.commands.get(by)) else {
            return;
        };
        if found != Some(FileKind::Directory) {
            return;
        }
        let directory = handle.absolute();
        // Full walls hold what rules close deeper in it; what they name by a dot is told at once.
        let patterns: &[&str] = match (by.reads_below(), self.holds_all) {
            (None, _) | (Some(Below::Visible), true) => &[],
            (Some(Below::Visible), false) => &VISIBLE,
            (Some(Below::All), true) => &HIDDEN,
            (Some(Below::All), false) => &ALL,
        };
        // Where something only is put, nothing in it is touched.
        if mode == Touch::Write {
            return;
        }
        self.below(patterns, &[Touch::Read], directory, touch, line);
        // SECURITY: by another name, what is in it is no longer what rules speak of.
        if by.renames() {
            let named = command::Touch {
                is_certain: false,
                ..touch.clone()
            };
            let modes = [Touch::Read, Touch::Write];
            self.below(&ALL, &modes, directory, &named, line);
        }
    }

    /// What a command that takes a directory whole meets first: what lies in it and one below. What lies
    /// deeper is for the walls.
    fn below(
        &mut self,
        patterns: &[&str],
        modes: &[Touch],
        directory: &str,
        touch: &command::Touch,
        line: &Line,
    ) {
        let directory = directory.trim_end_matches('/');
        for pattern in patterns {
            let pattern = format!("{directory}/{pattern}");
            match self.host.expand(&pattern, NAMES_MAX) {
                Some(names) if names.is_empty() => {}
                Some(names) => {
                    for mode in modes {
                        self.each(*mode, &pattern, &names, touch, line);
                    }
                }
                // What only reads is stopped by each file's own walls; what moves has no second chance.
                None if modes.contains(&Touch::Write) => {
                    let why = format!("`{pattern}` names more files than are looked at");
                    let named = command::Touch {
                        is_certain: true,
                        ..touch.clone()
                    };
                    self.untold(&named, &why, line);
                }
                None => {}
            }
        }
    }

    /// One subject for all names of a pattern: as a text it is what the rules see, and each name is
    /// another spelling, which only tightens.
    fn each(
        &mut self,
        mode: Touch,
        pattern: &str,
        names: &[String],
        touch: &command::Touch,
        line: &Line,
    ) {
        let mut merged: Option<Subject> = None;
        for name in names {
            let Ok(resolved) = self.host.resolve(name) else {
                continue;
            };
            for subject in handle::subjects(mode, &Handle::new(resolved)) {
                if subject.permission == "external_directory" {
                    self.files.push(subject);
                    continue;
                }
                let spellings = [subject.canonical.clone(), subject.source.clone()];
                let spellings = spellings.into_iter().chain(subject.others.clone());
                let all = merged.get_or_insert_with(|| {
                    let workspace = self.host.workspace().to_string_lossy();
                    let below = pattern.strip_prefix(&*workspace);
                    let canonical = below.map_or(pattern, |it| it.trim_start_matches('/'));
                    let mut all =
                        Subject::path(&subject.permission, canonical, pattern, Vec::new());
                    all.is_literal = false;
                    all
                });
                all.others.extend(spellings);
                if all.ask_because.is_none() {
                    all.ask_because = subject.ask_because;
                }
            }
        }
        let kind = if self.overwrites(line, touch) {
            Kind::Overwritten
        } else {
            Kind::Changed
        };
        if let Some(merged) = merged {
            let merged = self.by_command(merged, touch, line, kind);
            self.files.push(merged);
        }
    }

    /// A file as a command touches it: rules may speak of it by a name of its own, and where the command
    /// only may touch it, catch-alls were not written for that.
    fn by_command(
        &mut self,
        mut subject: Subject,
        touch: &command::Touch,
        line: &Line,
        kind: Kind,
    ) -> Subject {
        if subject.permission == "edit" {
            subject.narrower = Some(match kind {
                Kind::New => "edit.new",
                Kind::Changed => "edit.command",
                Kind::Overwritten => "edit.overwrite",
            });
            subject.by = touch.by.and_then(|by| self.command(by, line));
        }
        if subject.permission != "external_directory" {
            let is_redirect = self.is_redirect(touch);
            // SECURITY: after `cd x; ls > y` it is one of two files, and surely one of them.
            subject.is_possible = !touch.is_certain && !is_redirect;
            subject.is_beside = !is_redirect;
        }
        subject
    }

    /// Whether it is the shell that touches a file, for a command or for none.
    fn is_redirect(&self, touch: &command::Touch) -> bool {
        touch.by.is_none() || self.redirects.contains_key(&touch.range.start)
    }

    /// Whether a write takes the place of all that the file holds: a redirect that empties it, or a copy.
    fn overwrites(&self, line: &Line, touch: &command::Touch) -> bool {
        use RedirectOp::{Both, Clobber, Write};
        let redirect = self.redirects.get(&touch.range.start);
        let is_emptied = redirect.is_some_and(|op| matches!(op, Write | Clobber | Both));
        let by = touch.by.and_then(|by| line.commands.get(by));
        let is_copied = by.is_some_and(Simple::replaces);
        // A redirect that belongs to no command is one that empties, or one that only reads.
        is_emptied || is_copied || touch.by.is_none()
    }

    fn command(&mut self, at: usize, line: &Line) -> Option<Arc<Subject>> {
        let simple = line.commands.get(at)?;
        let make = || Arc::new(command_of(self.spawn, simple));
        Some(Arc::clone(self.commands.entry(at).or_insert_with(make)))
    }

    fn untold(&mut self, touch: &command::Touch, why: &str, line: &Line) {
        let by = touch.by.and_then(|by| line.commands.get(by));
        // Walls hold a file by its name.
        let is_held = self.holds_all && !by.is_some_and(Simple::renames);
        if is_held || !touch.is_certain {
            return;
        }
        let what = match touch.mode {
            Mode::Read => "reads",
            Mode::Write => "changes",
        };
        let why = format!("it cannot be told what it {what}: {why}");
        match touch.by {
            Some(by) => _ = self.untold.insert((by, why)),
            None => self.loose.push(why),
        }
    }
}

/// What a write does to what stands there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    New,
    Changed,
    Overwritten,
}

fn redirects(line: &Line) -> BTreeMap<usize, RedirectOp> {
    let redirects = line.commands.iter().flat_map(|it| &it.redirects);
    redirects.map(|it| (it.range.start, it.op)).collect()
}

/// A machine. One that a program may reach by itself, and no word names, is possible: that it is
/// reached is asked when it is.
fn machine(host: &command::Host, is_walled: bool) -> Subject {
    let mut subject = match host.port {
        Some(port) => Subject::name("network", format!("{}:{port}", host.name)),
        None => Subject::name("network", host.name.as_str()),
    };
    // Behind walls a command has a loopback of its own, or none.
    let is_own = is_walled && is_loopback(&host.name);
    subject.is_possible = host.is_of_program || is_own;
    subject.is_beside = true;
    subject
}

fn is_loopback(name: &str) -> bool {
    let address = name.trim_start_matches('[').trim_end_matches(']');
    name == "localhost" || address.parse::<IpAddr>().is_ok_and(|it| it.is_loopback())
}

fn command_of(spawn: &Spawn, simple: &Simple) -> Subject {
    let mut subject = Subject::command(
        "bash",
        simple.canonical(),
        simple.source.trim(),
        simple.others(),
    );
    subject.narrower = match simple.class {
        Class::ReadOnly => Some("bash.readonly"),
        Class::Ordinary => simple.is_told.then_some("bash.told"),
        Class::Irreversible => Some("bash.irreversible"),
        Class::Publish => Some("bash.publish"),
    };
    // `pnpm exec tsc` is named as a whole, and only what speaks of `tsc` by name is heard besides.
    let is_named_with = simple.via.as_ref().is_some_and(|via| via.is_named)
        && simple.class <= Class::Ordinary
        && simple.opaque.is_none();
    subject.is_possible = is_named_with || simple.is_of_shell();
    subject.is_literal = simple.is_literal();
    subject.opaque = simple.opaque.as_ref().map(|it| it.why.clone());
    subject.span = Some(simple.range.clone());
    subject.always = simple.always();
    // SECURITY: what a here-document holds stands behind the command, and an answer to one text is none
    // to another.
    for redirect in &simple.redirects {
        let body = &redirect.target.range;
        if redirect.op == RedirectOp::Text && body.start >= simple.range.end {
            let body = with_last_line(spawn.command(), body);
            subject.source = format!("{}\n{body}", subject.source);
        }
    }
    // SECURITY: what stands beside it gives such a command its meaning, as in `X=...; rm "$X"`. An
    // answer to it is to the whole line.
    let line = spawn.command();
    let is_of_line = |word: &Word| match word.kind {
        WordKind::Literal | WordKind::Glob => false,
        WordKind::Known => is_set_in(line, line.get(word.range.clone()).unwrap_or(line)),
        WordKind::Dynamic => true,
    };
    if subject.opaque.is_some() || simple.words.iter().any(is_of_line) {
        spawn.command().trim().clone_into(&mut subject.source);
    }
    subject
}

/// Whether a word as it was written has its value from something in the line. The home and the directory are
/// what they are, unless the line says otherwise.
fn is_set_in(line: &str, word: &str) -> bool {
    let plain = ["${HOME}", "$HOME", "${PWD}", "$PWD"];
    let rest = plain
        .iter()
        .fold(word.to_owned(), |rest, it| rest.replace(it, ""));
    rest.contains('$')
        || ["HOME", "PWD"]
            .iter()
            .any(|it| line.contains(&format!("{it}=")))
}

/// A here-document with the line that ends it.
fn with_last_line<'t>(text: &'t str, body: &Range<usize>) -> &'t str {
    let behind = text.get(body.end..).unwrap_or_default();
    let length = behind.find('\n').unwrap_or(behind.len());
    text.get(body.start..body.end + length).unwrap_or_default()
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
