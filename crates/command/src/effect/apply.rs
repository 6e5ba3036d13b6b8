//! What one reading of a command means: touches, hosts, what runs inside, its class. It must not read options.

use super::grammar::{Mark, Slot};
use super::inner::is_stream;
use super::language::{self, Verdict};
use super::parse::{Reading, Used, is_assignment};
use super::{Changes, Effects, place, sql, variable};
use crate::line::{Class, Directory, Host, Mode, Opaque, Touch, TouchedPath, Word, WordKind};

/// What a reading of a command that runs in `at` does.
pub(super) fn apply<'r>(reading: &'r Reading<'r>, words: &[Word], at: &'r Directory) -> Effects {
    let mut applied = Applied::new(reading, at);
    applied.options();
    applied.operands();
    applied.rest();
    applied.leftovers(words);
    applied.effects.is_told = applied.is_told(words);
    applied.effects.runs_project = reading.grammar.runs_project;
    applied.effects
}

pub(super) struct Applied<'r> {
    pub(super) reading: &'r Reading<'r>,
    pub(super) effects: Effects,
    /// Where the command works.
    pub(super) at: Directory,
    /// Where it was called.
    called_at: &'r Directory,
    /// The word that moves the command to another directory.
    pub(super) directory: Option<Word>,
    pub(super) looks: bool,
    /// Whether it does something that its words do not tell.
    pub(super) is_untold: bool,
}

impl<'r> Applied<'r> {
    fn new(reading: &'r Reading<'r>, at: &'r Directory) -> Self {
        let grammar = reading.grammar;
        let looks = reading.looks();
        let is_bare = reading.operands.is_empty() && reading.rest.is_empty();
        let mut effects = Effects::ordinary();
        let is_mild = reading.is_listed
            && reading
                .switches
                .iter()
                .any(|used| used.switch.has(Mark::Mild));
        effects.class = match grammar.bare {
            _ if looks => Class::ReadOnly,
            _ if is_mild => Class::Ordinary,
            Some(class) if is_bare => class,
            _ => grammar.class,
        };
        let mut applied = Self {
            reading,
            effects,
            at: at.clone(),
            called_at: at,
            directory: None,
            looks,
            is_untold: false,
        };
        let moves = |used: &&Used<'_>| used.switch.slot == Some(Slot::Directory);
        for used in reading.switches.iter().filter(moves) {
            if let Some(word) = used.value.first() {
                applied.touch(word, Mode::Read, true);
                applied.at = place::moved(word, &applied.at);
                applied.directory = Some(word.clone());
            }
        }
        applied
    }

    pub(super) fn has(&self, mark: Mark) -> bool {
        self.reading.marks.has(mark)
    }

    pub(super) fn raise(&mut self, class: Class) {
        self.effects.class = self.effects.class.max(class);
    }

    pub(super) fn hide(&mut self, word: &Word, why: impl Into<String>) {
        self.raise(Class::Ordinary);
        let opaque = Opaque {
            range: word.range.clone(),
            why: why.into(),
        };
        self.effects.opaque.get_or_insert(opaque);
    }

    pub(super) fn touch(&mut self, word: &Word, mode: Mode, is_certain: bool) -> bool {
        let Some(path) = place::path(word, &self.at) else {
            return false;
        };
        self.effects.touches.push(Touch {
            path,
            mode,
            is_certain,
            range: word.range.clone(),
            by: None,
        });
        true
    }

    pub(super) fn write(&mut self, word: &Word) {
        if self.touch(word, Mode::Write, true) {
            self.raise(Class::Ordinary);
        }
    }

    /// A word that may be a file, for all that is known.
    pub(super) fn suspect(&mut self, word: &Word) {
        if place::looks_like_path(word) {
            self.touch(word, Mode::Read, false);
            self.touch(word, Mode::Write, false);
        }
    }

