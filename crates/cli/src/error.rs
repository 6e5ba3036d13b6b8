//! Why a command could not do its work: an exit code and words for a person.

use crate::Exit;
use gate::Fault;
use session::SessionError;
use std::{error::Error, fmt::Display};

/// What [`crate::start`] prints before it ends.
#[derive(Debug)]
pub(crate) struct CliError {
    pub(crate) exit: Exit,
    pub(crate) message: String,
}

impl CliError {
    pub(crate) fn usage(message: impl Display) -> Self {
        Self {
            exit: Exit::Usage,
            message: message.to_string(),
        }
    }

    pub(crate) fn config(message: impl Display) -> Self {
        Self {
            exit: Exit::Config,
            message: message.to_string(),
        }
    }

    pub(crate) fn fault(error: &dyn Error) -> Self {
        Self {
            exit: Exit::Fault,
            message: chain(error),
        }
    }
}

/// The error and its causes, in one line.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.contains(&next) {
            text = format!("{text}: {next}");
        }
        cause = error.source();
    }
    text
}

impl From<SessionError> for CliError {
    fn from(error: SessionError) -> Self {
        let exit = match &error {
            SessionError::Model(model::ModelError::Unreachable { .. }) => Exit::ModelUnreachable,
            SessionError::Model(model::ModelError::Settings { .. }) => Exit::Config,
            SessionError::Model(_) => Exit::Usage,
            _ => Exit::Fault,
        };
        Self {
            exit,
            message: chain(&error),
        }
    }
}

impl From<Fault> for CliError {
    fn from(fault: Fault) -> Self {
        Self::fault(&fault)
    }
}
