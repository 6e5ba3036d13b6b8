//! What the parameters of a command mean: files, hosts, its class, what it runs. It must not read text.

use std::ops::Range;

use command::{Class, Host, Mode, Opaque, TouchedPath, Word, WordKind};

use crate::bind::{Bound, bind};
use crate::data::{Cmdlet, Nature, Parameter, Piped, Slot, is_plain_type};
use crate::lex::{Argument, Value};
use crate::path::{self, View};

/// What comes through the pipeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Flow {
    /// Nothing: the command is the first.
    First,
    /// These files.
    Paths(Vec<TouchedPath>),
    Unknown,
}

/// A file that is touched.
#[derive(Debug, Clone)]
pub(crate) struct Touched {
    pub path: TouchedPath,
    pub mode: Mode,
    pub is_certain: bool,
    pub range: Range<usize>,
}

/// Where the shell goes.
#[derive(Debug, Clone)]
pub(crate) enum Move {
    /// To this directory.
    To(String),
    Unknown,
}

/// What a command does.
#[derive(Debug)]
pub(crate) struct Effects {
    pub class: Class,
    pub opaque: Option<Opaque>,
    pub touches: Vec<Touched>,
    pub hosts: Vec<Host>,
    pub moves: Option<Move>,
    /// Texts that are run.
    pub code: Vec<Word>,
    /// The words of a program that is run.
    pub program: Vec<Word>,
    /// What it hands on.
    pub flow: Flow,
    /// Whether its words fit its parameters.
    pub is_faulty: bool,
}

/// What is known where a command runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scene<'a> {
    /// The directories it may run in, the likely one first; `None`: any.
    pub places: Option<&'a [String]>,
    pub home: Option<&'a str>,
}

impl Scene<'_> {
    /// The files that `text` may name, each with whether it surely does.
    pub(crate) fn paths(&self, text: &str, is_pattern: bool) -> Vec<(TouchedPath, bool)> {
        let view = |directory| View {
            directory,
            home: self.home,
        };
        let Some(places) = self.places else {
            let found = path::path(text, is_pattern, view(None));
            return found.map(|it| (it, true)).into_iter().collect();
        };
        let mut found: Vec<(TouchedPath, bool)> = Vec::new();
        for (index, place) in places.iter().enumerate() {
            let Some(path) = path::path(text, is_pattern, view(Some(place))) else {
                continue;
            };
            if !found.iter().any(|(it, _)| *it == path) {
                found.push((path, index == 0));
            }
        }
        found
    }
}

/// What `cmdlet`, called by `name`, does with `arguments`.
pub(crate) fn apply(
    cmdlet: &'static Cmdlet,
    name: &Word,
    arguments: &[Argument],
    scene: Scene<'_>,
    flow: &Flow,
) -> Effects {
    let mut applied = Applied {
        cmdlet,
        name,
        scene,
        effects: Effects {
            class: cmdlet.class,
            opaque: None,
            touches: Vec::new(),
            hosts: Vec::new(),
            moves: None,
            code: Vec::new(),
            program: Vec::new(),
            flow: Flow::Unknown,
            is_faulty: false,
        },
    };
    let mut is_plain = false;
    if cmdlet.is_listed() {
        let bound = bind(cmdlet, arguments);
        applied.bound(&bound);
        applied.piped(&bound, flow);
        if bound.is_faulty {
            applied.faulty(arguments);
        } else {
            is_plain = applied.makes_plain_object(&bound);
        }
    } else {
        applied.suspect(arguments);
    }
    applied.nature(is_plain);
    applied.effects
}

struct Applied<'a> {
    cmdlet: &'static Cmdlet,
    name: &'a Word,
    scene: Scene<'a>,
    effects: Effects,
}

