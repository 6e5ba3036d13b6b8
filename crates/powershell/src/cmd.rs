//! Lines of cmd.exe: plain words with `&`, `&&`, `||` and `|` between them, and nothing else. It must not guess what cmd would make of more than that.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

use command::{Class, Directory, Line, Mode, Setting, Simple, Touch, Word, WordKind};

use crate::apply::Scene;
use crate::data::rows;
use crate::line::{Budget, append, finish, graft};
use crate::path::{View, machine, path, slashed};
use crate::program::{self, Inner};
use crate::walk::{self, Start};

/// Characters that mean more than themselves somewhere in the language.
const SPECIAL: &str = "%^!()<>@'`";

/// Tells what `text` runs, reads, writes and reaches, as cmd.exe reads it. It is total: a text that is more
/// than plain words is "cannot tell" as a whole. [`Setting::shell`] does not matter.
pub fn read(text: &str, setting: &Setting<'_>) -> Line {
    let start = Start {
        places: Some(vec![slashed(setting.directory)]),
        home: setting.home.map(slashed),
        levels: 0,
        depth: 0,
    };
    let mut line = read_at(text, &start, &mut Budget::new());
    line.flagged = command::flagged(text);
    line
}

pub(crate) fn read_at(text: &str, start: &Start, budget: &mut Budget) -> Line {
    if text.len() > command::TEXT_BYTES_MAX {
        return walk::whole(text, "text that is too long");
    }
    let Some(parts) = parts(text) else {
        return walk::whole(text, "a line of cmd that is more than plain words");
    };
    let mut reader = Reader {
        text,
        start,
        line: Line::default(),
        places: start.places.clone(),
        budget,
    };
    for part in parts {
        if !reader.budget.burn(1 + part.range.len() / 64) {
            return walk::whole(text, "more than is followed");
        }
        if !reader.part(&part) {
            // What was found stays: enough to find a forbidden command in.
            let whole = walk::whole(text, "a command of cmd that is not followed");
            reader.line.unknown.extend(whole.unknown);
        }
    }
    let mut line = reader.line;
    finish(&mut line);
    line
}

/// A command: its words.
struct Part {
    range: Range<usize>,
    words: Vec<Word>,
    /// A pipe stands on one of its sides, so it runs in a shell of its own.
    is_piped: bool,
}

/// The commands of a line, where it is made of plain words.
fn parts(text: &str) -> Option<Vec<Part>> {
    let is_plain =
        |c: char| c == ' ' || c.is_ascii_graphic() && !SPECIAL.contains(c) || c.is_alphanumeric();
    if !text.chars().all(is_plain) {
        return None;
    }
    let mut parts = Vec::new();
    let mut at = 0;
    let mut is_piped = false;
    loop {
        let rest = text.get(at..)?;
        let end = rest.find(['&', '|']).map_or(text.len(), |it| at + it);
        let words = words(text, at..end)?;
        let (first, last) = (words.first()?, words.last()?);
        let operator = text.get(end..)?;
        let next = match operator {
            "" => None,
            it if it.starts_with("&&") || it.starts_with("||") => Some(end + 2),
            _ => Some(end + 1),
        };
        let pipes = operator.starts_with('|') && !operator.starts_with("||");
        parts.push(Part {
            range: first.range.start..last.range.end,
            words,
            is_piped: is_piped || pipes,
        });
        is_piped = pipes;
        match next {
            Some(next) => at = next,
            None => return Some(parts),
        }
    }
}

/// The words in a part of the line. A quoted one is quoted from end to end, and holds nothing odd.
fn words(text: &str, range: Range<usize>) -> Option<Vec<Word>> {
    let part = text.get(range.clone())?;
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(rest) = part.get(at..).filter(|it| !it.is_empty()) {
        if rest.starts_with(' ') {
            at += 1;
            continue;
        }
        let (value, len) = if let Some(inner) = rest.strip_prefix('"') {
            let value = inner.get(..inner.find('"')?)?;
            let after = inner.get(value.len() + 1..)?;
            let ends = after.is_empty() || after.starts_with(' ');
            // A backslash before a quote is read in more ways than one.
            if !ends || value.ends_with('\\') || value.is_empty() {
                return None;
            }
            (value, value.len() + 2)
        } else {
            let len = rest.find(' ').unwrap_or(rest.len());
            (rest.get(..len)?, len)
        };
        if value.contains('"') {
            return None;
        }
        let place = range.start + at..range.start + at + len;
        let mut word = Word::literal(value, place);
        if value.contains(['*', '?']) {
            word.kind = WordKind::Glob;
        }
        words.push(word);
        at += len;
    }
    Some(words)
}

