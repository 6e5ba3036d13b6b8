//! `tollgate shell`: what a shell line would run, read, write and reach, and how each part is judged.
//! Nothing is run, and nothing is kept.
//!
//! Must not read or judge by itself: the reader of the gates reads, and the gates judge.

use crate::{
    Exit,
    approver::Nobody,
    args::{LineShell, ShellArgs, ShellCommand, ShellExplainArgs},
    error::CliError,
    ports::{NoApprovals, NoJournal},
    print,
    workbench::{State, Workbench, existing_store},
};
use ::command::{
    AccessClass, Class, Directory, Line, Mode, Oddity, Setting, Shell, Simple, Touch, TouchedPath,
};
use gate::{
    authority::RootAuthority,
    call::{NotRun, RawCall},
    cancel::Cancel,
    g0_offer::Table,
    g1_decode::RawArguments,
    host::Host,
};
use policy::{Action, Decision, RuleBook, RuleLayers, decide, explain::for_person};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    sync::Arc,
};
use text::escape::visible_line;

/// Most places that are marked below the line; all of them are in the JSON.
const MARKS_MAX: usize = 20;

pub(crate) fn shell(root: &RootAuthority, args: &ShellArgs) -> Result<Exit, CliError> {
    match &args.command {
        ShellCommand::Explain(args) => explain(root, args),
    }
}

fn explain(root: &RootAuthority, args: &ShellExplainArgs) -> Result<Exit, CliError> {
    let bench = Workbench::set_up(&args.scene, &State::Untouched)?;
    if let Some(store) = existing_store() {
        bench.recall(&store)?;
    }
    bench.warn();
    let judged = match args.shell {
        LineShell::Bash => Some(Judged::of(root, &bench, &args.line)?),
        _ => None,
    };
    let directory = bench.host.workspace().to_string_lossy();
    let home = bench.host.home().and_then(|home| home.to_str());
    let line = read(&args.line, args.shell, &directory, home)?;
    let report = Report {
        text: &args.line,
        agent: &bench.agent.name,
        odd: line.flagged.iter().map(|it| it.character).collect(),
        line,
        judged,
    };
    print(&if args.json {
        format!("{:#}\n", report.as_json())
    } else {
        report.as_text()
    });
    Ok(Exit::Ok)
}

/// Reads a line as the shell does that is meant.
#[cfg_attr(
    feature = "powershell",
    expect(clippy::unnecessary_wraps, reason = "without the feature it may fail")
)]
fn read(
    text: &str,
    shell: LineShell,
    directory: &str,
    home: Option<&str>,
) -> Result<Line, CliError> {
    let setting = |shell| Setting {
        directory,
        home,
        shell,
    };
    match shell {
        LineShell::Bash => Ok(::command::read(text, &setting(Shell::Bash))),
        LineShell::Sh => Ok(::command::read(text, &setting(Shell::Sh))),
        LineShell::Zsh => Ok(::command::read(text, &setting(Shell::Zsh))),
        #[cfg(feature = "powershell")]
        LineShell::Powershell => Ok(powershell::read(text, &setting(Shell::Sh))),
        #[cfg(feature = "powershell")]
        LineShell::Cmd => Ok(powershell::cmd::read(text, &setting(Shell::Sh))),
        #[cfg(not(feature = "powershell"))]
        LineShell::Powershell | LineShell::Cmd => Err(CliError::usage(
            "this binary was built without the feature `powershell`",
        )),
    }
}

/// What the gates say to the line, in parts.
struct Judged {
    action: Action,
    /// One decision for each thing that is asked about.
    parts: Vec<Decision>,
    /// Whether the agent has the tool for commands at all.
    is_offered: bool,
}

impl Judged {
    fn of(root: &RootAuthority, bench: &Workbench, line: &str) -> Result<Self, CliError> {
        let rules = bench.rules.current();
        // A line is judged by its rules, also where they close the tool.
        let no_rules = RuleBook::new(RuleLayers::default()).current();
        let table = Table::lay(&bench.tools, &no_rules).map_err(|error| CliError::fault(&error))?;
        let nobody = Nobody("an explanation asks nobody");
        let cancel = Cancel::default();
        let room = bench.room(root, &table, (&nobody, &NoApprovals), &NoJournal, &cancel);
        let checked = room.check(RawCall {
            id: "explain".into(),
            tool: "bash".into(),
            arguments: RawArguments::Json(json!({ "command": line })),
            repeats: None,
        });
        let checked = checked.map_err(|why| unread(&why))?;
        let subjects = checked.decisions.iter().flat_map(|it| it.subjects().iter());
        let alone = |subject: &policy::Subject| decide(&rules, &Arc::from([subject.clone()]), None);
        Ok(Self {
            action: checked.action,
            parts: subjects.map(alone).collect(),
            is_offered: !rules.disabled("bash"),
        })
    }
}

