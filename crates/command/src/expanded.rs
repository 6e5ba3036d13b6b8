//! The variables whose values a command gets and the text does not tell. It must not know what they hold.

use crate::{RedirectOp, Simple, Word, WordKind};

impl Simple {
    /// The names of variables that stand in its words, assignments and here-documents and whose values are
    /// not known: `SECRET` of `echo "$SECRET"`, and of `X=${SECRET:-none}`.
    pub fn expanded(&self) -> impl Iterator<Item = &str> {
        let values = self.assignments.iter().map(|it| &it.value);
        let texts = self.redirects.iter().filter(|it| it.op == RedirectOp::Text);
        let words = self.words.iter().chain(values);
        let words = words.chain(texts.map(|it| &it.target));
        words.flat_map(names)
    }
}

fn names(word: &Word) -> impl Iterator<Item = &str> {
    // What is known stands there as a value.
    let text = if word.kind == WordKind::Dynamic {
        word.text.as_str()
    } else {
        ""
    };
    text.split('$').skip(1).filter_map(|behind| {
        let behind = behind.strip_prefix('{').unwrap_or(behind);
        let behind = behind.trim_start_matches(['!', '#']);
        let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
        let end = behind.find(|it| !is_name(it)).unwrap_or(behind.len());
        behind.get(..end).filter(|name| !name.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use crate::{Setting, Shell, Simple, read};

    fn expanded(line: &str) -> Vec<String> {
        let setting = Setting {
            directory: "/w",
            home: Some("/home/u"),
            shell: Shell::Bash,
        };
        let line = read(line, &setting);
        let commands = line.commands.iter();
        let mut names: Vec<String> = commands
            .flat_map(Simple::expanded)
            .map(str::to_owned)
            .collect();
        names.dedup();
        names
    }

    #[test]
    fn what_is_expanded_and_not_known_is_named() {
        for (line, want) in [
            ("echo $SECRET", &["SECRET"][..]),
            ("echo \"a${SECRET:-none}b\"", &["SECRET"]),
            ("echo ${!SECRET} ${#SECRET}", &["SECRET"]),
            ("cat <<< $SECRET", &["SECRET"]),
            ("cat <<E\n$SECRET\nE", &["SECRET"]),
            ("X=$SECRET; echo ok", &["SECRET"]),
            ("echo $A$B", &["A", "B"]),
            ("echo '$SECRET'", &[]),
            ("cat <<'E'\n$SECRET\nE", &[]),
            ("X=1; echo $X ~ $HOME", &[]),
        ] {
            assert_eq!(expanded(line), want, "{line}");
        }
    }
}
