//! Reads configuration; every rule keeps its place.
//!
//! Must not print, decide a permission, or look for files by itself: it reads
//! the one file it is told to. Finding and merging files comes later.

mod error;
mod known;
mod parse;

use std::{
    fs::{self, File},
    io::Read as _,
    path::Path,
};

use agent::Preset;
use policy::Rule;

pub use error::{ConfigError, Fault, render, render_with};
pub use parse::parse;

/// The most a configuration file may hold, in bytes.
pub const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// What a configuration file says.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// The rules of `permission` in file order, each with its place.
    pub rules: Vec<Rule>,
    /// The key `preset`, if given.
    pub preset: Option<Preset>,
    /// The key `tool_output`, if given.
    pub tool_output: Option<ToolOutput>,
    /// What is suspicious but does not stop anything, in file order.
    pub warnings: Vec<ConfigWarning>,
}

/// How much of a tool's output the model gets to see.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToolOutput {
    /// The most lines, at least 1.
    pub max_lines: Option<usize>,
    /// The most bytes, at least 1.
    pub max_bytes: Option<usize>,
}

/// Something a person should know about their configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigWarning {
    /// The file as it was named.
    pub source: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// What is suspicious.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl std::fmt::Display for ConfigWarning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            source,
            line,
            column,
            message,
            help,
        } = self;
        write!(f, "{source}:{line}:{column}: {message}")?;
        match help {
            Some(help) => write!(f, " ({help})"),
            None => Ok(()),
        }
    }
}

/// Reads one configuration file.
///
/// `home` is the directory that `~` and `$HOME` stand for in patterns. Rules
/// name their file as `path` is given.
///
/// # Errors
/// A [`ConfigError`] with every fault of the file. Nothing of a faulty file is used.
pub fn load(path: &Path, home: Option<&str>) -> Result<Config, ConfigError> {
    let label = path.display().to_string();
    let bytes = read(path).map_err(|reason| ConfigError::unreadable(&label, &reason))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        ConfigError::unreadable(&label, &format!("byte {offset} is not UTF-8 text"))
    })?;
    parse(&text, &label, home)
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    // Asked before the file is opened, for opening a pipe would wait for a writer.
    let kind = fs::metadata(path).map_err(|error| error.to_string())?;
    if kind.is_dir() {
        return Err("it is a directory".to_owned());
    }
    if !kind.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    let file = File::open(path).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    (file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(format!("it is larger than {FILE_BYTES_MAX} bytes"));
    }
    Ok(bytes)
}