    pub(super) fn options(&mut self) {
        for used in &self.reading.switches {
            let switch = used.switch;
            let is_neutral = switch.slot == Some(Slot::Write)
                && used
                    .value
                    .iter()
                    .all(|word| place::path(word, &self.at).is_none());
            for mark in switch.marks.iter().filter(|_| !is_neutral) {
                match mark {
                    Mark::Writes | Mark::InPlace | Mark::Packs => self.raise(Class::Ordinary),
                    Mark::Irreversible => self.raise(Class::Irreversible),
                    Mark::Publish => self.raise(Class::Publish),
                    Mark::Opaque => {
                        let why = format!("`{}` can run another program", used.word.text);
                        self.hide(used.word, why);
                    }
                    Mark::Here => self.here(used.word),
                    Mark::Names => {
                        self.touch_unknown(
                            used.word,
                            Mode::Read,
                            "the files are not named in its words",
                        );
                    }
                    Mark::Looks
                    | Mark::Mild
                    | Mark::Told
                    | Mark::Untold
                    | Mark::Soft
                    | Mark::Target
                    | Mark::Given
                    | Mark::Inline
                    | Mark::Input
                    | Mark::Last
                    | Mark::Pair
                    | Mark::Named
                    | Mark::Below => {}
                }
            }
            match switch.slot {
                None | Some(Slot::Directory) => {}
                Some(Slot::Exec) => self.exec(used),
                Some(slot) => {
                    let place = usize::from(switch.has(Mark::Named));
                    match used.value.get(place) {
                        Some(word) => self.value(slot, word),
                        // The value is left out, or missing.
                        None if slot == Slot::Text => {}
                        None => self.raise(Class::Ordinary),
                    }
                }
            }
        }
    }

    pub(super) fn touch_unknown(&mut self, word: &Word, mode: Mode, why: &str) {
        let path = TouchedPath::Unknown(why.to_owned());
        let range = word.range.clone();
        self.effects.touches.push(Touch {
            path,
            mode,
            is_certain: true,
            range,
            by: None,
        });
    }

    /// The working directory itself, as far as it is known.
    pub(super) fn directory(&self) -> TouchedPath {
        match &self.at {
            Directory::Known(path) => TouchedPath::Exact(path.to_string()),
            Directory::Unknown => TouchedPath::Unknown("the directory is not known".to_owned()),
        }
    }

    /// The working directory is written.
    pub(super) fn here(&mut self, word: &Word) {
        self.raise(Class::Ordinary);
        let (path, range) = (self.directory(), word.range.clone());
        self.effects.touches.push(Touch {
            path,
            mode: Mode::Write,
            is_certain: true,
            range,
            by: None,
        });
    }

    pub(super) fn operands(&mut self) {
        let operands = &self.reading.operands;
        if self.looks {
            let archives = self.reading.grammar.operands.iter().flatten();
            let reads = archives
                .clone()
                .all(|(slot, _)| matches!(slot, Slot::Archive | Slot::Read));
            for word in operands
                .iter()
                .filter(|_| reads && archives.clone().count() > 0)
            {
                self.touch(word, Mode::Read, true);
            }
            return;
        }
        let Some(slots) = &self.reading.grammar.operands else {
            for word in operands {
                self.raise(Class::Ordinary);
                self.suspect(word);
            }
            return;
        };
        let given = usize::from(self.has(Mark::Given));
        let mut slots = slots.get(given..).unwrap_or_default();
        if self.has(Mark::Target) {
            slots = slots.get(..1).unwrap_or(slots);
        }
        for (index, word) in operands.iter().enumerate() {
            if let Some(slot) = slot_of(slots, index, operands.len()) {
                self.value(slot, word);
                // It may be several words, and the next of them stands where a file is written.
                let is_many = !word.is_single
                    && matches!(word.kind, WordKind::Dynamic | WordKind::Glob)
                    && !slots.iter().any(|(_, is_any_number)| *is_any_number);
                let behind = slots.iter().skip(index + 1);
                if is_many && behind.clone().any(|(slot, _)| *slot == Slot::Write) {
                    self.write(word);
                }
            } else {
                self.raise(Class::Ordinary);
                self.suspect(word);
            }
        }
    }

