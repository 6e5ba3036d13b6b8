//! What is measured on: a repository of generated files, a home and a state folder of its own, the
//! release programs, and a model server. Must not measure.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::check::cargo;

/// Files of the repository, spread over directories of [`FILES_IN_DIRECTORY`].
const FILES: usize = 400;
const FILES_IN_DIRECTORY: usize = 20;
/// Of so many files one holds the word that is searched for.
const FILES_A_NEEDLE: usize = 20;

/// The release programs, and what each is built from.
const PROGRAMS: [(&str, [&str; 4]); 4] = [
    ("tollgate", ["-p", "tollgate-cli", "--bin", "tollgate"]),
    ("xtask", ["-p", "xtask", "--bin", "xtask"]),
    (
        "examples/decide",
        ["-p", "tollgate-policy", "--example", "decide"],
    ),
    (
        "examples/start",
        ["-p", "tollgate-sandbox", "--example", "start"],
    ),
];

/// A tool whose calls are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tool {
    Read,
    Bash,
    Grep,
    Glob,
    Edit,
}

impl Tool {
    pub(super) const ALL: [Self; 5] = [Self::Read, Self::Bash, Self::Grep, Self::Glob, Self::Edit];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Bash => "bash",
            Self::Grep => "grep",
            Self::Glob => "glob",
            Self::Edit => "edit",
        }
    }

    /// The arguments of the call with this number. No two edits are of one file.
    fn arguments(self, number: usize) -> Value {
        match self {
            Self::Read => json!({ "filePath": source(number % FILES) }),
            Self::Bash => json!({ "command": "true" }),
            Self::Grep => json!({ "pattern": "needle [0-9]+" }),
            Self::Glob => json!({ "pattern": "src/area_07/**/*.rs" }),
            Self::Edit => json!({
                "filePath": note(number), "oldString": "before", "newString": "after",
            }),
        }
    }
}

/// Everything is in one folder that goes with this value, as does the server.
#[derive(Debug)]
pub(super) struct Scene {
    folder: TempDir,
    release: PathBuf,
    /// None until it has been started.
    server: Option<Server>,
}

#[derive(Debug)]
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // It may be gone already, and then all is well.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

impl Scene {
    /// Builds the programs, and lays everything out below `target/bench`: on the disk of the checkout,
    /// since a file system in memory would make every write look free.
    ///
    /// # Errors
    /// A program does not build, the server does not start, or a file cannot be written.
    pub(super) fn lay(root: &Path) -> Result<Self> {
        for (_, words) in PROGRAMS {
            let mut build = Command::new(cargo());
            build.args(["build", "--release", "--quiet", "--locked"]);
            let status = build.args(words).current_dir(root).status()?;
            ensure!(status.success(), "`{}` does not build", words[1]);
        }
        let target = root.join("target");
        fs::create_dir_all(target.join("bench"))?;
        let folder = TempDir::with_prefix_in("scene-", target.join("bench"))?;
        let mut scene = Self {
            folder,
            release: target.join("release"),
            server: None,
        };
        for place in ["ws/notes", "home", "tmp"] {
            fs::create_dir_all(scene.path(place))?;
        }
        for number in 0..FILES {
            let path = scene.path("ws").join(source(number));
            fs::create_dir_all(path.parent().unwrap_or(&path))?;
            fs::write(path, source_text(number))?;
        }
        let mut init = scene.plain("git");
        let status = init.args(["init", "--quiet"]).status()?;
        ensure!(status.success(), "git made no repository");

        let one_read = scene.script("one-read", &[Tool::Read], 1)?;
        scene.serve(&one_read)?;
        Ok(scene)
    }

    /// A path below the folder.
    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// A program found on the `PATH`, in the repository, with nothing of the real environment but the
    /// `PATH`, and with its output thrown away.
    pub(super) fn plain(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear().current_dir(self.path("ws"));
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        command
            .env("HOME", self.path("home"))
            .env("TMPDIR", self.path("tmp"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// One of the release programs, as [`Self::plain`].
    pub(super) fn program(&self, name: &str) -> Command {
        self.plain(self.release.join(name))
    }

    /// `tollgate` with these words, state and rules of its own; what goes wrong is to be seen.
    pub(super) fn tollgate(&self, words: &[&str]) -> Command {
        let mut command = self.program("tollgate");
        command
            .args(words)
            .env("TOLLGATE_DATA_DIR", self.path("state"))
            .env("TOLLGATE_CONFIG", self.path("rules.jsonc"))
            .env("NO_COLOR", "1")
            .stderr(Stdio::inherit());
        command
    }

    /// A run that plays so many calls of these tools, in turn, in one message.
    ///
    /// # Errors
    /// A file cannot be written.
    pub(super) fn run_of(&self, tools: &[Tool], count: usize) -> Result<Command> {
        if tools.contains(&Tool::Edit) {
            for number in 0..count {
                fs::write(self.path("ws").join(note(number)), "a line\nbefore\n")?;
            }
        }
        let script = self.script("calls", tools, count)?;
        Ok(self.tollgate(&["run", "--on-ask", "deny", "--script", &script]))
    }

    /// Sends what a command logs to a file, and gives back which.
    ///
    /// # Errors
    /// The file cannot be made.
    pub(super) fn log(&self, command: &mut Command) -> Result<PathBuf> {
        let path = self.path("log");
        command
            .env("TOLLGATE_LOG", "info")
            .stderr(File::create(&path)?);
        Ok(path)
    }

    /// Writes a script and gives back its path. One call is a turn of its own, so that the model speaks
    /// twice.
    fn script(&self, name: &str, tools: &[Tool], count: usize) -> Result<String> {
        let calls: Vec<Value> = (0..count)
            .zip(tools.iter().cycle())
            .map(|(number, tool)| json!({"tool": tool.name(), "args": tool.arguments(number)}))
            .collect();
        let mut turns = vec![json!({ "text": "That is all." })];
        if !calls.is_empty() {
            turns.insert(0, json!({ "calls": calls }));
        }
        let path = self.path(&format!("{name}.json"));
        fs::write(&path, json!({ "turns": turns }).to_string())?;
        let path = path.into_os_string().into_string();
        path.ok()
            .context("the checkout's path is not valid Unicode")
    }

    /// Starts the model server, and writes a configuration that allows everything and knows the server.
    fn serve(&mut self, script: &str) -> Result<()> {
        let mut command = self.program("xtask");
        command.args(["mock", "--script", script]);
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let output = child.stdout.take();
        self.server = Some(Server(child));
        let mut port = String::new();
        BufReader::new(output.context("no output")?).read_line(&mut port)?;
        let port: u16 = port
            .trim()
            .parse()
            .context("the model server did not start")?;
        let rules = json!({
            "permission": { "*": "allow" },
            "provider": { "mock": {
                "options": { "baseURL": format!("http://127.0.0.1:{port}/v1") },
                "models": { "scripted": {} },
            } },
        });
        fs::write(self.path("rules.jsonc"), rules.to_string())?;
        Ok(())
    }
}

/// The path of a generated file.
fn source(number: usize) -> String {
    let area = number / FILES_IN_DIRECTORY;
    format!("src/area_{area:02}/module_{number:03}.rs")
}

fn source_text(number: usize) -> String {
    let line = |at: usize| format!("// line {at} of module {number}, which does nothing much\n");
    let mut text: String = (0..20 + number % 40).map(line).collect();
    if number.is_multiple_of(FILES_A_NEEDLE) {
        text.push_str("// needle 4242\n");
    }
    text
}

/// The path of a file that is edited.
fn note(number: usize) -> String {
    format!("notes/{number}.md")
}
