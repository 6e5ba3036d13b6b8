//! What git says of files that it could not change, and the command that brings them up to date.
//! Must not say that a command may run: its words are asked about like any other.

use text::escape::visible_line;

/// The most files that a command names.
const FILES_MAX: usize = 20;

/// What a wall answers.
const WALLS: &[&str] = &["Device or resource busy", "Read-only file system"];

/// Longer lines are not repeated.
const LINE_BYTES_MAX: usize = 200;

/// What git left behind.
#[derive(Default)]
struct Left {
    /// Of the old version.
    old: Vec<String>,
    /// Of no version any more.
    surplus: Vec<String>,
    /// Names that could not be made, at which git gave up.
    unmade: Vec<String>,
}

/// What to say where git could not change files that are protected; empty if it does not say so. One that switches
/// goes on, takes them for changed, and would keep the old ones; others give up.
pub(crate) fn left_by_git(output: &str, line: &str) -> String {
    let left = Left::of(output);
    let switches = ["checkout", "switch"];
    let is_switch = left.unmade.is_empty() && switches.iter().any(|it| line.contains(it));
    if left.names().is_empty() {
        return String::new();
    }
    if is_switch {
        let restored = (!left.old.is_empty()).then(|| command("git restore", &left.old));
        let removed = (!left.surplus.is_empty()).then(|| command("rm", &left.surplus));
        let commands: Vec<String> = restored.into_iter().chain(removed).collect();
        return format!(
            "\nGit left protected files as they were. They look changed or deleted now and are not: do not commit them, \
             and name the files you commit. This brings them up to date, and asks to edit them, at the top of the \
             repository: `{}`. Else tell the user.",
            visible_line(&commands.join("; "))
        );
    }
    let is_short = line.len() <= LINE_BYTES_MAX && !line.contains(['\n', '`']);
    let line = if is_short { line.trim() } else { "..." };
    format!(
        "\nGit gave up at protected files, which are as they were, and may have changed others by then: put those back \
         first, `git status` shows them. The same works where it names the protected files, which asks to edit them, at \
         the top of the repository: `{} && {}`. Else tell the user.",
        visible_line(&command("touch -c", &left.names())),
        visible_line(line)
    )
}

impl Left {
    fn of(output: &str) -> Self {
        let mut left = Self::default();
        for line in output.lines().map(str::trim) {
            if !WALLS.iter().any(|it| line.ends_with(it)) {
                continue;
            }
            let old = [
                "error: unable to unlink old '",
                "error: unable to create file ",
            ];
            if let Some(name) = old.iter().find_map(|it| named(line, it)) {
                left.old.push(name);
            } else if let Some(name) = named(line, "warning: unable to unlink '") {
                left.surplus.push(name);
            } else if let Some(name) = named(line, "fatal: cannot rmdir '") {
                left.unmade.push(name);
            }
        }
        for names in [&mut left.old, &mut left.surplus, &mut left.unmade] {
            names.sort();
            names.dedup();
        }
        left
    }

    fn names(&self) -> Vec<String> {
        let all = self.old.iter().chain(&self.surplus).chain(&self.unmade);
        all.cloned().collect()
    }
}

/// The file in a line that begins so.
fn named(line: &str, start: &str) -> Option<String> {
    let (name, _) = line.strip_prefix(start)?.rsplit_once(':')?;
    Some(name.trim_end_matches('\'').to_owned())
}

fn command(start: &str, names: &[String]) -> String {
    let named = names
        .iter()
        .take(FILES_MAX)
        .map(|name| format!(" {}", word(name)));
    let more = if names.len() > FILES_MAX { " ..." } else { "" };
    format!("{start}{}{more}", named.collect::<String>())
}

/// A name as one word of a shell.
fn word(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@".contains(c);
    if name.chars().all(is_plain) && !name.starts_with('-') {
        return name.to_owned();
    }
    let front = if name.starts_with('-') { "./" } else { "" };
    format!("'{front}{}'", name.replace('\'', r"'\''"))
}
