//! A room to run commands in: a directory inside the walls and one outside.
//! Must not hold test cases.

use std::fs;
use std::io::{PipeReader, Read};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use tempfile::TempDir;
use tollgate_sandbox::{
    Child, Confinement, Ended, Launcher, Spawn, StartError, Tier, Walls, system_readable,
};

/// The newest version of Landlock's interface that cannot hold signals, so that trees are killed by walking.
pub(crate) const ABI_WITHOUT_SIGNALS: u32 = 5;

static LAUNCHER: LazyLock<Launcher> =
    LazyLock::new(|| Launcher::open_up_to(&supervisor(), Tier::Partial).unwrap());

static FULL: LazyLock<Launcher> = LazyLock::new(|| Launcher::open_program(&supervisor()).unwrap());

/// The supervisor program: the example, which cargo builds next to this test.
pub(crate) fn supervisor() -> PathBuf {
    example("confine")
}

/// An example, which cargo builds next to this test.
pub(crate) fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let path = test
        .parent()
        .unwrap()
        .parent()
        .unwrap()
        .join("examples")
        .join(name);
    assert!(path.exists(), "build the example first: {}", path.display());
    path
}

/// A launcher for the partial tier, whatever else the machine can.
pub(crate) fn launcher() -> &'static Launcher {
    &LAUNCHER
}

/// A launcher for the full tier.
pub(crate) fn full() -> &'static Launcher {
    assert!(
        matches!(FULL.confinement(), Confinement::Full { .. }),
        "{:?}",
        FULL.confinement()
    );
    &FULL
}

/// A launcher as a kernel with this version of Landlock's interface would have it.
pub(crate) fn launcher_as_abi(abi: u32) -> Launcher {
    Launcher::open_as_abi(&supervisor(), Tier::Partial, abi).unwrap()
}

pub(crate) struct Room {
    _dir: TempDir,
    pub(crate) root: PathBuf,
    pub(crate) inside: PathBuf,
    pub(crate) outside: PathBuf,
}

impl Room {
    pub(crate) fn new() -> Self {
        Self::below(&std::env::temp_dir())
    }

    pub(crate) fn below(directory: &Path) -> Self {
        let dir = tempfile::tempdir_in(directory).unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        let (inside, outside) = (root.join("inside"), root.join("outside"));
        fs::create_dir(&inside).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("secret"), "topsecret\n").unwrap();
        for (path, mode) in [(&root, 0o755), (&inside, 0o777), (&outside, 0o777)] {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }
        Self {
            _dir: dir,
            root,
            inside,
            outside,
        }
    }

    /// A bash line with the inside writable and nothing of the outside open.
    pub(crate) fn bash(&self, script: &str) -> Spawn {
        self.spawn("/bin/bash", &["-c", script])
    }

    pub(crate) fn python(&self, script: &str) -> Spawn {
        self.spawn("/usr/bin/python3", &["-c", script])
    }

    pub(crate) fn spawn(&self, program: &str, args: &[&str]) -> Spawn {
        let env = [
            ("PATH", "/usr/local/bin:/usr/bin:/bin".into()),
            ("HOME", self.outside.clone()),
            ("OUT", self.outside.clone()),
            ("TMPDIR", self.inside.clone()),
            ("GIT_CONFIG_GLOBAL", PathBuf::from("/dev/null")),
        ];
        Spawn {
            program: program.into(),
            args: args.iter().map(Into::into).collect(),
            env: env.map(|(name, value)| (name.into(), value.into())).into(),
            cwd: self.inside.clone(),
            walls: Walls {
                readable: system_readable(),
                writable: vec![self.inside.clone()],
                ..Walls::default()
            },
        }
    }

    /// The example as a process of its own, running a bash line with the inside writable.
    pub(crate) fn confine(&self, script: &str) -> Command {
        let mut command = Command::new(supervisor());
        command
            .args(self.confine_args(script))
            .current_dir(&self.inside)
            .env("OUT", &self.outside);
        command
    }

    pub(crate) fn confine_args(&self, script: &str) -> Vec<String> {
        let inside = self.inside.to_str().unwrap();
        ["--write", inside, "--", "/bin/bash", "-c", script]
            .map(String::from)
            .into()
    }
}

/// A running command and the end of its output.
pub(crate) struct Running {
    pub(crate) child: Child,
    pub(crate) output: PipeReader,
}

impl Running {
    /// Reads the next line, which tells that the command has come so far.
    pub(crate) fn line(&mut self) -> String {
        let mut line = Vec::new();
        let mut byte = [0];
        while self.output.read(&mut byte).unwrap() == 1 && byte != *b"\n" {
            line.extend(byte);
        }
        String::from_utf8(line).unwrap()
    }

    /// Reads until nobody can write any more.
    pub(crate) fn rest(&mut self) -> String {
        let mut text = Vec::new();
        self.output.read_to_end(&mut text).unwrap();
        String::from_utf8_lossy(&text).into_owned()
    }
}

pub(crate) fn try_start(launcher: &Launcher, spawn: &Spawn) -> Result<Running, StartError> {
    let (output, writer) = std::io::pipe().unwrap();
    let child = launcher.start(spawn, writer.into())?;
    Ok(Running { child, output })
}

pub(crate) fn start(spawn: &Spawn) -> Running {
    try_start(launcher(), spawn).unwrap()
}

pub(crate) fn run_with(launcher: &Launcher, spawn: &Spawn) -> (Ended, String) {
    let mut running = try_start(launcher, spawn).unwrap();
    let text = running.rest();
    (running.child.wait().unwrap(), text)
}

pub(crate) fn run(spawn: &Spawn) -> (Ended, String) {
    run_with(launcher(), spawn)
}

/// Runs a command that must succeed and returns what it wrote.
#[track_caller]
pub(crate) fn succeed(spawn: &Spawn) -> String {
    let (ended, text) = run(spawn);
    assert_eq!(ended, Ended::Code(0), "{text}");
    text
}

/// Runs a command that must fail with "permission denied" in its own words.
#[track_caller]
pub(crate) fn denied(spawn: &Spawn) {
    let (ended, text) = run(spawn);
    assert!(
        ended != Ended::Code(0) && text.contains("ermission denied"),
        "{ended:?}: {text}"
    );
}

/// Runs a command in the full tier that must succeed and returns what it wrote.
#[track_caller]
pub(crate) fn succeed_full(spawn: &Spawn) -> String {
    let (ended, text) = run_with(full(), spawn);
    assert_eq!(ended, Ended::Code(0), "{text}");
    text
}

/// Runs a command in the full tier that must fail, and for one of the reasons a wall has.
#[track_caller]
pub(crate) fn refused_full(spawn: &Spawn) {
    let (ended, text) = run_with(full(), spawn);
    let reasons = [
        "ermission denied",
        "Read-only file system",
        "No such file",
        "resource busy",
        "File exists",
        "Is a directory",
        "not permitted",
        "Not a directory",
        "No such device",
        "cannot overwrite",
        "cross-device link",
    ];
    assert!(
        ended != Ended::Code(0) && reasons.iter().any(|reason| text.contains(reason)),
        "{ended:?}: {text}"
    );
}

pub(crate) fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

pub(crate) fn is_alive(pid: &str) -> bool {
    Path::new("/proc").join(pid.trim()).exists()
}
