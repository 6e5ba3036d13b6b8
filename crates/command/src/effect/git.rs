//! The operands and settings of git that no list of options tells. It must not know which sub-command takes them.

use super::apply::Applied;
use super::file::hidden_names;
use super::{GIT_SETTINGS, place, proxy};
use crate::line::{Class, Host, Mode, Word, WordKind};

/// Names of files and folders without an ending, which are hardly those of a branch.
const PLAIN_NAMES: &[&str] = &[
    "BUILD",
    "CHANGELOG",
    "Containerfile",
    "Dockerfile",
    "Gemfile",
    "Jenkinsfile",
    "Justfile",
    "LICENSE",
    "Makefile",
    "NOTICE",
    "Procfile",
    "README",
    "Rakefile",
    "VERSION",
    "Vagrantfile",
    "WORKSPACE",
    "app",
    "apps",
    "assets",
    "bin",
    "cmd",
    "config",
    "crates",
    "doc",
    "docs",
    "examples",
    "internal",
    "justfile",
    "lib",
    "makefile",
    "packages",
    "pkg",
    "public",
    "scripts",
    "spec",
    "src",
    "test",
    "tests",
    "web",
];

impl Applied<'_> {
    /// A word that names a file rather than a branch, or stands behind one, throws changes away.
    pub(super) fn branch(&mut self, word: &Word) {
        let is_first = self
            .reading
            .operands
            .first()
            .is_some_and(|first| first.range == word.range);
        let is_file = !word.is_known()
            || PLAIN_NAMES.contains(&word.text.as_str())
            || word.text.rsplit('/').next().is_some_and(|name| {
                name.rsplit_once('.').is_some_and(|(_, end)| {
                    !end.is_empty() && end.bytes().all(|byte| byte.is_ascii_alphabetic())
                })
            });
        if !is_first || is_file || word.text.ends_with('/') {
            self.raise(Class::Irreversible);
            for file in pathspec(word) {
                self.touch(&file, Mode::Write, false);
            }
        }
    }

    /// Files of a repository, as git finds them.
    pub(super) fn pathspec(&mut self, word: &Word, mode: Mode) {
        self.raise(Class::Ordinary);
        for file in pathspec(word) {
            self.touch(&file, mode, true);
        }
    }

    /// A name of a commit, a file, or `commit:file`.
    pub(super) fn revision(&mut self, word: &Word) {
        for file in pathspec(word) {
            self.touch(&file, Mode::Read, false);
        }
        if [":(", ":!", ":^", ":/"]
            .iter()
            .any(|it| word.text.starts_with(it))
        {
            return;
        }
        // `:2:file` is the file as a merge has it.
        let stages = [":0:", ":1:", ":2:", ":3:"];
        let staged = stages.iter().find_map(|it| word.text.strip_prefix(it));
        let named = staged.or_else(|| word.text.split_once(':').map(|(_, file)| file));
        if let Some(file) = named {
            let file = Word {
                text: file.to_owned(),
                ..word.clone()
            };
            self.touch(&file, Mode::Read, false);
        }
    }

    /// `1,9:file` and `:function:file`.
    pub(super) fn lines(&mut self, word: &Word) {
        let Some((_, file)) = word.text.rsplit_once(':') else {
            // Of `git blame` it names no file.
            return;
        };
        let file = Word {
            text: file.to_owned(),
            ..word.clone()
        };
        self.touch(&file, Mode::Read, true);
    }

    pub(super) fn git_remote(&mut self, word: &Word) {
        let is_here = word.is_known() && word.text.starts_with(['/', '.']);
        if word.text.starts_with("ext::") || word.text.starts_with('-') {
            self.hide(word, "this remote is a program");
        } else if let Some(host) = place::remote(word) {
            self.reach(host);
        } else if is_here {
            self.touch(word, Mode::Read, true);
            self.raise(Class::Ordinary);
        } else {
            self.reach(Host {
                is_known: false,
                ..place::host(&word.text, word)
            });
        }
    }

    /// `name=value` of git, for this call alone.
    pub(super) fn git_setting(&mut self, word: &Word) {
        let (name, value) = word.text.split_once('=').unwrap_or((&word.text, ""));
        let value = Word {
            text: value.to_owned(),
            ..word.clone()
        };
        if !word.is_single {
            return self.hide(word, "the setting is not written out");
        }
        self.set(word, name, &value);
    }

    /// The name of a setting that is kept; its value is the operand behind it. What git will run by it, in
    /// this call or a later one, is what this command is judged by.
    pub(super) fn git_key(&mut self, word: &Word) {
        let Some(value) = self.reading.operands.get(1).copied() else {
            return;
        };
        if word.is_known() {
            self.set(word, &word.text, value);
        } else {
            self.hide(word, "the setting is not written out");
        }
    }

    /// An alias is what it stands for, and a few settings are harmless.
    fn set(&mut self, word: &Word, name: &str, value: &Word) {
        let name = name.to_ascii_lowercase();
        let is_pager = name == "core.pager" && matches!(value.text.as_str(), "cat" | "less" | "");
        if name.starts_with("alias.") && value.is_known() {
            return self.alias(value);
        }
        if name == "format.pretty" {
            self.format(value);
        }
        if proxy::is_setting_of_git(&name) {
            self.url(value);
        }
        if !(is_plain_setting(&name) || is_pager && value.is_known()) {
            self.hide(
                word,
                format!("the setting `{name}` can run another program"),
            );
        }
    }

    /// What an alias stands for, with whatever words it is called with behind it.
    fn alias(&mut self, value: &Word) {
        self.raise(Class::Ordinary);
        let text = match value.text.strip_prefix('!') {
            Some(script) => format!("{script} \"$@\""),
            None => format!("git {} \"$@\"", value.text),
        };
        let script = Word {
            text,
            ..value.clone()
        };
        let any = Word {
            kind: WordKind::Dynamic,
            is_single: false,
            ..value.clone()
        };
        self.script(&[script], vec![any.clone(), any]);
    }
}

