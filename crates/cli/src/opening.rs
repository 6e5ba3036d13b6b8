//! What a person opens to commands beyond the usual walls: folders that are not ours, and machines by the
//! proxy. Must not open what was not named.

use crate::{
    complain,
    error::CliError,
    ground::user_dir,
    workbench::{home, state_path},
};
use config::{AllowedHost, Bounds};
use host::{Openings, bundles};
use proxy::{BoxFuture, Host, Judge, Limits, Outcome, Proxy, Target};
use std::{
    collections::BTreeSet,
    env,
    net::TcpListener,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::Duration,
};
use tokio::runtime::Builder;

/// How long an answer may take: it is looked up in a list.
const JUDGE: Duration = Duration::from_secs(10);

/// The real path of a folder or file that may be opened. SECURITY: what is ours stays closed, and so does
/// what lies around it, since it could be moved away whole.
///
/// # Errors
/// It is not there, or holds what is ours.
pub(crate) fn apart(path: &Path) -> Result<PathBuf, CliError> {
    let real = path.canonicalize().map_err(|error| {
        CliError::usage(format!("`{}` cannot be opened: {error}", path.display()))
    })?;
    match ours_near(&real) {
        None => Ok(real),
        Some(ours) => Err(CliError::usage(format!(
            "`{}` cannot be opened: {}",
            path.display(),
            stays_closed(&ours)
        ))),
    }
}

/// What is ours that lies in or around a real path.
pub(crate) fn ours_near(real: &Path) -> Option<PathBuf> {
    let own = user_dir(home().as_deref()).map(|dir| dir.join("tollgate"));
    let mut ours = state_path().into_iter().chain(own);
    ours.find(|ours| {
        let ours = canonical(ours);
        ours.starts_with(real) || real.starts_with(&ours)
    })
}

pub(crate) fn stays_closed(ours: &Path) -> String {
    format!(
        "`{}` is Tollgate's own and stays out of reach of commands",
        ours.display()
    )
}

/// What a person opens to one command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByHand<'a> {
    pub(crate) bundles: &'a [String],
    pub(crate) readable: &'a [PathBuf],
    pub(crate) writable: &'a [PathBuf],
}

/// What the configuration opens to commands, and a person to theirs. Makes the caches that bundles need.
///
/// # Errors
/// Something is not there or may not be opened.
pub(crate) fn openings(
    bounds: &Bounds,
    by_hand: Option<&ByHand<'_>>,
) -> Result<Openings, CliError> {
    let mut openings = Openings {
        writable: bounds.writable.iter().cloned().collect(),
        has_git_hooks: bounds.has_git_hooks,
        ..Openings::default()
    };
    for name in &bounds.bundles {
        enter(name, &mut openings).map_err(CliError::config)?;
    }
    let Some(by_hand) = by_hand else {
        return Ok(openings);
    };
    for name in by_hand.bundles {
        enter(name, &mut openings).map_err(CliError::usage)?;
    }
    for path in by_hand.readable {
        openings.readable.push(apart(path)?);
    }
    for path in by_hand.writable {
        openings.writable.push(apart(path)?);
    }
    Ok(openings)
}

fn enter(name: &str, openings: &mut Openings) -> Result<(), String> {
    let (_, bundle) = host::bundle(name).ok_or_else(|| no_bundle(name))?;
    let home = home().map(PathBuf::from).filter(|it| it.is_absolute());
    let home = home.ok_or_else(|| {
        format!("a bundle opens parts of the home, and HOME is not absolute (`{name}`)")
    })?;
    let opened = bundle.open(&home, &|name| env::var_os(name), openings);
    opened
        .map_err(|(path, error)| format!("the bundle `{name}` needs `{}`: {error}", path.display()))
}

pub(crate) fn no_bundle(name: &str) -> String {
    let known: Vec<String> = bundles()
        .iter()
        .map(|(name, bundle)| format!("\n  {name:<7} {}", bundle.about))
        .collect();
    format!("there is no bundle `{name}`; there are{}", known.concat())
}

/// The real path of what may not exist yet, as far as it does.
fn canonical(path: &Path) -> PathBuf {
    for above in path.ancestors() {
        if let (Ok(real), Ok(below)) = (above.canonicalize(), path.strip_prefix(above)) {
            return real.join(below).components().collect();
        }
    }
    path.to_owned()
}

/// The machines that a person's own command may reach.
#[derive(Debug, Default)]
pub(crate) struct Machines {
    allowed: BTreeSet<String>,
    /// Named by the person, so that they may lie in a private network.
    private: Vec<String>,
}

impl Machines {
    pub(crate) fn is_empty(&self) -> bool {
        self.allowed.is_empty()
    }

    pub(crate) fn add(&mut self, host: &AllowedHost) {
        self.allowed.insert(host.to_string());
    }

    pub(crate) fn add_named(&mut self, host: &AllowedHost) {
        let text = host.to_string();
        let name = text.split(':').next().unwrap_or_default();
        self.private.push(name.to_owned());
        self.allowed.insert(text);
    }

    /// Lets connections through until our process ends. What is refused is told.
    pub(crate) fn serve(self: Arc<Self>, listener: TcpListener) -> Result<(), CliError> {
        let private: Result<Vec<Host>, _> = self.private.iter().map(|it| Host::parse(it)).collect();
        let private = private.map_err(CliError::usage)?;
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| CliError::fault(&error))?;
        let proxy = Proxy::new(self, Limits::new(JUDGE))
            .with_named_private(private)
            .on_heard(|heard| {
                if let (Some(target), Outcome::Refused(_)) = (heard.target, heard.outcome) {
                    complain(&format!(
                        "{target} was refused: `--allow-host {target}` would allow it"
                    ));
                }
            });
        thread::spawn(move || {
            runtime.block_on(async {
                match proxy::adopt(listener) {
                    Ok(listener) => complain(&format!(
                        "the proxy ended: {}",
                        Arc::new(proxy).serve(listener).await
                    )),
                    Err(error) => complain(&format!("there is no proxy: {error}")),
                }
            });
        });
        Ok(())
    }
}

impl Judge for Machines {
    fn may_reach(&self, target: Target) -> BoxFuture<'_, Result<(), String>> {
        let is_allowed = self.allowed.contains(&target.to_string());
        let said = is_allowed
            .then_some(())
            .ok_or_else(|| "it is not among the machines that were named".to_owned());
        Box::pin(async { said })
    }
}