    /// What a value or an operand means.
    pub(super) fn value(&mut self, slot: Slot, word: &Word) {
        match slot {
            Slot::Text | Slot::Stand | Slot::Command | Slot::Exec => {}
            Slot::Paged if is_pager_command(word) => {
                self.hide(word, "it may be a command of the pager");
            }
            Slot::Read if self.has(Mark::InPlace) => {
                self.touch(word, Mode::Read, true);
                self.write(word);
                self.keep_copy(word);
            }
            Slot::Read | Slot::Directory | Slot::Paged => {
                self.touch(word, Mode::Read, true);
            }
            Slot::Tree if self.has(Mark::Mild) && self.effects.class == Class::Ordinary => {}
            Slot::Write | Slot::Tree => self.write(word),
            Slot::Both => {
                self.touch(word, Mode::Read, true);
                self.write(word);
            }
            Slot::Removed => {
                let is_many = word.kind == WordKind::Dynamic && !word.is_single;
                if is_many || word.text == "{}" || word.text.contains("**") {
                    self.raise(Class::Irreversible);
                }
                self.write(word);
            }
            Slot::Lines => self.lines(word),
            Slot::Task => {
                let publishes = ["deploy", "publish", "release", "upload"];
                let mut parts = word.text.split(':');
                if parts.any(|part| publishes.iter().any(|it| part.starts_with(it))) {
                    self.raise(Class::Publish);
                }
                self.suspect(word);
            }
            Slot::Module => {
                if ["twine", "flit"].contains(&word.text.as_str()) {
                    self.raise(Class::Publish);
                }
            }
            Slot::Into => self.into(word),
            Slot::Packed => self.packed(word),
            Slot::Linked => self.linked(word),
            Slot::Sourced => self.sourced(word),
            Slot::Setting => self.setting(word),
            Slot::Glob => self.glob(word),
            Slot::Format => self.format(word),
            Slot::Archive => self.archive(word),
            Slot::Branch => self.branch(word),
            Slot::Trap => {
                let is_reset = word.is_known() && (word.text.is_empty() || word.text == "-");
                if !is_reset {
                    self.script(std::slice::from_ref(word), Vec::new());
                }
            }
            Slot::Revision => self.revision(word),
            Slot::Maybe => self.suspect(word),
            Slot::Clock if word.is_known() && word.text.starts_with('+') => {}
            Slot::Made | Slot::Clock => self.raise(Class::Ordinary),
            Slot::Assignment => self.assignment(word),
            Slot::Host => self.reach(place::host(&word.text, word)),
            Slot::Url if word.text.starts_with("file:") => {
                let path = word
                    .text
                    .trim_start_matches("file:")
                    .trim_start_matches("//");
                let local = Word {
                    text: path.to_owned(),
                    ..word.clone()
                };
                self.touch(&local, Mode::Read, true);
            }
            Slot::Url => {
                let bare = word.text.split('/').next().unwrap_or_default();
                self.reach(place::url(word).unwrap_or_else(|| place::host(bare, word)));
            }
            Slot::RemoteRead | Slot::RemoteWrite => match place::remote(word) {
                Some(host) => {
                    self.reach(host);
                    if slot == Slot::RemoteWrite {
                        self.raise(Class::Publish);
                    }
                }
                None if slot == Slot::RemoteRead => {
                    self.touch(word, Mode::Read, true);
                }
                None => self.write(word),
            },
            Slot::GitRemote => self.git_remote(word),
            Slot::GitSetting => self.git_setting(word),
            Slot::GitKey => self.git_key(word),
            Slot::Data => {
                let file = word
                    .text
                    .split_once('@')
                    .filter(|(head, _)| head.is_empty() || head.ends_with('='));
                if let Some((_, file)) = file {
                    let file = Word {
                        text: file.to_owned(),
                        ..word.clone()
                    };
                    self.touch(&file, Mode::Read, true);
                }
            }
            Slot::Method => {
                let is_look = ["GET", "HEAD", "OPTIONS"]
                    .iter()
                    .any(|name| name.eq_ignore_ascii_case(&word.text));
                if !(word.is_known() && is_look) {
                    self.raise(Class::Publish);
                }
            }
            Slot::Program => self.program(word),
            Slot::Script => self.split_script(word),
            Slot::File if word.text == "-" || is_stream(word) => {
                self.hide(word, "it runs what stands on its standard input");
            }
            Slot::File => {
                self.raise(Class::Ordinary);
                self.touch(word, Mode::Read, true);
            }
            Slot::Code => self.hide(word, "this is code that is not read here"),
            Slot::Sed => self.language(word, language::sed),
            Slot::Awk => self.language(word, language::awk),
            Slot::Jq => self.language(word, language::jq),
            Slot::Sql => self.sql(word),
            Slot::Redis => self.redis(word),
        }
    }

