//! Puts what was found in one text into what was found in another. It must not read text.

use std::ops::Range;

use command::{Line, Unknown, Via};

/// How much is followed in one text and those inside it.
#[derive(Debug)]
pub(crate) struct Budget {
    /// One for each command, and one for each 64 bytes of its words.
    pub fuel: usize,
    /// Bytes of inner texts.
    pub script_bytes: usize,
}

impl Budget {
    pub(crate) fn new() -> Self {
        Self {
            fuel: 40_000,
            script_bytes: 4 * command::TEXT_BYTES_MAX,
        }
    }

    /// Uses up `amount`. Returns whether there was enough.
    pub(crate) fn burn(&mut self, amount: usize) -> bool {
        self.fuel = self.fuel.saturating_sub(amount);
        self.fuel > 0
    }

    /// Uses up the bytes of an inner text. Returns whether there were enough.
    pub(crate) fn read(&mut self, text: &str) -> bool {
        match self.script_bytes.checked_sub(text.len()) {
            Some(left) => {
                self.script_bytes = left;
                true
            }
            None => false,
        }
    }
}

/// Adds what an inner text runs, which the command at `by` runs. Its places are all `range`.
pub(crate) fn graft(line: &mut Line, inner: Line, by: usize, range: &Range<usize>) {
    let first = line.commands.len();
    for mut command in inner.commands {
        command.range = range.clone();
        for word in &mut command.words {
            word.range = range.clone();
        }
        for redirect in &mut command.redirects {
            redirect.range = range.clone();
            redirect.target.range = range.clone();
        }
        for assignment in &mut command.assignments {
            assignment.range = range.clone();
            assignment.value.range = range.clone();
        }
        if let Some(opaque) = &mut command.opaque {
            opaque.range = range.clone();
        }
        command.via = Some(match command.via {
            Some(via) => Via {
                command: via.command + first,
                ..via
            },
            None => Via {
                command: by,
                is_local: true,
                is_named: false,
            },
        });
        line.commands.push(command);
    }
    for mut touch in inner.touches {
        touch.range = range.clone();
        touch.by = Some(touch.by.map_or(by, |it| it + first));
        line.touches.push(touch);
    }
    for mut host in inner.hosts {
        host.range = range.clone();
        host.by = Some(host.by.map_or(by, |it| it + first));
        line.hosts.push(host);
    }
    for unknown in inner.unknown {
        line.unknown.push(Unknown {
            range: range.clone(),
            what: unknown.what,
        });
    }
}

/// Adds a command that was read by itself, with what it runs. Its places are those of the text.
pub(crate) fn append(line: &mut Line, read: Line) {
    let first = line.commands.len();
    for mut command in read.commands {
        if let Some(via) = &mut command.via {
            via.command += first;
        }
        line.commands.push(command);
    }
    for mut touch in read.touches {
        touch.by = touch.by.map(|it| it + first);
        line.touches.push(touch);
    }
    for mut host in read.hosts {
        host.by = host.by.map(|it| it + first);
        line.hosts.push(host);
    }
    line.unknown.extend(read.unknown);
}

/// Puts the unknown places in order, each once.
pub(crate) fn finish(line: &mut Line) {
    line.unknown.sort_by(|a, b| {
        (a.range.start, a.range.end, &a.what).cmp(&(b.range.start, b.range.end, &b.what))
    });
    line.unknown.dedup();
}
