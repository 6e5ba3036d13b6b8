//! The files that are made beside those that the words of a command name, and when its words tell all. It must not read options.

use std::borrow::Cow;

use super::apply::{Applied, shows_variable};
use super::grammar::{Mark, Slot, Told};
use super::inner::is_stream;
use super::place;
use crate::line::{Class, Mode, TouchedPath, Word, WordKind};

/// The endings of packed files, and what is left of a name without them.
const ENDINGS: &[(&str, &str)] = &[
    ("-gz", ""),
    ("-z", ""),
    (".bz", ""),
    (".bz2", ""),
    (".gz", ""),
    (".lz4", ""),
    (".lzma", ""),
    (".taz", ".tar"),
    (".tbz", ".tar"),
    (".tbz2", ".tar"),
    (".tgz", ".tar"),
    (".txz", ".tar"),
    (".tzst", ".tar"),
    (".xz", ""),
    (".z", ""),
    (".zst", ""),
    ("_z", ""),
];

impl Applied<'_> {
    /// Whether all that the command does stands in its words, and the rules for files, machines and
    /// commands see all of it.
    pub(super) fn is_told(&self, words: &[Word]) -> bool {
        let reading = self.reading;
        let grammar = reading.grammar;
        let effects = &self.effects;
        let is_proven = match grammar.told {
            _ if effects.class == Class::ReadOnly => true,
            Told::Never => self.has(Mark::Told),
            Told::Always => true,
            Told::WithArguments => words.len() > 1,
            Told::WithOperands => !reading.operands.is_empty(),
        };
        // What `find -exec` runs is judged as a command of its own.
        let runs = reading.switches.iter();
        let runs = runs.filter(|used| used.switch.slot == Some(Slot::Exec));
        let is_doubtful = reading.is_doubtful || words.iter().any(shows_variable);
        let is_look = effects.class == Class::ReadOnly;
        is_proven
            && effects.class <= Class::Ordinary
            && effects.opaque.is_none()
            && effects.hosts.is_empty()
            && effects
                .touches
                .iter()
                .all(|touch| !matches!(touch.path, TouchedPath::Unknown(_)))
            && (is_look || effects.inner.len() == runs.count())
            && (is_look || grammar.is_silent || !is_doubtful)
            && reading.is_listed
            && reading.loose.is_empty()
            && (!grammar.is_here || self.looks)
            && !self.has(Mark::Here)
            && (is_look || !self.has(Mark::Untold))
            && !self.is_untold
    }

    /// A file that is written, or a directory in which the other operands get a name each.
    pub(super) fn into(&mut self, word: &Word) {
        let reading = self.reading;
        let is_target = self.has(Mark::Target);
        let count = reading.operands.len();
        if count == 1 && !is_target {
            // `ln FILE`: the name in the directory where it works.
            self.linked(word);
            if let Some(name) = base(word) {
                self.write(&name);
            }
            return;
        }
        self.write(word);
        let others = count - usize::from(!is_target && count > 0);
        for other in reading.operands.iter().take(others) {
            // Under which names a pattern is copied nobody knows.
            self.is_untold |= !other.is_known();
            let Some(name) = base(other).filter(|_| word.is_known()) else {
                continue;
            };
            let name = Word {
                text: [word.text.trim_end_matches('/'), "/", &name.text].concat(),
                ..name
            };
            self.touch(&name, Mode::Write, false);
        }
    }

    /// A file that is packed or unpacked, and the one that takes its place.
    pub(super) fn packed(&mut self, word: &Word) {
        self.touch(word, Mode::Read, true);
        self.write(word);
        if !word.is_known() {
            self.is_untold = true;
            return;
        }
        let text = word.text.as_str();
        let switches = self.reading.switches.iter();
        let endings = switches.filter(|used| used.switch.slot == Some(Slot::Ending));
        for ending in endings.filter_map(|used| used.value.first()) {
            let Some(name) = text.strip_suffix(ending.text.as_str()) else {
                self.write(&Word {
                    text: format!("{text}{}", ending.text),
                    kind: ending.kind,
                    ..word.clone()
                });
                continue;
            };
            self.write(&Word {
                text: name.to_owned(),
                kind: ending.kind,
                ..word.clone()
            });
        }
        let lower = text.to_ascii_lowercase();
        let found = ENDINGS.iter().find(|(ending, _)| lower.ends_with(ending));
        let beside = if let Some((ending, left)) = found {
            let name = text.get(..text.len() - ending.len()).unwrap_or_default();
            format!("{name}{left}")
        } else {
            let ending = match self.reading.grammar.name {
                "bzip2" | "bunzip2" => "bz2",
                "xz" | "unxz" => "xz",
                "zstd" | "unzstd" => "zst",
                "lz4" | "unlz4" => "lz4",
                "lzma" | "unlzma" => "lzma",
                "compress" | "uncompress" => "Z",
                _ => "gz",
            };
            format!("{text}.{ending}")
        };
        self.write(&Word {
            text: beside,
            ..word.clone()
        });
    }

    /// The copy that an edit in place leaves behind.
    pub(super) fn keep_copy(&mut self, word: &Word) {
        let endings = self.reading.switches.iter();
        let endings = endings.filter(|used| used.switch.has(Mark::InPlace));
        let endings: Vec<Word> = endings
            .filter_map(|used| used.value.first().cloned())
            .collect();
        for ending in endings.iter().filter(|ending| !ending.text.is_empty()) {
            if !ending.is_known() || ending.text.contains(['/', '*']) {
                self.touch_unknown(
                    ending,
                    Mode::Write,
                    "its ending says where the copy is kept",
                );
                continue;
            }
            self.write(&Word {
                text: format!("{}{}", word.text, ending.text),
                ..word.clone()
            });
        }
    }

    /// What a link leads to: whoever uses the link in this line uses it. A soft link is read from where it
    /// stands, which is the directory of its name, or that name where it is a directory.
    pub(super) fn linked(&mut self, word: &Word) {
        let reading = self.reading;
        let target = reading
            .switches
            .iter()
            .find(|used| used.switch.has(Mark::Target));
        let target = target.and_then(|used| used.value.first());
        let link = reading
            .operands
            .last()
            .copied()
            .filter(|_| reading.operands.len() > 1);
        let here = self.at.clone();
        let is_from_here = !self.has(Mark::Soft) || word.text.starts_with('/');
        match target.or(link) {
            Some(link) if !is_from_here => {
                let cut = link.text.rfind('/').map_or(0, |slash| slash + 1);
                let parent = Word {
                    text: format!("./{}", link.text.get(..cut).unwrap_or_default()),
                    ..link.clone()
                };
                let parent = if link.text.starts_with('/') {
                    Word {
                        text: link.text.get(..cut).unwrap_or_default().to_owned(),
                        ..parent
                    }
                } else {
                    parent
                };
                let is_directory = target.is_some();
                let from = if is_directory { link } else { &parent };
                self.at = Cow::Owned(place::moved(from, &here));
                self.touch(word, Mode::Read, true);
                self.touch(word, Mode::Write, false);
                self.at = Cow::Owned(place::moved(link, &here));
                self.touch(word, Mode::Read, false);
                self.touch(word, Mode::Write, false);
                self.at = here;
            }
            _ => {
                self.touch(word, Mode::Read, true);
                self.touch(word, Mode::Write, false);
            }
        }
    }

    /// What is shown of each thing: `%G?` has git run another program, and `ps` can show the environment.
    pub(super) fn format(&mut self, word: &Word) {
        let lower = word.text.to_ascii_lowercase();
        let shows = ["%g", "signature", "environ"]
            .iter()
            .any(|it| lower.contains(it));
        if shows {
            self.raise(Class::Ordinary);
            self.is_untold = true;
        }
    }

    /// A pattern for names, which finds hidden files too: those right where the search begins and one
    /// below, as rules speak of them.
    pub(super) fn glob(&mut self, word: &Word) {
        if word.text.starts_with('!') {
            return;
        }
        let reading = self.reading;
        let skipped = usize::from(!self.has(Mark::Given));
        let roots: Vec<&str> = match reading.operands.get(skipped..).unwrap_or_default() {
            [] => vec!["."],
            some => some
                .iter()
                .map(|root| root.text.trim_end_matches('/'))
                .collect(),
        };
        for hidden in hidden_names(&word.text) {
            for root in &roots {
                for text in [format!("{root}/{hidden}"), format!("{root}/*/{hidden}")] {
                    let name = Word {
                        kind: WordKind::Glob,
                        text,
                        ..word.clone()
                    };
                    self.touch(&name, Mode::Read, false);
                }
            }
        }
    }

    /// What a container sees of this machine, and may change. A name without a slash is one of its volumes.
    pub(super) fn mount(&mut self, word: &Word) {
        let mut fields = word.text.split(',');
        let named = fields.find_map(|field| {
            let (name, value) = field.split_once('=')?;
            ["src", "source"].contains(&name.trim()).then_some(value)
        });
        let place = named.or_else(|| word.text.split(':').next());
        let place = Word {
            text: place.unwrap_or_default().to_owned(),
            ..word.clone()
        };
        self.suspect(&place);
    }

    /// The files whose text is sent.
    pub(super) fn sent(&mut self, slot: Slot, word: &Word) {
        let text = word.text.as_str();
        if word.kind == WordKind::Dynamic && text.starts_with(['$', '`']) {
            return self.touch_unknown(word, Mode::Read, "its value may name a file");
        }
        let mut files: Vec<&str> = Vec::new();
        match slot {
            Slot::Cookie => files.extend(Some(text).filter(|text| !text.contains('='))),
            Slot::Form => {
                let value = text.split_once('=').map_or("", |(_, value)| value);
                let names = value.strip_prefix(['@', '<']);
                for name in names.into_iter().flat_map(|names| names.split(',')) {
                    let name = name.split(';').next().unwrap_or_default();
                    files.push(name.trim().trim_matches('"'));
                }
                files.extend(names.filter(|names| names.contains([',', ';', '"'])));
            }
            _ => {
                let is_file = |head: &str| {
                    head.is_empty()
                        || head.ends_with('=')
                        || slot == Slot::Encoded && !head.contains('=')
                };
                let named = text.split_once('@').filter(|(head, _)| is_file(head));
                files.extend(named.map(|(_, file)| file));
            }
        }
        for file in files {
            let file = Word {
                text: file.to_owned(),
                ..word.clone()
            };
            self.touch(&file, Mode::Read, true);
        }
    }

    /// An option of the shell that is started, by its name.
    pub(super) fn setting(&mut self, word: &Word) {
        const PLAIN: &[&str] = &[
            "errexit",
            "errtrace",
            "functrace",
            "noclobber",
            "noexec",
            "noglob",
            "nounset",
            "pipefail",
            "posix",
            "verbose",
            "xtrace",
        ];
        if !(word.is_known() && PLAIN.contains(&word.text.as_str())) {
            self.hide(word, "this option changes how the shell reads a line");
        }
        // Each command is shown with the values of its variables.
        if word.text == "xtrace" {
            self.raise(Class::Ordinary);
            self.is_untold = true;
        }
    }

    /// A file that the shell itself runs: code of the project, as with `bash FILE`. Without a slash it is
    /// looked for elsewhere.
    pub(super) fn sourced(&mut self, word: &Word) {
        self.raise(Class::Ordinary);
        self.touch(word, Mode::Read, true);
        if !word.is_known() || !word.text.contains('/') || is_stream(word) {
            self.hide(word, "it runs a file in the shell itself");
        }
    }
}

