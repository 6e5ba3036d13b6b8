//! How a program treats the files that its words name. It must not look at one, nor know a rule.

use crate::{Simple, effect};

/// What a program reads of a directory that it goes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Below {
    /// What has no dot before its name.
    Visible,
    /// Everything.
    All,
}

impl Simple {
    /// Whether what its words name has another name afterwards, or one more: rules that speak of the first
    /// no longer meet it.
    pub fn renames(&self) -> bool {
        matches!(self.called(), "mv" | "git mv" | "ln" | "rename")
    }

    /// Whether a file that it writes holds nothing of what it held before.
    pub fn replaces(&self) -> bool {
        matches!(
            self.called(),
            "cp" | "mv"
                | "git mv"
                | "dd"
                | "install"
                | "tee"
                | "rsync"
                | "ln"
                | "sort"
                | "uniq"
                | "shuf"
                | "sponge"
        )
    }

    /// Whether only words of it are not known, and whatever they are, what its program could do to others than files
    /// it could do before. It may still be [opaque](Simple::opaque): such a word may be an option, and of sed a script.
    pub fn is_fixed(&self) -> bool {
        effect::is_fixed(&self.words)
    }

    /// What it reads of directories that its words name, if it goes through them.
    pub fn reads_below(&self) -> Option<Below> {
        let has = |letters: &[char], words: &[&str]| {
            self.words.iter().skip(1).any(|word| {
                let text = word.text.as_str();
                let cluster = text.strip_prefix('-').filter(|it| !it.starts_with('-'));
                let name = text.split('=').next().unwrap_or_default();
                // A long name may be shortened.
                name.len() > 2 && words.iter().any(|it| it.starts_with(name))
                    || cluster.is_some_and(|it| it.contains(letters))
            })
        };
        let all = |is_so: bool| is_so.then_some(Below::All);
        match self.called() {
            "grep" | "egrep" | "fgrep" => all(has(
                &['r', 'R', 'd'],
                &["--recursive", "--dereference-recursive", "--directories"],
            )),
            "rg" | "ag" if has(&['u', '.'], &["--hidden", "--unrestricted"]) => Some(Below::All),
            "rg" | "ag" => Some(Below::Visible),
            "cp" | "scp" | "diff" | "colordiff" => {
                all(has(&['r', 'R', 'a'], &["--recursive", "--archive"]))
            }
            "tar" | "bsdtar" | "zip" | "rsync" | "7z" | "rgrep" | "ack" | "ugrep" | "ug" => {
                Some(Below::All)
            }
            name if name.starts_with("git") => all(has(&[], &["--no-index"])),
            _ => None,
        }
    }

    /// Whether it surely reads no file of this name below the directories it goes through:
    /// `grep -r --include='*.ts'` reads no `.env`.
    pub fn passes_over(&self, name: &str) -> bool {
        effect::passes_over(&self.words, name)
    }

    /// The program and sub-command as grammars name them.
    fn called(&self) -> &'static str {
        effect::name(&self.words).unwrap_or_default()
    }
}