/// Why a line is not read, without the words that a model is told.
fn unread(why: &NotRun) -> CliError {
    match why {
        NotRun::InvalidArguments { faults, .. } => {
            let faults: Vec<&str> = faults.iter().map(|it| it.message.as_str()).collect();
            CliError::usage(format!("the line {}", faults.join(", ")))
        }
        NotRun::UnknownTool { .. } | NotRun::Stopped(_) => CliError::usage(why),
    }
}

/// What is printed.
struct Report<'a> {
    text: &'a str,
    agent: &'a str,
    line: Line,
    /// The characters of the line that do not look like what they are.
    odd: BTreeSet<char>,
    /// Only of what the tools run, which is bash.
    judged: Option<Judged>,
}

/// A place in the line that a person should look at.
struct Mark {
    range: Range<usize>,
    why: String,
}

impl Report<'_> {
    fn as_text(&self) -> String {
        let mut rows = self.marked();
        let access = access_in_words(self.line.access());
        rows.extend([String::new(), format!("It {access}.")]);
        for (depth, at, simple) in self.tree() {
            rows.push(String::new());
            rows.extend(self.command(&"    ".repeat(depth), at, simple));
        }
        let of_the_shell = self.effects("  ", None);
        if !of_the_shell.is_empty() {
            rows.extend([String::new(), "the shell itself".to_owned()]);
            rows.extend(of_the_shell);
        }
        rows.push(String::new());
        let Some(judged) = &self.judged else {
            rows.push(
                "Not judged: the tools run bash, and the gates judge what bash reads.".to_owned(),
            );
            return rows.join("\n") + "\n";
        };
        let (action, agent) = (judged.action, visible_line(self.agent));
        rows.push(format!("For the agent {agent}: {action}"));
        if !judged.is_offered {
            let closed = "The rules close `bash` whole: the tool is not offered at all.";
            rows.push(closed.to_owned());
        }
        for part in &judged.parts {
            rows.push(String::new());
            let page = for_person(part);
            rows.extend(page.lines().map(|row| format!("  {}", self.shown(row))));
        }
        rows.join("\n") + "\n"
    }

    /// The line with carets below what cannot be told or seen.
    fn marked(&self) -> Vec<String> {
        let marks = self.marks();
        let mut rows = Vec::new();
        let mut start = 0;
        for row in self.text.split('\n') {
            let end = start + row.len();
            rows.push(format!("  {}", self.shown(row)));
            let width = |range: Range<usize>| {
                let part = row.get(range).unwrap_or_default();
                self.shown(part).chars().count()
            };
            let is_here = |mark: &&Mark| (start..=end).contains(&mark.range.start);
            for Mark { range, why } in marks.iter().take(MARKS_MAX).filter(is_here) {
                let from = range.start - start;
                let to = range.end.clamp(range.start, end) - start;
                let (before, below) = (width(0..from), width(from..to).max(1));
                let (blanks, carets) = (" ".repeat(before), "^".repeat(below));
                rows.push(format!("  {blanks}{carets} {}", self.shown(why)));
            }
            start = end + 1;
        }
        if let Some(more @ 1..) = marks.len().checked_sub(MARKS_MAX) {
            rows.push(format!("  and {more} more places, which --json lists"));
        }
        rows
    }

    fn marks(&self) -> Vec<Mark> {
        let Line {
            commands,
            touches,
            unknown,
            flagged,
            ..
        } = &self.line;
        let mark = |range: &Range<usize>, why: String| Mark {
            range: range.clone(),
            why,
        };
        let unknown = unknown
            .iter()
            .map(|it| mark(&it.range, it.what.to_string()));
        let opaque = commands.iter().filter_map(|it| it.opaque.as_ref());
        let opaque = opaque.map(|it| mark(&it.range, it.why.clone()));
        let untold = touches.iter().filter_map(|it| match &it.path {
            TouchedPath::Unknown(why) => Some(mark(&it.range, why.clone())),
            TouchedPath::Exact(_) | TouchedPath::Below { .. } => None,
        });
        let flagged = flagged
            .iter()
            .map(|it| mark(&it.range, oddity_in_words(it.why).to_owned()));
        let mut all: Vec<Mark> = unknown.chain(opaque).chain(untold).chain(flagged).collect();
        all.sort_by_key(|it| (it.range.start, it.range.end));
        all.dedup_by(|a, b| a.range == b.range && a.why == b.why);
        all
    }

    /// The commands in the order of reading, each below the one that runs it, with its depth.
    fn tree(&self) -> Vec<(usize, usize, &Simple)> {
        let mut below: BTreeMap<Option<usize>, Vec<(usize, &Simple)>> = BTreeMap::new();
        // Backwards, since the last one pushed is the first one popped.
        for (at, simple) in self.line.commands.iter().enumerate().rev() {
            let by = simple.via.as_ref().map(|via| via.command);
            below.entry(by).or_default().push((at, simple));
        }
        let at_depth = |depth| move |(at, simple)| (depth, at, simple);
        let mut waiting: Vec<(usize, usize, &Simple)> = Vec::new();
        let mut take = |by, depth, waiting: &mut Vec<_>| {
            let children = below.remove(&by).unwrap_or_default();
            waiting.extend(children.into_iter().map(at_depth(depth)));
        };
        take(None, 0, &mut waiting);
        let mut tree = Vec::new();
        while let Some((depth, at, simple)) = waiting.pop() {
            tree.push((depth, at, simple));
            take(Some(at), depth + 1, &mut waiting);
        }
        tree
    }

    fn command(&self, indent: &str, at: usize, simple: &Simple) -> Vec<String> {
        let directory = match &simple.directory {
            Directory::Known(path) => self.shown(path),
            Directory::Unknown => "cannot be told".to_owned(),
        };
        let is_elsewhere = simple.via.as_ref().is_some_and(|via| !via.is_local);
        let elsewhere = is_elsewhere.then_some("not on this machine, or in another file system");
        let opaque = simple.opaque.as_ref();
        let facts = [
            ("class", Some(class_in_words(simple.class).to_owned())),
            ("in", Some(directory)),
            ("where", elsewhere.map(str::to_owned)),
            ("opaque", opaque.map(|it| self.shown(&it.why))),
        ];
        let title = format!("{indent}{}", self.shown(simple.source.trim()));
        let indent = format!("{indent}  ");
        let fact = |(name, value)| Some(format!("{indent}{name:<10}{}", value?));
        let facts = facts.into_iter().filter_map(fact);
        let effects = self.effects(&indent, Some(at));
        [title].into_iter().chain(facts).chain(effects).collect()
    }

    /// What a command, or where it is none the shell itself, reads, writes and reaches.
    fn effects(&self, indent: &str, by: Option<usize>) -> Vec<String> {
        let touched = |mode: Mode, name: &'static str| {
            let all = self.line.touches.iter();
            let mine = all.filter(move |it| it.by == by && it.mode == mode);
            mine.map(move |it| (name, touch_in_words(it)))
        };
        let hosts = self.line.hosts.iter().filter(|it| it.by == by);
        let all = touched(Mode::Look, "looks at")
            .chain(touched(Mode::Read, "reads"))
            .chain(touched(Mode::Write, "writes"))
            .chain(hosts.map(|it| ("reaches", host_in_words(it))));
        all.map(|(name, value)| format!("{indent}{name:<10}{}", self.shown(&value)))
            .collect()
    }

    /// A text on its line, with every character spelled that is not seen or that the line disguises.
    fn shown(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        for c in visible_line(text).chars() {
            if self.odd.contains(&c) {
                out.extend(c.escape_unicode());
            } else {
                out.push(c);
            }
        }
        out
    }

    fn as_json(&self) -> Value {
        let commands = self.line.commands.iter().enumerate();
        let commands: Vec<Value> = commands
            .map(|(at, it)| self.command_as_json(at, it))
            .collect();
        let unknown = self.line.unknown.iter();
        let unknown: Vec<Value> = unknown
            .map(|it| json!({ "range": place(&it.range), "why": it.what }))
            .collect();
        let flagged = self.line.flagged.iter();
        let flagged: Vec<Value> = flagged
            .map(|it| {
                let character = it.character.escape_unicode().to_string();
                let why = oddity_in_words(it.why);
                json!({ "range": place(&it.range), "character": character, "why": why })
            })
            .collect();
        let judged = self.judged.as_ref();
        let parts = judged.map(|it| it.parts.iter().map(part_as_json).collect::<Vec<Value>>());
        json!({
            "line": self.text, "access": access_name(self.line.access()),
            "commands": commands, "shell": self.effects_as_json(None),
            "unknown": unknown, "flagged": flagged,
            "agent": self.agent, "offered": judged.map(|it| it.is_offered),
            "action": judged.map(|it| it.action.to_string()), "parts": parts,
        })
    }

    fn command_as_json(&self, at: usize, simple: &Simple) -> Value {
        let directory = match &simple.directory {
            Directory::Known(path) => Some(&**path),
            Directory::Unknown => None,
        };
        let via = simple.via.as_ref();
        let opaque = simple.opaque.as_ref();
        let effects = self.effects_as_json(Some(at));
        json!({
            "source": simple.source, "range": place(&simple.range), "program": simple.program(),
            "class": class_in_words(simple.class), "directory": directory,
            "via": via.map(|it| json!({ "command": it.command, "local": it.is_local })),
            "opaque": opaque.map(|it| json!({ "range": place(&it.range), "why": it.why })),
            "looks": effects["looks"], "reads": effects["reads"], "writes": effects["writes"], "hosts": effects["hosts"],
        })
    }

    fn effects_as_json(&self, by: Option<usize>) -> Value {
        let touched = |mode: Mode| -> Vec<Value> {
            let all = self.line.touches.iter();
            let mine = all.filter(|it| it.by == by && it.mode == mode);
            mine.map(touch_as_json).collect()
        };
        let hosts = self.line.hosts.iter().filter(|it| it.by == by);
        let hosts: Vec<Value> = hosts.map(host_as_json).collect();
        json!({
            "looks": touched(Mode::Look), "reads": touched(Mode::Read), "writes": touched(Mode::Write),
            "hosts": hosts,
        })
    }
}

