//! What a command may not change and no wall keeps it from: recorded before, compared after, and undone.
//! Must not run beside a command that is still alive, nor lose anything: what was changed is moved away and told.
//!
//! In the partial tier that is all that is write-protected in a writable directory; in both tiers, names that
//! would have git obey something and that nothing has yet, and what a caller lists.
//!
//! Whoever else changes such a path while a command runs (the person's editor, a session elsewhere) cannot be told
//! from the command. It is undone as well, and as well kept and told. What this host itself writes with a permit is
//! left as it wrote it, and what permits of other calls of this host opened is left alone.

mod draft;
mod record;
mod rights;
mod scene;
mod store;
mod turn;
mod undo;

use crate::{aside, beneath, local::Machine};
use gate::{g3_confine::ChildRules, host::HostError};
use record::Thing;
use rustix::{
    fd::AsFd as _,
    fs::{Mode, Stat, fstat},
    io::Errno,
};
use scene::{Root, Scene, below, not_recorded, record};
use std::{
    collections::{BTreeMap, HashSet},
    ffi::OsString,
    fmt, mem,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

pub(crate) use rights::Unlocked;
pub(crate) use store::{NAME, Store};
pub(crate) use turn::Turn;
pub(crate) use undo::Outcome;

/// How many things are remembered that went with the directory around them. More are put back.
const GONE_MAX: usize = 10_000;

/// What a host knows of what it watches over.
#[derive(Debug, Default)]
pub(crate) struct Quarantine(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// What stood there before the last command, by absolute path.
    things: BTreeMap<OsString, Thing>,
    /// What went with the directory around it.
    gone: BTreeMap<OsString, Thing>,
    /// The commands that are watched now.
    running: BTreeMap<u64, Permitted>,
    /// How many were so far.
    count: u64,
    /// What this host wrote itself meanwhile.
    written: BTreeMap<OsString, Thing>,
    /// What could not be put in order.
    unresolved: Vec<Scene>,
    /// What was undone and is not told yet.
    untold: Vec<String>,
}

/// What may be changed while a command runs.
#[derive(Debug, Default)]
struct Permitted {
    /// By the permits of its call.
    own: HashSet<PathBuf>,
    /// By those of calls that ran at the same time.
    others: HashSet<PathBuf>,
}

impl Quarantine {
    /// This host wrote a file with a permit. To be called before anybody else may compare: see `Machine::writes`.
    pub(crate) fn note_write(&self, path: &str, stat: &Stat, bytes: &[u8]) {
        let mut known = self.lock();
        if !known.is_idle() {
            let thing = Thing::written(stat, bytes);
            known.written.insert(path.into(), thing);
        }
    }

    /// What was undone since this was asked for last.
    pub(crate) fn take_untold(&self) -> Vec<String> {
        mem::take(&mut self.lock().untold)
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Watches over what one command may not change. Ended or dropped, it compares, so all of the command must be gone.
pub struct Watch {
    machine: Arc<Machine>,
    /// What it is called where things are kept; `None`: they stay beside their places.
    label: Option<String>,
    id: u64,
    /// `None`: it is over.
    scene: Option<Box<Scene>>,
    /// Kept until all is compared.
    _turn: Option<Turn>,
}

/// What may be alive of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    Nothing,
    /// Something: all is compared once more before the next command.
    Unknown,
}

impl Watch {
    /// Compares, and undoes what is not as it was.
    ///
    /// # Errors
    /// Something could not be put in order. No other command starts then until it is.
    pub fn end(mut self) -> Result<Vec<String>, HostError> {
        let done = self.compare(Left::Nothing);
        done.map(|()| self.machine.quarantine.take_untold())
    }

    /// The same, and who reports to the model takes what is to be told, so that nothing is lost with a future.
    pub(crate) fn settle(mut self, left: Left) -> Result<(), HostError> {
        self.compare(left)
    }

    fn compare(&mut self, left: Left) -> Result<(), HostError> {
        let Some(mut scene) = self.scene.take() else {
            return Ok(());
        };
        let quarantine = &self.machine.quarantine;
        // Nobody writes or starts meanwhile: it would be taken for the command's.
        let _alone = self.machine.alone();
        {
            let mut known = quarantine.lock();
            let permitted = known.running.remove(&self.id).unwrap_or_default();
            scene.opened.extend(permitted.others);
            scene.written.clone_from(&known.written);
        }
        let outcome = scene.settle(&self.machine, self.label.as_deref());
        let mut known = quarantine.lock();
        known.tell(&outcome);
        if outcome.failed.is_empty() {
            match left {
                Left::Nothing => {
                    known.things.append(&mut scene.things);
                    known.gone.append(&mut scene.gone);
                }
                Left::Unknown => known.unresolved.push(*scene),
            }
            known.forget_writes();
            return Ok(());
        }
        let why = said(&outcome.failed);
        if left == Left::Nothing {
            scene.keep(&outcome.failed);
        }
        known.unresolved.push(*scene);
        Err(HostError::Failed(format!(
            "the command ended, but it may have changed what the rules do not let it, and that could not be \
             undone: {why}"
        )))
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch")
            .field("label", &self.label)
            .finish_non_exhaustive()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // Whoever comes next is told, and refused if it failed.
        drop(self.compare(Left::Nothing));
    }
}

impl Known {
    /// Whether nothing is compared any more.
    fn is_idle(&self) -> bool {
        self.running.is_empty() && self.unresolved.is_empty()
    }

    fn forget_writes(&mut self) {
        if self.is_idle() {
            self.written.clear();
        }
    }

    /// Notes that a command runs with these permits, and says which number it has.
    fn enter(&mut self, own: &HashSet<PathBuf>) -> u64 {
        let mut others = HashSet::new();
        for it in self.running.values_mut() {
            others.extend(it.own.iter().cloned());
            it.others.extend(own.iter().cloned());
        }
        self.count += 1;
        let own = own.clone();
        self.running.insert(self.count, Permitted { own, others });
        self.count
    }

    fn tell(&mut self, outcome: &Outcome) {
        self.untold.extend(outcome.told.iter().cloned());
        if outcome.untold > 0 {
            self.untold
                .push(format!("and {} more in the same way", outcome.untold));
        }
    }
}

fn said(failed: &[(PathBuf, String)]) -> String {
    let said: Vec<_> = failed
        .iter()
        .take(3)
        .map(|(path, why)| format!("`{}` ({why})", undo::line(path)))
        .collect();
    let more = match failed.len().saturating_sub(said.len()) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    said.join(", ") + &more
}

impl Machine {
    /// While this is held, this host writes nothing, and no command is about to be watched or compared.
    pub(crate) fn alone(&self) -> MutexGuard<'_, ()> {
        self.writes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records what a command with these walls may not change and could. `None`: there is no such thing.
    pub(crate) fn watch(
        self: &Arc<Self>,
        walls: &sandbox::Walls,
        opened: HashSet<PathBuf>,
        turn: Option<Turn>,
        label: Option<String>,
    ) -> Result<Option<Watch>, HostError> {
        let _alone = self.alone();
        self.settle_the_last(label.as_deref())?;
        let mut paths: Vec<PathBuf> = aside::missing(walls);
        if self.is_partial() {
            paths.extend(walls.write_protected.iter().cloned());
        }
        let lies_in = |path: &Path, root: &Path| below(path, root).is_some();
        let is_in_reach = |path: &Path| walls.writable.iter().any(|root| lies_in(path, root));
        let partly = self.partly_opened(&opened);
        paths.retain(|path| !partly.iter().any(|it| lies_in(path, it)));
        paths.extend(partly.iter().cloned());
        paths.retain(|path| !opened.contains(path) && is_in_reach(path));
        let gone = self.still_gone(is_in_reach);
        let newcomers = self.before_newcomers(walls);
        if paths.is_empty() && gone.is_empty() && newcomers.is_none() {
            return Ok(None);
        }
        let mut scene = Scene {
            roots: Vec::new(),
            things: BTreeMap::new(),
            opened,
            written: BTreeMap::new(),
            rules: self.rules_for_going(),
            gone,
            newcomers,
        };
        if let Err(error) = self.record(&mut scene, walls, paths, &partly) {
            self.quarantine.lock().gone.append(&mut scene.gone);
            return Err(error);
        }
        let id = self.quarantine.lock().enter(&scene.opened);
        Ok(Some(Watch {
            machine: Arc::clone(self),
            label,
            id,
            scene: Some(Box::new(scene)),
            _turn: turn,
        }))
    }

    fn record(
        &self,
        scene: &mut Scene,
        walls: &sandbox::Walls,
        paths: Vec<PathBuf>,
        partly: &[PathBuf],
    ) -> Result<(), HostError> {
        for root in &walls.writable {
            let gone = scene.gone.keys().map(Path::new);
            let mut watched = paths.iter().map(PathBuf::as_path).chain(gone);
            if watched.any(|path| below(path, root).is_some()) {
                scene.roots.push(self.open_root(root)?);
            }
        }
        let mut known = mem::take(&mut self.quarantine.lock().things);
        for path in paths {
            let thing = if !self.is_partial() && partly.contains(&path) {
                Thing::Names(BTreeMap::new())
            } else {
                known.remove(path.as_os_str()).unwrap_or_default()
            };
            scene.things.insert(path.into_os_string(), thing);
        }
        record(scene)
    }

    /// Whether walls tell no paths apart in a directory that is open.
    pub(crate) fn is_partial(&self) -> bool {
        matches!(
            self.launcher.confinement(),
            sandbox::Confinement::Partial { .. }
        )
    }

    /// By what things may go with the directories around them, as long as all that went can be remembered.
    fn rules_for_going(&self) -> Option<Arc<ChildRules>> {
        let has_room = self.quarantine.lock().gone.len() <= GONE_MAX;
        self.rules_of_the_last()
            .filter(|_| has_room && self.is_partial())
    }

    /// What went with the directory around it, in reach of a command, and did not come back since.
    fn still_gone(&self, is_in_reach: impl Fn(&Path) -> bool) -> BTreeMap<OsString, Thing> {
        let mut known = self.quarantine.lock();
        let gone = mem::take(&mut known.gone);
        let (reached, kept) = gone
            .into_iter()
            .filter(|(path, _)| Path::new(path).symlink_metadata().is_err())
            .partition(|(path, _)| is_in_reach(Path::new(path)));
        known.gone = kept;
        reached
    }

    /// Puts in order what an earlier command left, before anything else is recorded as what was there.
    fn settle_the_last(&self, label: Option<&str>) -> Result<(), HostError> {
        let unresolved = mem::take(&mut self.quarantine.lock().unresolved);
        let mut failed = Vec::new();
        for mut scene in unresolved {
            scene.written.clone_from(&self.quarantine.lock().written);
            let outcome = scene.settle(self, label);
            let mut known = self.quarantine.lock();
            known.tell(&outcome);
            if outcome.failed.is_empty() {
                known.gone.append(&mut scene.gone);
                continue;
            }
            scene.keep(&outcome.failed);
            failed.extend(outcome.failed);
            known.unresolved.push(scene);
        }
        self.quarantine.lock().forget_writes();
        if failed.is_empty() {
            return Ok(());
        }
        Err(HostError::Failed(format!(
            "the command did not start: an earlier one may have changed what the rules do not let it, and that \
             could not be undone yet: {}; a new session takes it as it is",
            said(&failed)
        )))
    }

    fn open_root(&self, path: &Path) -> Result<Root, HostError> {
        let open = || {
            let below = path.strip_prefix("/").unwrap_or(path);
            let opened = beneath::directory(self.root.as_fd(), below)?;
            let mode = Mode::from_raw_mode(fstat(&opened)?.st_mode);
            Ok((opened, mode))
        };
        let (opened, mode) =
            open().map_err(|error: Errno| not_recorded(path, &error.to_string()))?;
        Ok(Root {
            path: path.to_owned(),
            opened,
            mode,
        })
    }
}
