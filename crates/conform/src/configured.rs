//! Cases about files of configuration: what is read of them, and what a repository's may say. Each case has
//! its own folder, with a home and a repository in it.

use std::fs;
use std::path::{Path, PathBuf};

use config::{ConfigError, Loaded, Sources, Variables, discover};
use policy::RuleLayers;
use serde_json::Value;
use tempfile::TempDir;

use crate::cases::text;
use crate::ops::{decide, subject};
use crate::vectors::Put;

/// Puts one case.
pub(crate) fn put(input: &Value, expected: &Value) -> Result<Put, String> {
    let world = World::new().map_err(|error| error.to_string())?;
    let loaded = world.read(input).map_err(|error| error.to_string())?;
    let answer = match (loaded, expected) {
        (loaded, expected) if expected.get("used").is_some() => {
            format!("used: {}", loaded.is_ok_and(|it| !it.found.is_empty()))
        }
        (Err(error), expected) => told(&config::render(&error), "fatal", expected),
        (Ok(loaded), expected) if expected.get("action").is_some() => action(loaded, input)?,
        (Ok(loaded), expected) if expected.get("spawned").is_some() => {
            let is_kept_back = loaded.inert().any(|item| item.key.starts_with("mcp."));
            format!("spawned: {}", !is_kept_back)
        }
        (Ok(loaded), expected) if expected.get("credential_sent").is_some() => {
            format!("credential_sent: {}", !loaded.config.providers.is_empty())
        }
        (Ok(loaded), expected) => {
            let warnings = loaded.config.warnings.iter().map(ToString::to_string);
            told(&warnings.collect::<Vec<_>>().join("\n"), "read", expected)
        }
    };
    Ok(Put::Answered {
        expected: wanted(expected)?,
        got: answer,
    })
}

/// The right answer, in the words of ours.
fn wanted(expected: &Value) -> Result<String, String> {
    for key in ["used", "spawned", "credential_sent"] {
        if let Some(flag) = expected.get(key) {
            return Ok(format!("{key}: {flag}"));
        }
    }
    if expected.get("action").is_some() {
        return Ok(text(expected, "action")?.to_owned());
    }
    let is_fatal = expected.get("fatal") != Some(&Value::Bool(false));
    let outcome = if is_fatal { "fatal" } else { "read" };
    let words = words(expected).map(|word| format!(" {word}"));
    Ok(format!("{outcome}{}", words.collect::<String>()))
}

/// What was said, as far as it was asked for.
fn told(said: &str, outcome: &str, expected: &Value) -> String {
    let is_said = |word: &&str| regex::Regex::new(word).is_ok_and(|word| word.is_match(said));
    let words = words(expected)
        .filter(is_said)
        .map(|word| format!(" {word}"));
    format!("{outcome}{}", words.collect::<String>())
}

/// What is to be said; plain words are regular expressions too.
fn words(expected: &Value) -> impl Iterator<Item = &str> {
    let lists = ["error_contains", "warnings_contain"].into_iter();
    let lists = lists.filter_map(|key| expected.get(key)?.as_array());
    let single = expected.get("error_regex").into_iter();
    lists.flatten().chain(single).filter_map(Value::as_str)
}

fn action(loaded: Loaded, input: &Value) -> Result<String, String> {
    let ask = input.get("ask").ok_or("nothing is asked")?;
    let layers = RuleLayers {
        base: loaded.config.rules,
        project: loaded.project,
        ..RuleLayers::default()
    };
    let subjects = vec![subject(text(ask, "permission")?, text(ask, "pattern")?)];
    Ok(decide(layers, subjects, None).action().to_string())
}

struct World(TempDir);

impl World {
    fn new() -> std::io::Result<Self> {
        let world = Self(TempDir::new()?);
        fs::create_dir_all(world.path("repo/.git"))?;
        fs::create_dir_all(world.path("home/opencode"))?;
        Ok(world)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes the files of a case and reads them.
    fn read(&self, input: &Value) -> std::io::Result<Result<Loaded, ConfigError>> {
        let given = |key: &str| input.get(key);
        if let Some(user) = given("global").or(given("json")) {
            fs::write(self.path("home/opencode/opencode.json"), user.to_string())?;
        }
        if let Some(project) = given("project") {
            fs::write(self.path("repo/opencode.json"), project.to_string())?;
        }
        if let Some(file) = given("project_dir_has").and_then(Value::as_str) {
            let path = self.path("repo").join(file);
            fs::create_dir_all(path.parent().unwrap_or(Path::new("")))?;
            fs::write(path, "{}")?;
        }
        let named = match (given("file").and_then(Value::as_str), given("text")) {
            (Some(file), Some(Value::String(text))) => {
                fs::write(self.path(file), text)?;
                Some(self.path(file))
            }
            _ => None,
        };
        let set = given("dotenv").and_then(Value::as_str);
        let set = set.and_then(|line| line.split_once('='));
        Ok(discover(&Sources {
            user_dir: Some(self.path("home")),
            workspace: self.path("repo"),
            explicit: named,
            variables: Variables::of(&|name| set.filter(|it| it.0 == name).map(|it| it.1.into())),
            ..Sources::default()
        }))
    }
}
