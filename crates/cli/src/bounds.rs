//! What a session began with of the key `sandbox`: kept with it, so that what is written into a configuration
//! later only tightens it. Must not be kept where a tool could read or change it.

use crate::{error::CliError, opening};
use config::{Bounds, Reference, Sandbox, Surroundings};
use std::{
    cell::RefCell,
    env, fs,
    io::{ErrorKind, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

/// This machine around the key.
struct Here<'s> {
    home: Option<PathBuf>,
    workspace: &'s Path,
    warnings: RefCell<Vec<String>>,
}

impl Surroundings for Here<'_> {
    fn look_up(&self, reference: &Reference) -> Option<String> {
        match reference {
            Reference::Env(name) => env::var(name).ok(),
            Reference::File(path) => {
                let text = fs::read_to_string(path).ok()?;
                Some(text.trim().to_owned())
            }
        }
    }

    fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    fn folder(&self, path: &Path) -> Result<Option<PathBuf>, String> {
        let real = match path.canonicalize() {
            Ok(real) => real,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let warning = format!(
                    "`{}` of `sandbox.writable_paths` is not there, and opens nothing",
                    path.display()
                );
                self.warnings.borrow_mut().push(warning);
                return Ok(None);
            }
            Err(error) => return Err(closed(path, &error.to_string())),
        };
        let real_of = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let holds = |inner: Option<&Path>| inner.is_some_and(|it| real_of(it).starts_with(&real));
        let why = if real.to_str().is_none() {
            "its path is not UTF-8, so no rule could name it".to_owned()
        } else if let Some(ours) = opening::ours_near(&real) {
            opening::stays_closed(&ours)
        } else if holds(self.home()) {
            "it is the home, or lies around it".to_owned()
        } else if holds(Some(self.workspace)) && real != real_of(self.workspace) {
            "it lies around the workspace".to_owned()
        } else if holds(Some(&env::temp_dir())) {
            "temporary folders of other sessions lie in it; commands have one of their own"
                .to_owned()
        } else {
            return Ok(Some(real));
        };
        Err(closed(path, &why))
    }

    fn bundle(&self, name: &str) -> Result<(String, Vec<String>), String> {
        let (name, bundle) = host::bundle(name).ok_or_else(|| opening::no_bundle(name))?;
        Ok((name.to_owned(), bundle.hosts.clone()))
    }
}

fn closed(path: &Path, why: &str) -> String {
    format!("`{}` cannot be opened: {why}", path.display())
}

/// What a configuration says, and what is to be told about it.
///
/// # Errors
/// A machine, a folder or a bundle in it is none, or the folder may not be opened.
pub(crate) fn written(
    sandbox: &Sandbox,
    workspace: &Path,
) -> Result<(Bounds, Vec<String>), CliError> {
    let here = Here {
        home: crate::workbench::home().map(PathBuf::from),
        workspace,
        warnings: RefCell::default(),
    };
    let bounds = sandbox.bounds(&here).map_err(CliError::config)?;
    Ok((bounds, here.warnings.into_inner()))
}

/// What a session began with: nothing, if nothing was kept.
///
/// # Errors
/// What was kept cannot be read. Then it is not known, and the session does not go on.
pub(crate) fn began_with(state_dir: &Path, session: &str) -> Result<Bounds, CliError> {
    let path = place(state_dir, session)?;
    let unknown = |why: String| {
        CliError::config(format!(
            "it is not known within what bounds the session `{session}` began: `{}`: {why}",
            path.display()
        ))
    };
    match fs::read_to_string(&path) {
        Ok(text) => Bounds::from_snapshot(&text).map_err(unknown),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Bounds::default()),
        Err(error) => Err(unknown(error.to_string())),
    }
}

/// Keeps what a session begins with, if it is anything.
///
/// # Errors
/// It cannot be written.
pub(crate) fn keep(state_dir: &Path, session: &str, bounds: &Bounds) -> Result<(), CliError> {
    if *bounds == Bounds::default() {
        return Ok(());
    }
    let path = place(state_dir, session)?;
    let write = || {
        let folder = path.parent().unwrap_or(state_dir);
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
        // Beside it first: half a file would be taken for a broken one.
        let half = path.with_extension("new");
        let mut file = fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&half)?;
        file.write_all(bounds.to_snapshot().as_bytes())?;
        file.sync_all()?;
        fs::rename(&half, &path)
    };
    write().map_err(|error: std::io::Error| {
        CliError::config(format!("`{}` cannot be written: {error}", path.display()))
    })
}

fn place(state_dir: &Path, session: &str) -> Result<PathBuf, CliError> {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-');
    if session.is_empty() || !session.chars().all(is_plain) {
        return Err(CliError::usage(format!("`{session}` names no session")));
    }
    Ok(state_dir.join("bounds").join(format!("{session}.json")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use config::Network;

    #[test]
    fn what_was_kept_is_read_again_by_that_session_alone() {
        let state = tempfile::tempdir().unwrap();
        let open = Bounds {
            network: Some(Network::Allow),
            ..Bounds::default()
        };
        keep(state.path(), "ses_1", &open).unwrap();
        keep(state.path(), "ses_2", &Bounds::default()).unwrap();
        let began = |session| began_with(state.path(), session);
        assert_eq!(began("ses_1").unwrap(), open);
        assert_eq!(began("ses_2").unwrap(), Bounds::default());
        assert!(began("../ses_1").is_err() && began("").is_err());
        fs::write(state.path().join("bounds/ses_1.json"), "{").unwrap();
        let why = began("ses_1").unwrap_err().message;
        assert!(why.contains("it is not known within what bounds"), "{why}");
    }
}