/// The files that git takes the word for, which finds names by a pattern itself: there a wildcard finds a dot
/// at the start of a name, and crosses directories.
pub(super) fn pathspec(word: &Word) -> Vec<Word> {
    if word.kind == WordKind::Dynamic {
        return vec![word.clone()];
    }
    let text = word.text.as_str();
    let (magic, rest) = match text
        .strip_prefix(":(")
        .and_then(|text| text.split_once(')'))
    {
        Some(found) => found,
        None if text.starts_with(":!") || text.starts_with(":^") => ("exclude", ""),
        None => text
            .strip_prefix(":/")
            .map_or(("", text), |rest| ("top", rest)),
    };
    let has = |wanted: &str| magic.split(',').any(|it| it.trim().starts_with(wanted));
    if has("exclude") {
        return Vec::new();
    }
    let named = |text: String| Word {
        kind: if text.contains(['*', '?', '[', '\\']) && !has("literal") {
            WordKind::Glob
        } else {
            word.kind
        },
        text,
        ..word.clone()
    };
    let mut found = vec![named(rest.to_owned())];
    if has("top") {
        found.push(named(format!("../{rest}")));
    }
    // Which files these find is not told by names.
    if has("attr") || has("icase") {
        found.push(Word {
            kind: WordKind::Dynamic,
            ..word.clone()
        });
    }
    if found.iter().any(|word| word.kind == WordKind::Glob) {
        let cut = rest.rfind('/').map_or(0, |slash| slash + 1);
        let start = rest.get(..cut).unwrap_or_default();
        for hidden in hidden_names(rest) {
            found.push(named(format!("{start}{hidden}")));
            found.push(named(format!("{start}*/{hidden}")));
        }
    }
    found
}

/// Whether a setting of git runs nothing, whatever it is set to.
fn is_plain_setting(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    GIT_SETTINGS
        .iter()
        .any(|known| match known.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == *known,
        })
}
