//! Who speaks in a session: a script, or the model that was chosen.

use crate::error::CliError;
use config::{Config, Provider, Reference, Text, Timeout};
use model::{
    Model, ScriptedModel,
    openai::{OpenAi, Options, Secret},
};
use std::{env, fs, io, path::Path, time::Duration};
use text::escape::visible_line;

/// The most a script may hold, in bytes.
const SCRIPT_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// The most a file with a key may hold, in bytes.
const KEY_BYTES_MAX: u64 = 64 * 1024;

/// The model of a script.
///
/// # Errors
/// The file cannot be read or is no script.
pub(crate) fn script(path: &Path) -> Result<ScriptedModel, CliError> {
    let unusable =
        |error: io::Error| CliError::usage(format!("script `{}`: {error}", path.display()));
    let found = fs::metadata(path).map_err(unusable)?;
    if !found.is_file() || found.len() > SCRIPT_BYTES_MAX {
        let why = format!("not a regular file of at most {SCRIPT_BYTES_MAX} bytes");
        return Err(unusable(io::Error::other(why)));
    }
    let text = fs::read_to_string(path).map_err(unusable)?;
    ScriptedModel::from_json(&text).map_err(|error| unusable(io::Error::other(error)))
}

/// The model that was typed, else the agent's, else the configuration's.
///
/// # Errors
/// None is chosen, or the one that is chosen is not configured.
pub(crate) fn chosen(
    typed: Option<&str>,
    of_agent: Option<&str>,
    config: &Config,
) -> Result<Box<dyn Model>, CliError> {
    let configured = config.model.as_ref().map(resolve).transpose()?;
    let Some(name) = typed.or(of_agent).map(str::to_owned).or(configured) else {
        return Err(CliError::usage(
            "no model is chosen: pass --model PROVIDER/MODEL, set `model` in the configuration, or \
             play a script with --script",
        ));
    };
    let shown = visible_line(&name);
    let Some((provider_name, model)) = name.split_once('/') else {
        return Err(CliError::usage(format!(
            "`{shown}` is not of the form PROVIDER/MODEL"
        )));
    };
    let provider = config.providers.iter().find(|it| it.name == provider_name);
    let provider = provider.ok_or_else(|| {
        let known: Vec<&str> = config.providers.iter().map(|it| it.name.as_str()).collect();
        let known = if known.is_empty() {
            "none is".to_owned()
        } else {
            known.join(", ")
        };
        CliError::usage(format!(
            "provider of `{shown}` is not configured; configured: {known}"
        ))
    })?;
    let options = options(provider, model)?;
    let made = OpenAi::new(options).map_err(CliError::config)?;
    Ok(Box::new(made))
}

fn options(provider: &Provider, model: &str) -> Result<Options, CliError> {
    let name = &provider.name;
    let base_url = provider
        .base_url
        .as_ref()
        .ok_or_else(|| CliError::config(format!("provider `{name}` has no `options.baseURL`")))?;
    let id = provider
        .models
        .iter()
        .find(|it| it.name == model)
        .and_then(|it| it.id.as_ref());
    let id = id
        .map(resolve)
        .transpose()?
        .unwrap_or_else(|| model.to_owned());
    let mut options = Options::new(name.clone(), resolve(base_url)?, id);
    let key = provider
        .api_key
        .as_ref()
        .map(|key| resolve(key.text()))
        .transpose()?;
    options.api_key = key.map(Secret::new);
    for (header, value) in &provider.headers {
        options
            .headers
            .push((header.clone(), Secret::new(resolve(value.text())?)));
    }
    match provider.timeout {
        Some(Timeout::Ms(ms)) => options.timeouts.header = Duration::from_millis(ms),
        Some(Timeout::Never) => options.timeouts.header = Duration::MAX,
        None => {}
    }
    Ok(options)
}

/// What the user wrote for a provider goes to the provider and never to a model, so its files are read
/// as they are named.
fn resolve(text: &Text) -> Result<String, CliError> {
    let look_up = |reference: &Reference| match reference {
        Reference::Env(name) => env::var(name).ok(),
        Reference::File(path) => {
            let found = fs::metadata(path).ok()?;
            let is_plain = found.is_file() && found.len() <= KEY_BYTES_MAX;
            is_plain.then(|| fs::read_to_string(path).ok()).flatten()
        }
    };
    text.resolve(&look_up).map_err(CliError::config)
}