    pub(super) fn language(&mut self, word: &Word, read: fn(&str) -> Verdict) {
        if !word.is_known() {
            return self.hide(word, "this is code that is not written out");
        }
        match read(&word.text) {
            Verdict::Files { read, written } => {
                for name in read {
                    let file = Word {
                        text: name,
                        ..word.clone()
                    };
                    self.touch(&file, Mode::Read, true);
                }
                for name in written {
                    let file = Word {
                        text: name,
                        ..word.clone()
                    };
                    self.write(&file);
                }
            }
            Verdict::Environment => self.raise(Class::Ordinary),
            Verdict::Writes => {
                self.raise(Class::Ordinary);
                self.touch_unknown(word, Mode::Write, "code names the file");
            }
            Verdict::Runs => self.hide(word, "this code runs commands or is not understood"),
        }
    }

    /// What a text for a database says is destroyed stays so where the rest of it is not understood.
    fn sql(&mut self, word: &Word) {
        if sql::destroys(&word.text) {
            self.raise(Class::Irreversible);
        }
        self.language(word, sql::sql);
    }

    /// The first operand of a command for Redis says what the others are.
    fn redis(&mut self, word: &Word) {
        if sql::destroys(&word.text) {
            self.raise(Class::Irreversible);
        }
        let first = self.reading.operands.first();
        let is_first = first.is_some_and(|first| first.range == word.range);
        if is_first && !(word.is_known() && sql::is_plain_redis(&word.text)) {
            self.hide(word, "this command of the database is not on the list");
        }
    }

    pub(super) fn reach(&mut self, host: Host) {
        self.raise(Class::Ordinary);
        self.effects.hosts.push(host);
    }

    /// An archive is found from where the command was called, not where it unpacks.
    pub(super) fn archive(&mut self, word: &Word) {
        if let Some(host) = place::remote(word) {
            return self.reach(host);
        }
        let at = std::mem::replace(&mut self.at, self.called_at.clone());
        if self.has(Mark::Packs) {
            self.write(word);
        } else {
            self.touch(word, Mode::Read, true);
        }
        self.at = at;
    }

    pub(super) fn assignment(&mut self, word: &Word) {
        self.raise(Class::Ordinary);
        let name = word.text.split(['=', '+']).next().unwrap_or_default();
        let value = word.text.split_once('=').map_or("", |(_, value)| value);
        let value = Word {
            text: value.to_owned(),
            ..word.clone()
        };
        // The folders of a list, and a value that is not given, matter to what runs later.
        let is_given = word.text.contains('=') && !word.text.contains("+=");
        let is_harmless = variable::changes(name, &value, &self.at) == Changes::Nothing;
        if variable::is_dangerous_variable(name) && !(is_given && is_harmless) {
            self.hide(word, format!("setting `{name}` changes what programs do"));
        } else if !word.is_known() && !is_assignment(&word.text) || name.contains('[') {
            self.hide(word, "the name of the variable is not written out");
        }
    }

