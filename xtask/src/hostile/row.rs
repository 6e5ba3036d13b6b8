//! One row, inside its cage: the fixture, the session, and a look at what it left. It goes no further
//! than its canaries outside of one.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use ::conform::hostile::{Check, Outcome, Places, Policy, Row, Seen, Setup, World, judge};
use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::terminal::Terminal;
use super::{canary, read};
use crate::Outcome as ChoreOutcome;

/// Where programs are found, inside and on the way in.
pub(crate) const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// How long one session may take.
const SESSION_MAX: Duration = Duration::from_secs(20);
/// How long a driver may take with everything.
const DRIVER_MAX: Duration = Duration::from_mins(1);
/// How often the call is made while a file keeps turning into a link.
const SWAP_CALLS: usize = 60;

/// What rows may need that not every machine has.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Machine {
    /// Our tools.
    pub(crate) tools: BTreeSet<String>,
    /// Programs.
    pub(crate) programs: BTreeSet<String>,
}

/// Answers one question of the outer side, on standard output.
///
/// # Errors
/// This is no cage, or the row cannot be judged.
pub(crate) fn in_cage(words: &[&str]) -> Result<ChoreOutcome> {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let (send, receive) = mpsc::channel();
    thread::spawn(move || send.send(answer(&words)));
    // When this process ends, so does all that is in the cage.
    let answer = receive
        .recv_timeout(DRIVER_MAX)
        .context("the driver got stuck")??;
    println!("{answer}");
    Ok(ChoreOutcome::Clean)
}

fn answer(words: &[String]) -> Result<String> {
    let driver = env::current_exe()?;
    let stage = driver.parent().context("the driver lies nowhere")?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let [outside, rest @ ..] = words.as_slice() else {
        bail!("this is started by the chore itself");
    };
    canary::try_all(outside, stage).context("this is no cage")?;
    match rest {
        ["machine", programs] => Ok(serde_json::to_string(&machine(stage, programs)?)?),
        ["row", id, policy] => Ok(serde_json::to_string(&play(stage, id, policy)?)?),
        _ => bail!("this is started by the chore itself"),
    }
}

fn machine(stage: &Path, programs: &str) -> Result<Machine> {
    let lab = Lab::lay(stage, "canary")?;
    let config = lab.file("config.json", &json!({ "permission": "allow" }).to_string())?;
    let output = lab
        .command(&lab.tollgate)
        .args(["tools", "--json", "--config"])
        .arg(config)
        .output()?;
    let why = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`tollgate tools`: {}", why.trim());
    let tools: Vec<Value> = serde_json::from_slice(&output.stdout)?;
    let names = tools.iter().filter_map(|tool| tool.get("name")?.as_str());
    let has = |program: &&str| env::split_paths(PATH).any(|dir| dir.join(program).is_file());
    Ok(Machine {
        tools: names.map(str::to_owned).collect(),
        programs: programs.split(',').filter(has).map(str::to_owned).collect(),
    })
}

/// The fixture, and beside it what the session needs.
struct Lab {
    tollgate: PathBuf,
    project: PathBuf,
    outside: PathBuf,
    home: PathBuf,
    own: PathBuf,
}

impl Lab {
    fn lay(stage: &Path, canary: &str) -> Result<Self> {
        let fixture = stage.join("lab/fixture");
        let lab = Self {
            tollgate: stage.join("tollgate"),
            project: fixture.join("proj"),
            outside: fixture.join("outside"),
            home: fixture.join("home"),
            own: stage.join("lab/own"),
        };
        fs::create_dir(&lab.own)?;
        fs::create_dir(lab.own.join("tmp"))?;
        let output = Command::new("sh")
            .arg(stage.join("fixture.sh"))
            .arg(&fixture)
            .arg(canary)
            .env_clear()
            .envs([("PATH", PATH), ("GIT_CONFIG_NOSYSTEM", "1")])
            .env("HOME", &lab.own)
            .stdin(Stdio::null())
            .output()?;
        let why = String::from_utf8_lossy(&output.stderr);
        ensure!(
            output.status.success(),
            "the fixture cannot be laid: {}",
            why.trim()
        );
        Ok(lab)
    }

