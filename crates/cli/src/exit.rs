//! What the process says when it ends. Scripts depend on these numbers.

use std::process::ExitCode;

/// An exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// The model ended normally and no ask went unanswered; denials by rule are listed.
    Ok = 0,
    /// A tool failed.
    Failed = 1,
    /// The command line, or a call's arguments, do not fit.
    Usage = 2,
    /// An ask went unanswered, a person rejected, the model went in circles, or `check` says deny.
    Refused = 3,
    /// The configuration, or a folder of ours, cannot be used.
    Config = 4,
    /// A sandbox was asked for and there is none.
    SandboxUnavailable = 5,
    /// The model cannot be reached.
    ModelUnreachable = 6,
    /// `check` says ask.
    Ask = 7,
    /// Our own mistake, or a journal that cannot be written.
    Fault = 70,
    /// Ended because its terminal is gone: 128 and the number of the signal, as for the two below.
    HungUp = 129,
    /// Ended from the keyboard.
    Interrupted = 130,
    /// Asked to end by another program.
    Terminated = 143,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
