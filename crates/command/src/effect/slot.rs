//! What one value or operand means by its slot. It must not know which word it is, nor read options.

use std::borrow::Cow;

use super::apply::Applied;
use super::grammar::{Mark, Slot};
use super::inner::is_stream;
use super::language::{self, Verdict};
use super::parse::is_assignment;
use super::{Changes, awk, place, sql, variable};
use crate::line::{Class, Host, Mode, Word, WordKind};

impl Applied<'_> {
    /// What a value or an operand means.
    pub(super) fn value(&mut self, slot: Slot, word: &Word) {
        match slot {
            Slot::Text | Slot::Ending | Slot::Stand | Slot::Command | Slot::Exec => {}
            Slot::Paged if is_pager_command(word) => {
                self.hide(word, "it may be a command of the pager");
            }
            Slot::Seen => {
                self.touch(word, Mode::Look, true);
            }
            Slot::Read if self.has(Mark::InPlace) => {
                self.touch(word, Mode::Read, true);
                self.write(word);
                self.keep_copy(word);
            }
            Slot::Read | Slot::Directory | Slot::Paged => {
                self.touch(word, Mode::Read, true);
                // Many programs take words from a file that is named so.
                self.behind_at(word);
            }
            Slot::Tree if self.has(Mark::Mild) && self.effects.class == Class::Ordinary => {}
            Slot::Saved if has_part(&word.text) => {
                self.touch_unknown(word, Mode::Write, "a part of a URL is in its name");
            }
            // A dash is a name like others here.
            Slot::Out if word.text == "-" => self.write(&Word {
                text: "./-".to_owned(),
                ..word.clone()
            }),
            Slot::Write | Slot::Saved | Slot::Out => self.write(word),
            Slot::Tree | Slot::Changed => self.pathspec(word, Mode::Write),
            Slot::Both => {
                self.touch(word, Mode::Read, true);
                self.write(word);
            }
            Slot::Removed => {
                let is_many = word.kind == WordKind::Dynamic && !word.is_single
                    || word.kind == WordKind::Glob && !is_litter(&word.text);
                if is_many || word.text == "{}" || word.text.contains("**") {
                    self.raise(Class::Irreversible);
                }
                self.write(word);
            }
            Slot::Lines => self.lines(word),
            Slot::Task => self.task(word),
            Slot::Reset => self.reset(word),
            Slot::Noted => self.noted_remote(word),
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
            Slot::Url => self.url(word),
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
            Slot::WgetSetting => self.wget_setting(word),
            Slot::Data | Slot::Encoded | Slot::Form | Slot::Cookie => self.sent(slot, word),
            Slot::Defined => {
                self.raise(Class::Ordinary);
                let value = word.text.split_once('=').map_or("", |(_, value)| value);
                let value = Word {
                    text: value.to_owned(),
                    ..word.clone()
                };
                self.suspect(&value);
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
            Slot::Split => self.split(word),
            Slot::Piped => self.piped(word),
            Slot::Target => self.target(word),
            Slot::Mount => self.mount(word),
            Slot::File if word.text == "-" || is_stream(word) => {
                self.hide(word, "it runs what stands on its standard input");
            }
            Slot::File => {
                self.raise(Class::Ordinary);
                self.touch(word, Mode::Read, true);
            }
            Slot::Code => self.hide(word, "this is code that is not read here"),
            Slot::Sed => self.language(word, language::sed),
            Slot::Awk => self.language(word, awk::awk),
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
        let at = std::mem::replace(&mut self.at, Cow::Borrowed(self.called_at));
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
}

/// Whether `#1` or its like stands in the name.
fn has_part(text: &str) -> bool {
    let mut parts = text.split('#').skip(1);
    parts.any(|part| part.starts_with(|c: char| c.is_ascii_digit()))
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

/// Whether a pattern finds only what builds and editors leave behind.
fn is_litter(pattern: &str) -> bool {
    const ENDINGS: [&str; 17] = [
        "bak", "class", "coverage", "gcda", "gcno", "gcov", "gz", "log", "o", "old", "orig", "out",
        "profraw", "pyc", "rej", "swp", "tmp",
    ];
    let name = pattern.rsplit('/').next().unwrap_or(pattern);
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    ending.is_some_and(|ending| ENDINGS.contains(&ending)) || pattern.starts_with("/tmp/")
}