    fn file(&self, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.own.join(name);
        fs::write(&path, text)?;
        Ok(path)
    }

    /// A program in the workspace, with the environment of a row.
    fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(&self.project)
            .env_clear()
            .envs([
                ("PATH", PATH),
                ("LANG", "C.UTF-8"),
                ("TERM", "xterm"),
                ("USER", "lab"),
            ])
            .env("HOME", &self.home)
            .env("TMPDIR", self.own.join("tmp"))
            .env("TOLLGATE_DATA_DIR", self.own.join("state"))
            .env("LAB_SECRET", "SEKRET-ENVVAR-c1")
            .stdin(Stdio::null());
        command
    }
}

fn play(stage: &Path, id: &str, policy: &str) -> Result<Outcome> {
    let rows = Row::read_all(&read(&stage.join("calls.tsv"))?)?;
    let row = rows
        .iter()
        .find(|row| row.id == id)
        .context("there is no such row")?;
    let policies = Policy::read_all(&read(&stage.join("policies.jsonc"))?)?;
    let policy = policies.get(policy).context("there is no such policy")?;

    let canary = format!("canary-{id}");
    let lab = Lab::lay(stage, &canary)?;
    let (listener, is_reached) = listen()?;
    let text = |path: &Path| path.display().to_string();
    let (project, outside, home) = (text(&lab.project), text(&lab.outside), text(&lab.home));
    let places = Places {
        canary: &canary,
        project: &project,
        outside: &outside,
        home: &home,
        port: listener,
    };
    let swapper = match row.setup {
        Setup::Plain => None,
        Setup::EmptyFolder => {
            fs::create_dir(lab.project.join(".opencode"))?;
            None
        }
        Setup::Swap => Some(Swapper::start(lab.project.clone())),
    };
    let call = json!({ "calls": [{ "tool": row.tool, "args": row.arguments(&places) }] });
    let count = if swapper.is_some() { SWAP_CALLS } else { 1 };
    let script = lab.file(
        "script.json",
        &json!({ "turns": vec![call; count] }).to_string(),
    )?;

    let checks = row.checks(&places);
    let before = Before::look(&lab.project, &checks, is_reached);
    let seen = session(&lab, policy, &script)?;
    drop(swapper);
    let outcome = judge(row, &checks, &seen, &before);
    outcome.map_err(|why| {
        anyhow::anyhow!(
            "{why}; {}",
            read(&lab.own.join("err")).unwrap_or_default().trim()
        )
    })
}

/// Plays the script, and sees what comes of it.
fn session(lab: &Lab, policy: &Policy, script: &Path) -> Result<Seen> {
    let (terminal, theirs) = Terminal::open()?;
    // Started this way it leads a session of its own at that terminal.
    let mut command = lab.command("setsid");
    command.arg("--ctty").arg(&lab.tollgate).args([
        "run",
        "--format",
        "json",
        "--on-ask",
        "prompt",
        "--agent",
        &policy.agent,
    ]);
    if let Some(config) = &policy.config {
        command
            .arg("--config")
            .arg(lab.file("config.json", &config.to_string())?);
    }
    let child = command
        .arg("--script")
        .arg(script)
        .stdin(theirs)
        .stdout(fs::File::create(lab.own.join("out"))?)
        .stderr(fs::File::create(lab.own.join("err"))?)
        .spawn();
    // It holds the other side of the terminal, which is open as long as it is there.
    drop(command);
    let mut child = child.context("cannot run setsid")?;
    let ended = wait(&mut child)?;
    let results = Seen::read(&read(&lab.own.join("out"))?).map_err(anyhow::Error::msg)?;
    let kept = results.iter().filter_map(|it| it.kept_at.as_ref());
    let kept = kept.map(|path| Ok(String::from_utf8_lossy(&fs::read(path)?).into_owned()));
    Ok(Seen {
        kept: kept.collect::<Result<Vec<String>>>()?.join("\n"),
        results,
        exit_code: ended,
        asked: terminal.shown(),
        is_hung: ended.is_none(),
    })
}

/// The exit code, or none if it had to be killed.
fn wait(child: &mut Child) -> Result<Option<i32>> {
    let start = Instant::now();
    while start.elapsed() < SESSION_MAX {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status.code().unwrap_or(-1)));
        }
        thread::sleep(Duration::from_millis(5));
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