impl Applied<'_> {
    fn raise(&mut self, class: Class) {
        self.effects.class = self.effects.class.max(class);
    }

    fn hide(&mut self, range: &Range<usize>, why: impl Into<String>) {
        self.raise(Class::Ordinary);
        self.effects.opaque.get_or_insert_with(|| Opaque {
            range: range.clone(),
            why: why.into(),
        });
    }

    fn nature(&mut self, is_plain: bool) {
        let range = self.name.range.clone();
        match self.cmdlet.nature {
            Nature::Plain => {}
            Nature::Opaque if is_plain => self.effects.class = Class::ReadOnly,
            Nature::Network => self.effects.hosts.push(Host {
                name: "?".to_owned(),
                port: None,
                is_known: false,
                is_of_program: true,
                range,
                by: None,
            }),
            Nature::Opaque => {
                let why = format!("`{}` runs what its words do not say", self.cmdlet.name);
                self.hide(&range, why);
            }
        }
    }

    fn bound(&mut self, bound: &Bound) {
        for (place, values) in &bound.given {
            let Some(parameter) = self.cmdlet.parameters.get(*place) else {
                continue;
            };
            self.raise(parameter.class);
            let Some(slot) = parameter.slot else { continue };
            for value in values {
                self.value(slot, value, bound);
            }
        }
    }

    /// Whether it only makes an object of a type that does nothing.
    fn makes_plain_object(&self, bound: &Bound) -> bool {
        let mut types = bound
            .values(self.cmdlet, |slot| slot == Slot::Type)
            .peekable();
        self.effects.opaque.is_none()
            && types.peek().is_some()
            && types
                .all(|it| it.word.is_known() && is_plain_type(&it.word.text.to_ascii_lowercase()))
    }

    fn value(&mut self, slot: Slot, value: &Value, bound: &Bound) {
        let word = &value.word;
        match slot {
            Slot::Text | Slot::Arguments => {}
            Slot::File {
                reads,
                writes,
                is_pattern,
            } => self.file(value, reads, writes, is_pattern),
            Slot::Here => self.file(value, false, true, false),
            Slot::Below | Slot::Beside => self.named(slot, value, bound),
            Slot::Directory => self.directory(value),
            Slot::Block if value.is_block => {}
            Slot::Filter if value.is_block || word.is_known() => {}
            Slot::Block | Slot::Filter => {
                self.hide(&word.range, "this is code that is not written out");
            }
            Slot::Code => {
                self.hide(&word.range, "this text is run");
                if value.word.is_known() {
                    self.effects.code.push(word.clone());
                }
            }
            Slot::Script => {
                self.raise(Class::Ordinary);
                self.file(value, true, false, false);
                if !word.is_known() {
                    self.hide(&word.range, "the script that is run is not written out");
                }
            }
            Slot::Program => {
                self.effects.program.push(word.clone());
                let all = bound.values(self.cmdlet, |slot| slot == Slot::Arguments);
                let words = all.flat_map(|it| split(&it.word));
                self.effects.program.extend(words);
            }
            Slot::Url => self.url(value),
            Slot::Host => {
                self.raise(Class::Ordinary);
                let host = path::host(&word.text, word.is_known(), &word.range);
                self.effects.hosts.push(host);
            }
            Slot::Method => {
                let is_look = ["get", "head", "options", "default"]
                    .iter()
                    .any(|it| it.eq_ignore_ascii_case(&word.text));
                if !(word.is_known() && is_look) {
                    self.raise(Class::Publish);
                }
            }
            Slot::Type => {
                let is_plain = is_plain_type(&word.text.to_ascii_lowercase());
                if !(word.is_known() && is_plain) {
                    self.hide(&word.range, "an object of this type can do anything");
                }
            }
            Slot::Variable => {
                let name = word.text.to_ascii_lowercase();
                if !word.is_known() || name.starts_with("ps") || name == "executioncontext" {
                    self.hide(&word.range, "this variable may change what commands do");
                }
            }
            Slot::Opaque => self.hide(&word.range, "it can do anything with this"),
        }
    }

    fn file(&mut self, value: &Value, reads: bool, writes: bool, is_pattern: bool) {
        if writes {
            self.raise(Class::Ordinary);
        }
        let word = &value.word;
        let paths = if word.kind == WordKind::Dynamic {
            let why = format!("the value of `{}` is not known", word.text);
            vec![(TouchedPath::Unknown(why), true)]
        } else {
            if let Some(name) = path::machine(&word.text) {
                self.raise(Class::Ordinary);
                self.effects
                    .hosts
                    .push(path::host(&name, true, &word.range));
            }
            self.scene
                .paths(&word.text, is_pattern && value.has_wildcard)
        };
        self.touch(&paths, reads, writes, &word.range);
    }

    fn touch(
        &mut self,
        paths: &[(TouchedPath, bool)],
        reads: bool,
        writes: bool,
        range: &Range<usize>,
    ) {
        for (path, is_certain) in paths {
            for (is_so, mode) in [(reads, Mode::Read), (writes, Mode::Write)] {
                if is_so {
                    self.effects.touches.push(Touched {
                        path: path.clone(),
                        mode,
                        is_certain: *is_certain,
                        range: range.clone(),
                    });
                }
            }
        }
    }

    /// A name below or beside the path that another parameter has.
    fn named(&mut self, slot: Slot, value: &Value, bound: &Bound) {
        let files = |slot| matches!(slot, Slot::File { .. });
        let bases: Vec<&Value> = bound.values(self.cmdlet, files).collect();
        if bases.is_empty() {
            return self.file(value, false, true, false);
        }
        for base in bases {
            let start = path::slashed(&base.word.text);
            let start = match slot {
                Slot::Beside => start.rsplit_once('/').map_or(".", |(head, _)| head),
                _ => start.as_str(),
            };
            let mut joined = value.clone();
            joined.word.text = format!("{start}/{}", value.word.text);
            if !base.word.is_known() {
                joined.word.kind = WordKind::Dynamic;
            }
            self.file(&joined, false, true, false);
        }
    }

    fn directory(&mut self, value: &Value) {
        let text = value.word.text.as_str();
        let is_plain =
            value.word.is_known() && !value.has_wildcard && !matches!(text, "-" | "+" | "");
        let slashed = path::slashed(text);
        let (drive, _) = slashed.split_once(':').unwrap_or(("", ""));
        self.effects.moves = Some(if is_plain && drive.len() <= 1 {
            Move::To(text.to_owned())
        } else {
            Move::Unknown
        });
    }

    fn url(&mut self, value: &Value) {
        self.raise(Class::Ordinary);
        let word = &value.word;
        let lower = word.text.to_ascii_lowercase();
        if let Some(start) = lower.find("file:") {
            let mut local = value.clone();
            let path = word.text.get(start + "file:".len()..).unwrap_or_default();
            path.strip_prefix("//")
                .unwrap_or(path)
                .clone_into(&mut local.word.text);
            return self.file(&local, true, false, false);
        }
        let host = path::host(&word.text, word.is_known(), &word.range);
        self.effects.hosts.push(host);
    }

    /// What becomes of files that come through the pipeline, or are there by default.
    fn piped(&mut self, bound: &Bound, flow: &Flow) {
        let is_path = |slot: Slot| matches!(slot, Slot::File { .. } | Slot::Directory | Slot::Here);
        let is_given = bound.given.iter().any(|(at, _)| {
            let parameter = self.cmdlet.parameters.get(*at);
            parameter.is_some_and(|it| {
                let is_target = it.names.iter().any(|name| name == "destination");
                it.slot.is_some_and(is_path) && !is_target
            })
        });
        let range = self.name.range.clone();
        let here = || self.scene.paths(".", false);
        let paths = match flow {
            _ if is_given => Vec::new(),
            Flow::First if self.cmdlet.piped == Piped::List => here(),
            Flow::First => Vec::new(),
            Flow::Paths(paths) => paths.iter().map(|it| (it.clone(), false)).collect(),
            Flow::Unknown => {
                let why = "what comes through the pipeline is not known".to_owned();
                vec![(TouchedPath::Unknown(why), false)]
            }
        };
        match self.cmdlet.piped {
            Piped::Nothing | Piped::Pass => {}
            Piped::Read | Piped::List => self.touch(&paths, true, false, &range),
            Piped::Write => self.touch(&paths, false, true, &range),
            Piped::Both => self.touch(&paths, true, true, &range),
            Piped::Remove => {
                if !paths.is_empty() {
                    self.raise(Class::Irreversible);
                }
                self.touch(&paths, false, true, &range);
            }
            Piped::Directory => {
                if !is_given {
                    self.effects.moves = Some(Move::Unknown);
                }
            }
        }
        if bound
            .values(self.cmdlet, |slot| slot == Slot::Here)
            .next()
            .is_none()
            && self
                .cmdlet
                .parameters
                .iter()
                .any(|it| it.slot == Some(Slot::Here))
        {
            let here = self.scene.paths(".", false);
            self.touch(&here, false, true, &range);
        }
        self.effects.flow = match (self.cmdlet.piped, flow) {
            (Piped::List, _) => {
                let paths = self.effects.touches.iter().map(|it| it.path.clone());
                Flow::Paths(paths.collect())
            }
            (Piped::Pass, Flow::Paths(paths)) => Flow::Paths(paths.clone()),
            _ => Flow::Unknown,
        };
    }

    /// A word fits no parameter: it is an error, or the command is not the one of the table.
    fn faulty(&mut self, arguments: &[Argument]) {
        self.effects.is_faulty = true;
        self.effects.flow = Flow::Unknown;
        let destroys = |it: &Parameter| it.class == Class::Irreversible;
        if self.cmdlet.parameters.iter().any(destroys) {
            self.raise(Class::Irreversible);
        }
        self.suspect(arguments);
    }

    /// Words that may be files, for all that is known.
    fn suspect(&mut self, arguments: &[Argument]) {
        let writes = self.cmdlet.class != Class::ReadOnly;
        for value in arguments.iter().flat_map(|it| &it.values) {
            let word = &value.word;
            if word.text.contains("://") {
                let host = path::host(&word.text, false, &word.range);
                self.raise(Class::Ordinary);
                self.effects.hosts.push(host);
            } else if word.kind == WordKind::Dynamic && !value.is_block {
                let why = format!("the value of `{}` is not known", word.text);
                self.touch(
                    &[(TouchedPath::Unknown(why), false)],
                    true,
                    writes,
                    &word.range,
                );
            } else if path::looks_like_path(&word.text) && !word.text.starts_with('-') {
                let mut paths = self.scene.paths(&word.text, value.has_wildcard);
                for (_, is_certain) in &mut paths {
                    *is_certain = false;
                }
                self.touch(&paths, true, writes, &word.range);
            }
        }
    }
}

/// The words in one text of arguments.
fn split(word: &Word) -> Vec<Word> {
    let parts = word.text.split_whitespace();
    parts
        .map(|text| Word {
            text: text.to_owned(),
            ..word.clone()
        })
        .collect()
}
