//! Machines that a word or a setting names: where a command goes, or what it goes through to get there. It must
//! not know which option takes them.

use super::apply::Applied;
use super::place;
use crate::line::{Mode, Word};

/// Whether a setting of git, in lower case, names a machine that is reached before all others.
pub(super) fn is_setting_of_git(name: &str) -> bool {
    let parts = name.split_once('.').zip(name.rsplit_once('.'));
    parts.is_some_and(|((section, _), (_, key))| {
        matches!(section, "http" | "remote") && key == "proxy"
    })
}

impl Applied<'_> {
    /// The machine of a URL, of which the scheme may be left out; a file where it says so. Nothing is none.
    pub(super) fn url(&mut self, word: &Word) {
        if word.is_known() && word.text.is_empty() {
            return;
        }
        if let Some(path) = place::local(&word.text) {
            if word.text.contains(['{', '[']) {
                return self.touch_unknown(word, Mode::Read, "it stands for more than one file");
            }
            let local = Word {
                text: path,
                ..word.clone()
            };
            self.touch(&local, Mode::Read, true);
            return;
        }
        let bare = word.text.split('/').next().unwrap_or_default();
        self.reach(place::url(word).unwrap_or_else(|| place::host(bare, word)));
    }

    /// A line as it stands in the configuration of wget. All but a proxy may name a program, or a file.
    pub(super) fn wget_setting(&mut self, word: &Word) {
        let (name, value) = word.text.split_once('=').unwrap_or((&word.text, ""));
        // As wget reads it, in any case and without these signs.
        let plain = name.trim().replace(['-', '_'], "").to_ascii_lowercase();
        if !word.is_known() || !matches!(plain.as_str(), "httpproxy" | "httpsproxy" | "ftpproxy") {
            return self.hide(word, "a setting of `wget` can run another program");
        }
        let value = Word {
            text: value.trim().to_owned(),
            ..word.clone()
        };
        self.url(&value);
    }
}