fn place(range: &Range<usize>) -> Value {
    json!([range.start, range.end])
}

fn part_as_json(part: &Decision) -> Value {
    let subject = part.subject();
    let permission = subject.narrower.unwrap_or(&subject.permission);
    let rule = part.rule();
    let origin = rule.map(|rule| &rule.origin);
    json!({
        "action": part.action().to_string(), "permission": permission,
        "pattern": subject.as_asked(), "range": subject.span.as_ref().map(place),
        "rule": rule.map(policy::Rule::in_short),
        "origin": origin.map(|it| json!({ "file": &*it.source, "line": it.line, "column": it.column })),
        "trace": part.trace(),
    })
}

fn touch_as_json(touch: &Touch) -> Value {
    let (name, text) = match &touch.path {
        TouchedPath::Exact(path) => ("path", path),
        TouchedPath::Below { pattern, .. } => ("pattern", pattern),
        TouchedPath::Unknown(why) => ("unknown", why),
    };
    json!({ name: text, "certain": touch.is_certain, "range": place(&touch.range) })
}

fn host_as_json(host: &::command::Host) -> Value {
    json!({
        "name": host.name, "port": host.port, "known": host.is_known,
        "of_program": host.is_of_program, "range": place(&host.range),
    })
}

fn touch_in_words(touch: &Touch) -> String {
    let what = match &touch.path {
        TouchedPath::Exact(path) => path.clone(),
        TouchedPath::Below { pattern, .. } => format!("{pattern} (a pattern)"),
        TouchedPath::Unknown(why) => format!("cannot be told: {why}"),
    };
    if touch.is_certain {
        what
    } else {
        format!("{what} (perhaps)")
    }
}