/// A listener on loopback, which says whether anybody came; everybody is told the same.
fn listen() -> Result<(u16, Arc<AtomicBool>)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    let is_reached = Arc::new(AtomicBool::new(false));
    let reached = Arc::clone(&is_reached);
    thread::spawn(move || {
        for stream in listener.incoming() {
            reached.store(true, Ordering::SeqCst);
            if let Ok(mut stream) = stream {
                drop(stream.set_read_timeout(Some(Duration::from_millis(200))));
                drop(stream.read(&mut [0; 1024]));
                drop(stream.write_all(b"HTTP/1.0 200 OK\r\n\r\nreached\n"));
            }
        }
    });
    Ok((port, is_reached))
}

/// Turns a file into a link and back until it is dropped.
struct Swapper {
    is_done: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Swapper {
    fn start(project: PathBuf) -> Self {
        let is_done = Arc::new(AtomicBool::new(false));
        let done = Arc::clone(&is_done);
        let turn = move || {
            let (file, link, swap) = (
                project.join("swap-file"),
                project.join("swap-link"),
                project.join("swap.txt"),
            );
            while !done.load(Ordering::SeqCst) {
                drop(std::os::unix::fs::symlink("../outside/secret.txt", &link));
                drop(fs::rename(&link, &swap));
                drop(fs::write(&file, "plain\n"));
                drop(fs::rename(&file, &swap));
            }
        };
        Self {
            is_done,
            thread: Some(thread::spawn(turn)),
        }
    }
}

impl Drop for Swapper {
    fn drop(&mut self) {
        self.is_done.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// What a path holds.
#[derive(Debug, PartialEq, Eq)]
enum Held {
    Nothing,
    Directory,
    Link(PathBuf),
    Bytes(Vec<u8>),
}

impl Held {
    fn at(path: &Path) -> Self {
        match fs::symlink_metadata(path) {
            Err(_) => Self::Nothing,
            Ok(about) if about.is_dir() => Self::Directory,
            Ok(about) if about.is_symlink() => Self::Link(fs::read_link(path).unwrap_or_default()),
            Ok(_) => Self::Bytes(fs::read(path).unwrap_or_default()),
        }
    }
}

/// What the paths of the checks held before the call.
struct Before {
    project: PathBuf,
    held: BTreeMap<PathBuf, Held>,
    is_reached: Arc<AtomicBool>,
}

impl Before {
    fn look(project: &Path, checks: &[Check], is_reached: Arc<AtomicBool>) -> Self {
        let paths = checks.iter().filter_map(|check| match check {
            Check::Made(path) | Check::Gone(path) | Check::Changed(path) => {
                Some(project.join(path))
            }
            _ => None,
        });
        Self {
            project: project.to_path_buf(),
            held: paths.map(|path| (path.clone(), Held::at(&path))).collect(),
            is_reached,
        }
    }

    /// Before, and now.
    fn both(&self, path: &str) -> (&Held, Held) {
        let path = self.project.join(path);
        let now = Held::at(&path);
        (self.held.get(&path).unwrap_or(&Held::Nothing), now)
    }
}

impl World for Before {
    fn is_made(&self, path: &str) -> bool {
        let (before, now) = self.both(path);
        now != Held::Nothing && *before != now
    }

    fn is_gone(&self, path: &str) -> bool {
        let (before, now) = self.both(path);
        now == Held::Nothing && *before != now
    }

    fn is_changed(&self, path: &str) -> bool {
        let (before, now) = self.both(path);
        *before != now
    }

    fn was_reached(&self) -> bool {
        self.is_reached.load(Ordering::SeqCst)
    }

    fn is_running(&self, mark: &str) -> bool {
        let Ok(processes) = fs::read_dir("/proc") else {
            // Who cannot look must not say that there is none.
            return true;
        };
        let lines =
            processes.filter_map(|process| fs::read(process.ok()?.path().join("cmdline")).ok());
        let mut lines = lines.map(|line| String::from_utf8_lossy(&line).into_owned());
        lines.any(|line| line.contains(mark))
    }
}