/// What the commands of cmd itself do.
struct Own {
    class: Class,
    operands: Vec<&'static str>,
    switches: Vec<&'static str>,
}

static OWN: LazyLock<BTreeMap<&'static str, Own>> = LazyLock::new(|| {
    let rows = rows(include_str!("../data/cmd.tsv"));
    let own = |cells: Vec<&'static str>| match *cells.as_slice() {
        [name, class, operands, switches] => Some((
            name,
            Own {
                class: if class == "read" {
                    Class::ReadOnly
                } else {
                    Class::Ordinary
                },
                operands: operands.split(' ').collect(),
                switches: switches.split(' ').filter(|it| !it.is_empty()).collect(),
            },
        )),
        _ => None,
    };
    rows.filter_map(own).collect()
});

/// Commands of cmd itself that are not followed.
const NOT_FOLLOWED: &str = "assoc break call color date endlocal exit for ftype goto if mklink path pause prompt \
    rem set setlocal shift start time title verify";

struct Reader<'a> {
    text: &'a str,
    start: &'a Start,
    line: Line,
    places: Option<Vec<String>>,
    budget: &'a mut Budget,
}

impl Reader<'_> {
    fn scene(&self) -> Scene<'_> {
        Scene {
            places: self.places.as_deref(),
            home: self.start.home.as_deref(),
        }
    }

    /// Follows a command. Returns whether that could be done.
    fn part(&mut self, part: &Part) -> bool {
        let Some((first, operands)) = part.words.split_first() else {
            return false;
        };
        let lower = first.text.to_ascii_lowercase();
        let is_split = first
            .text
            .contains(['=', ',', ';', '/', '"', '+', '[', ']', ':'])
            && !is_path(&first.text);
        if is_split || !first.is_known() || NOT_FOLLOWED.split_whitespace().any(|it| it == lower) {
            return false;
        }
        match OWN.get(lower.as_str()) {
            Some(own) => self.own(part, &lower, own, operands),
            None => self.program(part, first),
        }
    }

    fn own(&mut self, part: &Part, name: &str, own: &Own, operands: &[Word]) -> bool {
        let index = self.line.commands.len();
        let mut simple = self.simple(part, name);
        simple.class = own.class;
        let mut files: Vec<&Word> = Vec::new();
        let is_text = own.operands == ["text*"];
        for word in operands {
            if is_text {
                continue;
            }
            // These have blanks of their own, or are switches that stand at the end of a word.
            if word.text.contains(['=', ',', ';', '+'])
                || word.text.get(1..).is_some_and(|it| it.contains('/'))
            {
                return false;
            }
            if !word.text.starts_with('/') {
                files.push(word);
                continue;
            }
            let lower = word.text.to_ascii_lowercase();
            if own.switches.contains(&format!("{lower}!").as_str()) {
                simple.class = Class::Irreversible;
            } else if !own.switches.contains(&lower.as_str()) {
                return false;
            }
        }
        self.line.commands.push(simple);
        if own.operands == ["dir"] {
            return self.moves(part, &files);
        }
        if files.is_empty() && name == "dir" {
            self.touch(index, &Word::literal(".", part.range.clone()), "read");
        }
        for (at, word) in files.iter().enumerate() {
            let slot = own
                .operands
                .get(at)
                .or(own.operands.last().filter(|it| it.ends_with('*')));
            let Some(slot) = slot else { return false };
            let mut word = (*word).clone();
            if *slot == "beside"
                && let Some(head) = files
                    .first()
                    .and_then(|it| it.text.rfind(['\\', '/']).and_then(|at| it.text.get(..=at)))
            {
                word.text.insert_str(0, head);
            }
            self.touch(index, &word, slot.trim_end_matches('*'));
        }
        // Without a target the files are copied here.
        if own.operands.len() == 2 && files.len() == 1 && name != "ren" && name != "rename" {
            self.touch(index, &Word::literal(".", part.range.clone()), "write");
        }
        if name == "popd" {
            self.places = None;
        }
        own.operands != ["none"] || files.is_empty()
    }

    fn simple(&self, part: &Part, name: &str) -> Simple {
        let first = self.places.as_deref().and_then(<[String]>::first);
        let directory = first.map_or(Directory::Unknown, |it| {
            Directory::Known(it.as_str().into())
        });
        let source = self.text.get(part.range.clone()).unwrap_or_default();
        let mut words = part.words.clone();
        if let Some(first) = words.first_mut()
            && first.text != name
        {
            name.clone_into(&mut first.text);
            first.kind = WordKind::Known;
        }
        Simple::of(part.range.clone(), source, words, directory)
    }

    fn touch(&mut self, index: usize, word: &Word, slot: &str) {
        let modes: &[Mode] = match slot {
            "read" => &[Mode::Read],
            "write" | "beside" => &[Mode::Write],
            "both" => &[Mode::Read, Mode::Write],
            _ => return,
        };
        if let Some(name) = machine(&word.text) {
            let mut host = crate::path::host(&name, true, &word.range);
            host.by = Some(index);
            self.line.hosts.push(host);
        }
        for (path, is_certain) in self.scene().paths(&word.text, word.kind == WordKind::Glob) {
            for &mode in modes {
                self.line.touches.push(Touch {
                    path: path.clone(),
                    mode,
                    is_certain,
                    range: word.range.clone(),
                    by: Some(index),
                });
            }
        }
    }

    /// Follows a change of the directory, which may fail.
    fn moves(&mut self, part: &Part, files: &[&Word]) -> bool {
        let [word] = files else {
            return files.is_empty();
        };
        if part.is_piped {
            return true;
        }
        let home = self.start.home.clone();
        let to = self.places.as_deref().and_then(|places| {
            let found = places.iter().map(|place| {
                let view = View {
                    directory: Some(place),
                    home: home.as_deref(),
                };
                match path(&word.text, false, view) {
                    Some(command::TouchedPath::Exact(path)) => Some(path),
                    _ => None,
                }
            });
            found.collect::<Option<Vec<String>>>()
        });
        self.places = match (to, self.places.take()) {
            (Some(mut to), Some(before)) => {
                to.extend(before);
                to.dedup();
                (to.len() <= 4).then_some(to)
            }
            _ => None,
        };
        true
    }

    fn program(&mut self, part: &Part, first: &Word) -> bool {
        let index = self.line.commands.len();
        let name = program::name(&first.text);
        let arguments = part.words.get(1..).unwrap_or_default();
        let inner = program::inner(&name, arguments);
        let row = program::row(&name);
        if inner.is_some() || row.is_some() {
            let simple = self.simple(part, &name);
            self.line.commands.push(simple);
        } else {
            let line = program::read(self.text, &part.words, self.scene());
            append(&mut self.line, line);
        }
        for (path, mode) in program::own_file(first, self.scene()) {
            self.line.touches.push(Touch {
                path,
                mode,
                is_certain: true,
                range: first.range.clone(),
                by: Some(index),
            });
        }
        if let Some(own) = self.line.commands.get_mut(index)
            && let Some(first) = own.words.first_mut()
            && first.text != name
        {
            first.text = name;
            first.kind = WordKind::Known;
        }
        match inner {
            // A row tells only that the program is not followed.
            None => row.is_none(),
            Some(Inner::Nothing) => true,
            Some(Inner::PowerShell(word)) => self.inside(index, &word, walk::read_at),
            Some(Inner::Cmd(word)) => self.inside(index, &word, read_at),
            Some(Inner::File(word)) => {
                self.touch(index, &word, "read");
                true
            }
            Some(Inner::Opaque(..)) => false,
        }
    }

    fn inside(
        &mut self,
        index: usize,
        word: &Word,
        read: impl Fn(&str, &Start, &mut Budget) -> Line,
    ) -> bool {
        let depth = self.start.depth + 1;
        if !word.is_known() || depth > 8 || !self.budget.read(&word.text) {
            return false;
        }
        let start = Start {
            places: self.places.clone(),
            home: self.start.home.clone(),
            levels: self.start.levels,
            depth,
        };
        let line = read(&word.text, &start, self.budget);
        graft(&mut self.line, line, index, &word.range);
        true
    }
}

/// Whether a program is named by a path, which has a drive or separators.
fn is_path(text: &str) -> bool {
    let bytes = text.as_bytes();
    let has_drive = matches!(bytes, [letter, b':', b'\\', ..] if letter.is_ascii_alphabetic());
    let rest = if has_drive {
        text.get(2..).unwrap_or_default()
    } else {
        text
    };
    rest.contains('\\') && !rest.contains(['=', ',', ';', '/', '"', '+', '[', ']', ':'])
}