fn host_in_words(host: &::command::Host) -> String {
    let port = host.port.map(|port| format!(":{port}"));
    let note = match (host.is_of_program, host.is_known) {
        (true, _) => " (perhaps: the program may by itself)",
        (false, false) => " (cannot be told for sure)",
        (false, true) => "",
    };
    format!("{}{}{note}", host.name, port.unwrap_or_default())
}

fn class_in_words(class: Class) -> &'static str {
    match class {
        Class::ReadOnly => "read-only",
        Class::Ordinary => "ordinary",
        Class::Irreversible => "irreversible",
        Class::Publish => "publish",
    }
}

fn access_name(access: AccessClass) -> &'static str {
    match access {
        AccessClass::ReadOnly => "read-only",
        AccessClass::Writes => "writes",
        AccessClass::Unknown => "unknown",
    }
}

fn access_in_words(access: AccessClass) -> &'static str {
    match access {
        AccessClass::ReadOnly => "is read-only: it writes nothing and reaches no other machine",
        AccessClass::Writes => "may write or reach another machine",
        AccessClass::Unknown => "does something that cannot be told",
    }
}

fn oddity_in_words(why: Oddity) -> &'static str {
    match why {
        Oddity::Control => "a control character",
        Oddity::Direction => "changes the direction of the text around it",
        Oddity::Hidden => "takes no room",
        Oddity::Blank => "looks like a blank and is none",
        Oddity::LookAlike => "looks like an ASCII character and is none",
    }
}