    pub(super) fn leftovers(&mut self, words: &[Word]) {
        let reading = self.reading;
        let Some(program) = words.first() else {
            return;
        };
        if let Some(why) = reading.grammar.opaque.filter(|_| !self.looks) {
            self.hide(program, why);
        }
        if !reading.is_listed {
            self.raise(Class::Ordinary);
        }
        for word in &reading.loose {
            self.suspect(word);
        }
        if let Some(word) = &reading.hidden {
            self.hide(
                word,
                format!("`{}` could become an option or a sub-command", word.text),
            );
        }
        if !reading.grammar.is_silent && words.iter().any(shows_variable) {
            self.raise(Class::Ordinary);
        }
        let reads_below = reading.grammar.is_below || self.has(Mark::Below);
        if reads_below && !self.looks && !self.effects.touches.iter().any(|touch| touch.is_certain)
        {
            let (path, range) = (self.directory(), program.range.clone());
            let mode = Mode::Read;
            self.effects.touches.push(Touch {
                path,
                mode,
                is_certain: false,
                range,
                by: None,
            });
        }
        if reading.grammar.is_here && !self.looks {
            self.here(program);
        }
        if !self.looks {
            for name in &reading.grammar.reaches {
                let is_known = *name != "?";
                if is_known || self.effects.hosts.is_empty() {
                    let host = Host {
                        is_known,
                        is_of_program: true,
                        ..place::host(name, program)
                    };
                    self.reach(host);
                }
            }
        }
        if self.directory.is_some()
            && self.effects.class != Class::ReadOnly
            && !reading.grammar.is_wrapper()
            && let Some(word) = self.directory.clone()
        {
            let (path, range) = (self.directory(), word.range);
            let mode = Mode::Write;
            self.effects.touches.push(Touch {
                path,
                mode,
                is_certain: false,
                range,
                by: None,
            });
        }
    }
}

/// Whether the value of the word comes from a variable, and so may hold what the environment keeps
/// secret: `$NAME`, `${NAME}`, `$((NAME))`, but not the output of a command.
pub(crate) fn shows_variable(word: &Word) -> bool {
    if word.kind != WordKind::Dynamic {
        return false;
    }
    let mut rest = word.text.as_str();
    // Where one end is not plain, none behind it is looked for, so that each character is seen once.
    let mut is_plain = true;
    while let Some((_, after)) = rest.split_once('$') {
        if !after.starts_with('(') || after.starts_with("((") {
            return true;
        }
        let behind = is_plain.then(|| behind_substitution(after)).flatten();
        is_plain = behind.is_some();
        rest = behind.unwrap_or(after);
    }
    false
}

/// What follows the output of a command whose text begins with its parenthesis: what it runs is judged
/// as commands of their own. `None` where it is not plain where it ends.
fn behind_substitution(text: &str) -> Option<&str> {
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            // In a quote, a comment or a here-document a parenthesis is text.
            '\\' | '#' | '`' | '\'' => return None,
            _ => {}
        }
        if depth == 0 {
            let inside = text.get(..at).unwrap_or_default();
            let pieces = inside.split('"').skip(1).step_by(2);
            let is_plain =
                !inside.contains("<<") && pieces.clone().all(|it| !it.contains(['(', ')']));
            return is_plain.then(|| text.get(at + 1..).unwrap_or_default());
        }
    }
    None
}

/// The slot of the operand at `index` among `count`.
fn slot_of(slots: &[(Slot, bool)], index: usize, count: usize) -> Option<Slot> {
    let many = slots.iter().position(|(_, is_many)| *is_many);
    let Some(many) = many else {
        return slots.get(index).map(|(slot, _)| *slot);
    };
    let after = slots.len() - many - 1;
    if index < many {
        return slots.get(index).map(|(slot, _)| *slot);
    }
    let from_end = count.saturating_sub(index);
    let place = if from_end <= after {
        slots.len() - from_end
    } else {
        many
    };
    slots.get(place).map(|(slot, _)| *slot)
}

/// Whether a word may be a command of a pager: `+` and more than a place in the file.
fn is_pager_command(word: &Word) -> bool {
    let is_place =
        |text: &str| !text.is_empty() && text.chars().all(|it| it.is_ascii_alphanumeric());
    match word.text.strip_prefix('+') {
        Some(text) => !(word.is_known() && is_place(text)),
        None => !word.is_known() && word.text.starts_with('$'),
    }
}
