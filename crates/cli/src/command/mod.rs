//! The subcommands, one a file.

mod agents;
mod approvals;
mod call;
mod check;
mod completions;
mod doctor;
mod log;
mod policy;
mod probe;
mod proxy_connect;
mod run;
mod sandbox;
mod sessions;
mod shell;
mod tools;
mod tour;
mod trust;

pub(crate) use agents::agents;
pub(crate) use approvals::approvals;
pub(crate) use call::call;
pub(crate) use check::check;
pub(crate) use completions::completions;
pub(crate) use doctor::doctor;
pub(crate) use log::log;
pub(crate) use policy::policy;
pub(crate) use proxy_connect::proxy_connect;
pub(crate) use run::run;
pub(crate) use sandbox::sandbox;
pub(crate) use sessions::sessions;
pub(crate) use shell::shell;
pub(crate) use tools::tools;
pub(crate) use tour::tour;
pub(crate) use trust::trust;

use crate::{error::CliError, signal::Signals};
use gate::cancel::Cancel;
use tokio::runtime::{Builder, Runtime};

/// One thread for us, others for files.
fn runtime() -> Result<Runtime, CliError> {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| CliError::fault(&error))
}

/// Runs to the end on this thread; whoever asks us to end raises the flag. A question at the terminal that
/// nobody answers any more does not hold the end up.
pub(crate) fn block_on<T>(cancel: &Cancel, work: impl Future<Output = T>) -> Result<T, CliError> {
    let runtime = runtime()?;
    let done = runtime.block_on(async {
        let mut signals = Signals::open().map_err(|error| CliError::fault(&error))?;
        let cancel = cancel.clone();
        tokio::spawn(async move {
            signals.next().await;
            cancel.cancel();
        });
        Ok(work.await)
    });
    runtime.shutdown_background();
    done
}
