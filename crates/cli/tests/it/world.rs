//! One scene a test: a workspace, what lies outside it, a home, a state folder, and the binary.
//! Must not hold test cases.

use conform::testkit::StoppedClock;
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs,
    os::unix::fs::{FileTypeExt, MetadataExt},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};
use store::Store;
use tempfile::TempDir;

pub(crate) const BIN: &str = env!("CARGO_BIN_EXE_tollgate");

/// Whether a text holds one of the words with which the system says no, in one tier or the other.
pub(crate) fn says_no(text: &str) -> bool {
    [
        "ermission denied",
        "onexistent",
        "No such file or directory",
        "Not a directory",
        "Read-only file system",
        "Connection refused",
    ]
    .iter()
    .any(|it| text.contains(it))
}

/// Everything is allowed, so what stops a call is not a rule.
pub(crate) const ALL: &str = r#"{"permission": {"*": "allow"}}"#;

/// After this long a process counts as hanging. No test waits for it unless it fails.
pub(crate) const GUARD: Duration = Duration::from_secs(100);

pub(crate) struct World(TempDir);

/// How a process ended, and what it wrote.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// Both streams.
    pub(crate) fn said(&self) -> String {
        format!("{}{}", self.out, self.err)
    }

    #[track_caller]
    pub(crate) fn ended_with(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// What it wrote to standard output, which must be JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}

impl World {
    /// `ws/a.txt` holds three lines, `out/secret.txt` and `home/key.txt` a secret each. The rules allow
    /// everything.
    pub(crate) fn new() -> Self {
        let world = Self(tempfile::tempdir().unwrap());
        for folder in ["ws/sub", "out", "home", "tmp"] {
            fs::create_dir_all(world.path(folder)).unwrap();
        }
        world.put("ws/a.txt", "one\ntwo\nthree\n");
        world.put("ws/sub/b.txt", "one\n");
        world.put("out/secret.txt", "one outside secret\n");
        world.put("home/key.txt", "home secret\n");
        world.rules(ALL);
        world
    }

    /// A path in the scene.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(path)
    }

    pub(crate) fn put(&self, path: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path(path), text).unwrap();
    }

    pub(crate) fn text(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    /// Puts a file in folders that may not be there yet.
    pub(crate) fn put_deep(&self, path: &str, text: impl AsRef<[u8]>) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        self.put(path, text);
    }

    /// Sets the configuration that `TOLLGATE_CONFIG` names.
    pub(crate) fn rules(&self, text: &str) {
        self.put("rules.jsonc", text);
    }

    /// Puts a script of these turns, and gives back its path.
    pub(crate) fn script(&self, turns: &Value) -> String {
        self.put("script.json", json!({ "turns": turns }).to_string());
        self.path("script.json").to_str().unwrap().to_owned()
    }

    /// The binary in the workspace, with nothing of the real environment but `PATH`.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Command {
        self.wrapped(&[BIN], arguments)
    }

    /// A command line of several parts in the same place.
    pub(crate) fn wrapped<S: AsRef<OsStr>>(&self, before: &[&str], arguments: &[S]) -> Command {
        let mut command = Command::new(before[0]);
        command.args(&before[1..]).args(arguments);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap());
        command
            .env("HOME", self.path("home"))
            .env("TMPDIR", self.path("tmp"));
        command.env("TOLLGATE_DATA_DIR", self.path("data"));
        command.env("TOLLGATE_CONFIG", self.path("rules.jsonc"));
        command.current_dir(self.path("ws")).stdin(Stdio::null());
        command
    }

    /// Runs the binary to its end.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Ran {
        ran(&mut self.command(arguments))
    }

    /// A run of these turns, with nobody to ask.
    pub(crate) fn play(&self, turns: &Value, more: &[&str]) -> Command {
        let script = self.script(turns);
        let line = ["run", "--script", &script, "--on-ask", "deny"];
        self.command(&[&line, more].concat())
    }

    /// One call, with nobody to ask.
    pub(crate) fn call(&self, tool: &str, arguments: &Value) -> Ran {
        self.run(&["call", tool, &arguments.to_string(), "--on-ask", "deny"])
    }

    /// Everything in the workspace and beside it, by path: kind, mode and content.
    pub(crate) fn files(&self) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        for folder in ["ws", "out", "home"] {
            note(&self.path(folder), &mut found);
        }
        found
    }

    /// The store that the binary keeps.
    pub(crate) fn store(&self) -> Store {
        Store::open(&self.path("data/tollgate.db"), Arc::new(StoppedClock(0))).unwrap()
    }
}

/// Notes what stands at and below a path.
pub(crate) fn note(path: &Path, found: &mut BTreeMap<PathBuf, String>) {
    let Ok(meta) = path.symlink_metadata() else {
        return;
    };
    let kind = meta.file_type();
    let content = if kind.is_symlink() {
        format!("to {}", fs::read_link(path).unwrap().display())
    } else if kind.is_fifo() {
        "fifo".to_owned()
    } else if kind.is_dir() {
        "folder".to_owned()
    } else {
        format!("{:?}", fs::read(path).unwrap())
    };
    found.insert(path.to_owned(), format!("{:o} {content}", meta.mode()));
    if kind.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            note(&entry.unwrap().path(), found);
        }
    }
}

/// Runs a command to its end, both streams caught.
pub(crate) fn ran(command: &mut Command) -> Ran {
    finish(start(command))
}

/// Starts a command, both streams caught.
pub(crate) fn start(command: &mut Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Waits for a process, and kills it if it hangs.
pub(crate) fn finish(child: Child) -> Ran {
    let pid = rustix::process::Pid::from_child(&child);
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(child.wait_with_output()));
    let Ok(output) = receiver.recv_timeout(GUARD) else {
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        panic!("it hangs");
    };
    let Output {
        status,
        stdout,
        stderr,
    } = output.unwrap();
    Ran {
        code: status.code(),
        out: String::from_utf8_lossy(&stdout).into_owned(),
        err: String::from_utf8_lossy(&stderr).into_owned(),
    }
}

/// Whether a process has exactly this word among its arguments.
pub(crate) fn is_running(word: &str) -> bool {
    let has_word = |folder: fs::DirEntry| {
        // A process may end while it is looked at.
        let line = fs::read(folder.path().join("cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0)
            .any(|part| part == word.as_bytes())
    };
    fs::read_dir("/proc")
        .unwrap()
        .filter_map(Result::ok)
        .any(has_word)
}

/// Waits until something holds, looking again and again.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = std::time::Instant::now();
    while !holds() {
        assert!(start.elapsed() < GUARD, "waited in vain until {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Fails if a text holds anything that a terminal would act on.
#[track_caller]
pub(crate) fn check_plain(text: &str) {
    let is_raw = |char: char| {
        let is_hidden = matches!(char, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        is_hidden || (char.is_control() && !matches!(char, '\n' | '\r' | '\t'))
    };
    // A carriage return may only stand before the newline, where the terminal puts it.
    let lone_return = text.replace("\r\n", "\n").contains('\r');
    assert!(!lone_return && !text.contains(is_raw), "{text:?}");
}