/// The patterns that hidden names fit, of those that fit this one.
pub(super) fn hidden_names(pattern: &str) -> Vec<String> {
    let name = pattern.rsplit('/').next().unwrap_or_default();
    let (head, choices, tail) = match name
        .split_once('{')
        .map(|(head, rest)| (head, rest.split_once('}')))
    {
        None => (name, vec![""], ""),
        Some((head, Some((inside, tail))))
            if !format!("{inside}{tail}").contains(['{', '}', '/']) =>
        {
            (head, inside.split(',').collect(), tail)
        }
        Some(_) => return vec![".*".to_owned()],
    };
    let mut found = Vec::new();
    for choice in choices {
        let name = format!("{head}{choice}{tail}");
        if let Some(rest) = name.strip_prefix('*') {
            let rest = rest.trim_start_matches('*');
            found.push(format!(".*{rest}"));
            if rest.starts_with('.') {
                found.push(rest.to_owned());
            }
        } else if name.starts_with(['?', '[', '\\']) {
            found.push(".*".to_owned());
        } else if name.starts_with('.') {
            found.push(name);
        }
    }
    found
}

/// The last part of a path, where it is a name.
fn base(word: &Word) -> Option<Word> {
    let text = word.text.trim_end_matches('/');
    let name = text.rsplit('/').next().unwrap_or_default();
    let is_name = !matches!(name, "" | "." | "..") && word.kind != WordKind::Dynamic;
    is_name.then(|| Word {
        text: name.to_owned(),
        ..word.clone()
    })
}
