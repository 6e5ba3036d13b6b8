//! Reads the text form of grammars. It must not know any program.

use std::sync::Arc;

use super::grammar::{Grammar, Mark, Slot, Style, Switch, Table, Told};
use super::{Input, Place};
use crate::line::Class;
use crate::table;

/// The options of one grammar, with what its lines say they are.
type Listed = table::Table<(&'static str, bool)>;

/// A line without the remark behind it.
fn without_remark(line: &'static str) -> &'static str {
    line.split_once(" #").map_or(line, |(line, _)| line)
}

/// The lines that say something.
fn statements(file: &'static str) -> impl Iterator<Item = &'static str> {
    file.lines()
        .filter(|line| !line.starts_with('#'))
        .map(without_remark)
        .filter(|line| !line.trim().is_empty())
}

/// What a line at the margin names.
fn named(line: &'static str) -> impl Iterator<Item = &'static str> {
    line.split(',').map(str::trim)
}

/// The words that name the grammars of a file.
pub(super) fn names(file: &'static str) -> impl Iterator<Item = &'static str> {
    let is_name = |line: &&str| !line.is_empty() && !line.starts_with([' ', '#']);
    file.lines()
        .filter(is_name)
        .map(without_remark)
        .flat_map(named)
}

impl Table {
    pub(super) fn read(file: &'static str) -> Self {
        let mut table = Self::default();
        let mut names: Vec<&'static str> = Vec::new();
        let mut body = Grammar::new("");
        let mut listed = Listed::default();
        for line in statements(file) {
            if line.starts_with(' ') {
                let is_read = table.statement(&mut body, &mut listed, line.trim());
                if is_read.is_none() {
                    let name = names.first().unwrap_or(&"");
                    table.faults.push(format!("{name}: {line}"));
                }
            } else {
                table.add(&names, &body);
                names = named(line).collect();
                body = Grammar::new("");
                listed.clear();
            }
        }
        table.add(&names, &body);
        table.finish();
        table
    }

    fn add(&mut self, names: &[&'static str], body: &Grammar) {
        for name in names {
            let grammar = Grammar {
                name,
                ..body.clone()
            };
            if self.grammars.insert(name, grammar).is_some() {
                self.faults.push(format!("{name}: twice"));
            }
        }
    }

    /// Reads one line of a grammar; `None` where it means nothing.
    fn statement(&self, body: &mut Grammar, listed: &mut Listed, line: &'static str) -> Option<()> {
        let (head, rest) = line.split_once(' ').unwrap_or((line, ""));
        match head {
            "is" => body.class = class(rest)?,
            "bare" => body.bare = Some(class(rest)?),
            "opaque" => body.opaque = Some(rest),
            "words" => body.style = Style::Words,
            "bundle" => body.style = Style::Bundle,
            "strict" => body.is_strict = true,
            "everywhere" => body.is_everywhere = true,
            "near" => body.is_near = true,
            "below" => body.is_below = true,
            "loose" => body.is_loose = true,
            "silent" => body.is_silent = true,
            "project" => body.runs_project = true,
            "told" => {
                body.told = match rest {
                    "" => Told::Always,
                    "with arguments" => Told::WithArguments,
                    "with operands" => Told::WithOperands,
                    _ => return None,
                }
            }
            "here" => body.is_here = true,
            "adds" => body.adds_operands = true,
            "reads" => body.reads.extend(rest.split(' ')),
            "reaches" => body.reaches.extend(rest.split(' ')),
            "place" => {
                body.place = match rest {
                    "shell" => Place::Shell,
                    "named" => Place::Named,
                    "elsewhere" => Place::Elsewhere,
                    _ => return None,
                }
            }
            "input" => {
                body.input = match rest {
                    "script" => Input::Script,
                    "code" => Input::Code,
                    _ => return None,
                }
            }
            "subs" => body.subs_of = Some(rest),
            "like" => {
                let other = self.grammars.get(rest)?;
                let own = std::mem::replace(body, other.clone());
                let switches = Arc::make_mut(&mut body.switches);
                switches.extend(
                    own.switches
                        .iter()
                        .map(|(name, switch)| (*name, switch.clone())),
                );
            }
            "operands" => {
                let slots = rest.split(' ').filter(|name| *name != "none");
                let slots = slots.map(|name| match name.strip_suffix("...") {
                    Some(name) => Some((slot(name)?, true)),
                    None => Some((slot(name)?, false)),
                });
                body.operands = Some(slots.collect::<Option<_>>()?);
            }
            _ => return switches(body, listed, head, rest),
        }
        Some(())
    }

    /// What follows from all lines together.
    fn finish(&mut self) {
        let names: Vec<&'static str> = self.grammars.keys().copied().collect();
        for name in &names {
            let Some((parent, _)) = name.rsplit_once(' ') else {
                continue;
            };
            let Some(parent) = self.grammars.get_mut(parent) else {
                self.faults.push(format!("{name}: no grammar above it"));
                continue;
            };
            parent.has_subs = true;
        }
        for grammar in self.grammars.values_mut() {
            grammar.has_subs |= grammar.subs_of.is_some();
        }
        let mut by_depth = names;
        by_depth.sort_by_cached_key(|name| name.matches(' ').count());
        for name in &by_depth {
            let above = name
                .rsplit_once(' ')
                .and_then(|(above, _)| self.grammars.get(above));
            let inherited = above.filter(|above| above.is_everywhere);
            let inherited = inherited.map(|above| Arc::clone(&above.switches));
            let Some(grammar) = self.grammars.get_mut(name) else {
                continue;
            };
            if let Some(switches) = inherited {
                grammar.is_everywhere = true;
                // `--version` and its like stand for the program alone.
                let kept = switches
                    .iter()
                    .filter(|(_, switch)| !switch.has(Mark::Looks));
                let switches = Arc::make_mut(&mut grammar.switches);
                for (name, switch) in kept {
                    switches.entry(name).or_insert_with(|| switch.clone());
                }
            }
            let class = grammar.class;
            grammar.is_sensitive = grammar.has_subs
                || grammar.is_wrapper()
                || grammar
                    .switches
                    .values()
                    .any(|switch| switch.is_dangerous(class));
        }
        // Each sub-command goes into the grammar above it, the deepest first.
        for name in by_depth.iter().rev() {
            if let Some((parent, child)) = name.rsplit_once(' ')
                && let Some(grammar) = self.grammars.remove(name)
                && let Some(parent) = self.grammars.get_mut(parent)
            {
                parent.subs.insert(child, grammar);
            }
        }
        let borrowers: Vec<(&str, &str)> = self
            .grammars
            .iter()
            .filter_map(|(name, grammar)| Some((*name, grammar.subs_of?)))
            .collect();
        for (name, other) in borrowers {
            let Some(subs) = self.grammars.get(other).map(|it| it.subs.clone()) else {
                self.faults
                    .push(format!("{name}: no sub-commands of {other}"));
                continue;
            };
            if let Some(grammar) = self.grammars.get_mut(name) {
                grammar.subs.extend(subs);
            }
        }
    }
}

fn class(name: &str) -> Option<Class> {
    Some(match name {
        "read-only" => Class::ReadOnly,
        "ordinary" => Class::Ordinary,
        "irreversible" => Class::Irreversible,
        "publish" => Class::Publish,
        _ => return None,
    })
}

/// Reads `slot:mark:mark name name`, in which `flag` is an option without a value and a `?` behind a name
/// says that its value may be left out. `listed` holds what the lines before say: two of them that say
/// different things of one option are a fault, since the later would silently win.
fn switches(
    body: &mut Grammar,
    listed: &mut Listed,
    head: &'static str,
    names: &'static str,
) -> Option<()> {
    let mut parts = head.split(':');
    let slot = match parts.next()? {
        "flag" => None,
        name => Some(slot(name)?),
    };
    let marks = parts.map(mark).collect::<Option<Vec<Mark>>>()?;
    let mut is_one = true;
    for name in names.split_ascii_whitespace() {
        let (name, is_optional) = match name.strip_suffix('?') {
            Some(name) if !name.is_empty() => (name, true),
            _ => (name, false),
        };
        let switch = Switch {
            slot,
            is_optional,
            marks: marks.clone(),
        };
        let before = listed.insert(name, (head, is_optional));
        is_one &= before.is_none_or(|before| before == (head, is_optional));
        Arc::make_mut(&mut body.switches).insert(name, switch);
    }
    (is_one && !names.is_empty()).then_some(())
}

fn slot(name: &str) -> Option<Slot> {
    Some(match name {
        "text" => Slot::Text,
        "seen" => Slot::Seen,
        "read" => Slot::Read,
        "write" => Slot::Write,
        "out" => Slot::Out,
        "saved" => Slot::Saved,
        "both" => Slot::Both,
        "paged" => Slot::Paged,
        "removed" => Slot::Removed,
        "lines" => Slot::Lines,
        "task" => Slot::Task,
        "module" => Slot::Module,
        "reset" => Slot::Reset,
        "noted" => Slot::Noted,
        "into" => Slot::Into,
        "packed" => Slot::Packed,
        "linked" => Slot::Linked,
        "tree" => Slot::Tree,
        "sourced" => Slot::Sourced,
        "setting" => Slot::Setting,
        "glob" => Slot::Glob,
        "format" => Slot::Format,
        "archive" => Slot::Archive,
        "directory" => Slot::Directory,
        "revision" => Slot::Revision,
        "changed" => Slot::Changed,
        "branch" => Slot::Branch,
        "trap" => Slot::Trap,
        "maybe" => Slot::Maybe,
        "made" => Slot::Made,
        "clock" => Slot::Clock,
        "assignment" => Slot::Assignment,
        "host" => Slot::Host,
        "url" => Slot::Url,
        "remote-read" => Slot::RemoteRead,
        "remote-write" => Slot::RemoteWrite,
        "git-remote" => Slot::GitRemote,
        "git-setting" => Slot::GitSetting,
        "git-key" => Slot::GitKey,
        "wget-setting" => Slot::WgetSetting,
        "data" => Slot::Data,
        "encoded" => Slot::Encoded,
        "form" => Slot::Form,
        "cookie" => Slot::Cookie,
        "defined" => Slot::Defined,
        "ending" => Slot::Ending,
        "mount" => Slot::Mount,
        "method" => Slot::Method,
        "program" => Slot::Program,
        "command" => Slot::Command,
        "script" => Slot::Script,
        "target" => Slot::Target,
        "split" => Slot::Split,
        "piped" => Slot::Piped,
        "exec" => Slot::Exec,
        "stand" => Slot::Stand,
        "file" => Slot::File,
        "code" => Slot::Code,
        "sed" => Slot::Sed,
        "awk" => Slot::Awk,
        "jq" => Slot::Jq,
        "sql" => Slot::Sql,
        "redis" => Slot::Redis,
        _ => return None,
    })
}

fn mark(name: &str) -> Option<Mark> {
    Some(match name {
        "writes" => Mark::Writes,
        "irreversible" => Mark::Irreversible,
        "publish" => Mark::Publish,
        "mild" => Mark::Mild,
        "told" => Mark::Told,
        "untold" => Mark::Untold,
        "soft" => Mark::Soft,
        "opaque" => Mark::Opaque,
        "looks" => Mark::Looks,
        "target" => Mark::Target,
        "given" => Mark::Given,
        "in-place" => Mark::InPlace,
        "packs" => Mark::Packs,
        "here" => Mark::Here,
        "reaches" => Mark::Reaches,
        "below" => Mark::Below,
        "only" => Mark::Only,
        "names" => Mark::Names,
        "settings" => Mark::Settings,
        "inline" => Mark::Inline,
        "input" => Mark::Input,
        "pair" => Mark::Pair,
        "named" => Mark::Named,
        "last" => Mark::Last,
        _ => return None,
    })
}
