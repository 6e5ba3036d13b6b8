//! `tollgate policy import`: the rules of another agent as rules of ours. Writes to a new file or to
//! standard output, never into a configuration.
//!
//! Must not know what foreign rules mean.

use crate::{
    Exit,
    args::{PolicyImportArgs, PolicySource},
    complain,
    error::CliError,
    print,
    workbench::home,
};
use config::{FILE_BYTES_MAX, import};
use std::{
    fs::{self, File},
    io::Write,
    path::Path,
};
use text::escape::visible_line;

pub(crate) fn import(args: &PolicyImportArgs) -> Result<Exit, CliError> {
    let label = args.file.display().to_string();
    let foreign = read(&args.file).map_err(|why| {
        CliError::config(format!("`{}` cannot be read: {why}", visible_line(&label)))
    })?;
    let imported = match args.source {
        PolicySource::Claude => import::claude(&foreign, &label),
        PolicySource::Codex => import::codex(&foreign, &label),
        PolicySource::Gemini => import::gemini(&foreign, &label),
    };
    let imported = imported.map_err(|error| CliError::config(config::render(&error)))?;
    let name = args.out.as_deref().map(|out| out.display().to_string());
    let home = home();
    let ours = config::parse(
        &imported.text,
        name.as_deref().unwrap_or("imported"),
        home.as_deref(),
    );
    let ours = ours.map_err(|error| CliError::config(config::render(&error)))?;
    match &args.out {
        Some(out) => write_new(out, &imported.text)?,
        None => print(&imported.text),
    }
    for it in &imported.unmatched {
        let (text, why) = (visible_line(&it.text), visible_line(&it.why));
        complain(&format!("line {}: no equivalent: {text}: {why}", it.line));
    }
    for it in policy::lint(&ours.rules, home.as_deref()) {
        let line = format!("{}: {}: {}", it.origin, it.kind, it.message);
        complain(&format!(
            "{}\n    help: {}",
            visible_line(&line),
            visible_line(&it.help)
        ));
    }
    Ok(if imported.unmatched.is_empty() {
        Exit::Ok
    } else {
        Exit::Failed
    })
}

/// The text of a file that is not too long.
fn read(path: &Path) -> Result<String, String> {
    // A pipe or a device may never end.
    let meta = fs::metadata(path).map_err(|error| error.to_string())?;
    if !meta.is_file() {
        return Err("it is no file".to_owned());
    }
    if meta.len() > FILE_BYTES_MAX {
        return Err(format!("it is longer than {FILE_BYTES_MAX} bytes"));
    }
    fs::read_to_string(path).map_err(|error| error.to_string())
}

/// What is there already stays as it is.
fn write_new(path: &Path, text: &str) -> Result<(), CliError> {
    let written = File::create_new(path).and_then(|mut file| {
        let written = file.write_all(text.as_bytes());
        if written.is_err() {
            // Half a file would be no rules, or other ones.
            drop(fs::remove_file(path));
        }
        written
    });
    written.map_err(|error| {
        let name = path.display().to_string();
        CliError::config(format!(
            "`{}` cannot be written: {error}",
            visible_line(&name)
        ))
    })
}
