//! What bash runs, against what the reader says it runs. The search path holds only stubs, which tell
//! their names, and a few wrappers as they are. It must not run a line that was not generated here.

#![expect(
    clippy::disallowed_types,
    reason = "bash runs the lines, in a directory of their own"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "the directory is made and removed"
)]

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command::Simple;
use crate::generate::{PROGRAMS, WRAPPERS, lines};
use crate::read;

const LINE_COUNT: usize = 20_000;
const BATCH_COUNT: usize = 4;

/// Each line runs in a shell of its own. All it starts holds descriptor 9, to which the stubs write, so
/// the substitution ends when the last of them has.
const DRIVER: &str = r#"
while IFS= read -r -d '' line <&8; do
    got=$(ulimit -t 2 -f 4096; exec 9>&1 >/dev/null 2>&1 </dev/null 8<&-; eval "$line")
    printf '%s\0' "$got"
done 8< ../lines
"#;

/// The directory of a batch, removed at the end.
struct Room(PathBuf);

impl Room {
    fn make(name: &str) -> Self {
        let room = Self(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name));
        drop(fs::remove_dir_all(&room.0));
        fs::create_dir_all(room.0.join("path")).unwrap();
        fs::create_dir_all(room.0.join("work/sub")).unwrap();
        fs::write(room.0.join("work/src.sh"), "v=aa\n").unwrap();
        for program in PROGRAMS {
            let status = u8::from(program.starts_with('n'));
            let stub = format!("#!/bin/sh\necho \"${{0##*/}}\" >&9\nexit {status}\n");
            let path = room.0.join("path").join(program);
            fs::write(&path, stub).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        for wrapper in WRAPPERS {
            if let Some(real) = real(wrapper) {
                symlink(real, room.0.join("path").join(wrapper)).unwrap();
            }
        }
        room
    }

    /// The names of the programs each line ran.
    fn run(&self, lines: &[String]) -> Vec<BTreeSet<String>> {
        let mut texts = fs::File::create(self.0.join("lines")).unwrap();
        for line in lines {
            write!(texts, "{line}\0").unwrap();
        }
        let output = Command::new(real("timeout").unwrap())
            .args(["-k", "1", "300"])
            .arg(real("bash").unwrap())
            .args(["--norc", "-c", DRIVER])
            .env_clear()
            .env("PATH", self.0.join("path"))
            .env("HOME", self.0.join("work"))
            .current_dir(self.0.join("work"))
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()
            .unwrap();
        let answer = String::from_utf8_lossy(&output.stdout);
        let ran: Vec<BTreeSet<String>> = answer
            .split_terminator('\0')
            .map(|names| names.lines().map(str::to_owned).collect())
            .collect();
        let last = lines.get(ran.len());
        assert_eq!(ran.len(), lines.len(), "it ended at {last:?}");
        ran
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// Where a program lies on this machine.
fn real(program: &str) -> Option<PathBuf> {
    let places = ["/usr/bin", "/bin"].iter();
    let mut paths = places.map(|place| Path::new(place).join(program));
    paths.find(|path| path.exists())
}

/// The programs the reader says may run, by their base names; `None` if it says it cannot tell.
fn reported(line: &str) -> Option<BTreeSet<String>> {
    let read = read(line);
    let is_hidden = |command: &Simple| command.opaque.is_some();
    if !read.unknown.is_empty() || read.commands.iter().any(is_hidden) {
        return None;
    }
    let programs = read
        .commands
        .iter()
        .filter_map(|command| command.words.first());
    let names = programs.map(|word| word.text.rsplit('/').next().unwrap_or_default().to_owned());
    Some(names.collect())
}

#[test]
fn what_bash_runs_is_reported_or_the_line_is_marked() {
    if real("bash").is_none() || real("timeout").is_none() {
        return eprintln!("skipped: there is no bash here, or no timeout");
    }
    let lines = lines(5, LINE_COUNT);
    let batches: Vec<&[String]> = lines.chunks(LINE_COUNT.div_ceil(BATCH_COUNT)).collect();
    let ran: Vec<BTreeSet<String>> = std::thread::scope(|scope| {
        let start =
            |(number, batch)| scope.spawn(move || Room::make(&format!("stub{number}")).run(batch));
        let started: Vec<_> = batches.into_iter().enumerate().map(start).collect();
        started
            .into_iter()
            .flat_map(|batch| batch.join().unwrap())
            .collect()
    });
    assert_eq!(ran.len(), lines.len());

    let (mut told_count, mut run_count, mut wrong) = (0, 0, Vec::new());
    for (line, ran) in lines.iter().zip(&ran) {
        run_count += usize::from(!ran.is_empty());
        let Some(reported) = reported(line) else {
            continue;
        };
        told_count += 1;
        if !ran.is_subset(&reported) {
            wrong.push(format!("{line:?} ran {ran:?}, reported {reported:?}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(run_count * 10 > LINE_COUNT * 9, "{run_count} ran something");
    assert!(told_count * 2 > LINE_COUNT, "{told_count} were told");
}
