//! `tollgate trust`: what a repository's configuration says beyond rules that tighten, shown to a person who
//! says whether it may hold.
//!
//! Must not take anything but a person's own yes for one, or show less than what is agreed to.

use crate::{
    Exit,
    approver::Terminal,
    args::TrustArgs,
    error::CliError,
    ground, print,
    workbench::{open_store, state_dir, state_path},
};
use config::{Item, ItemKind, Sources, Standing, Trust};
use serde_json::{Value, json};
use std::{
    fmt::Write as _,
    io,
    path::{Path, PathBuf},
};
use store::{Store, StoredTrust, TrustedItem};
use text::{
    diff::unified,
    escape::{visible, visible_line},
};

const NO_TERMINAL: &str = "nothing was trusted: only a person at a terminal can say yes to it; \
                           run `tollgate trust` in one";

pub(crate) fn trust(args: &TrustArgs) -> Result<Exit, CliError> {
    let sources = ground::sources(args.dir.as_deref())?;
    if let Some(dir) = state_path() {
        ground::apart(&dir, &sources.workspace)?;
    }
    let store = open_store(&state_dir()?)?;
    if args.list {
        return list(&store, args.json);
    }
    let root = ground::root(&sources.workspace)?;
    if let Some(named) = &args.revoke {
        return revoke(&store, &root, named, args.json);
    }
    Repository::read(store.as_ref(), sources, root)?.offer(args.json)
}

/// A repository, what its configuration says, and what of that was trusted before.
struct Repository<'s> {
    store: &'s Store,
    sources: Sources,
    root: PathBuf,
    items: Vec<Item>,
    known: Vec<StoredTrust>,
}

/// What a person may answer.
enum Answer {
    Yes,
    No,
    NoMore,
}

impl<'s> Repository<'s> {
    fn read(store: &'s Store, mut sources: Sources, root: PathBuf) -> Result<Self, CliError> {
        sources.trust = ground::trust_in(store)?;
        let items = ground::discover(&sources)?.items;
        let known = store.trusted().map_err(|error| CliError::fault(&error))?;
        Ok(Self {
            store,
            sources,
            root,
            items,
            known,
        })
    }

    fn offer(self, is_json: bool) -> Result<Exit, CliError> {
        if is_json {
            let items = self.items.iter().map(|item| self.as_json(item));
            let root = self.root.display().to_string();
            let items = items.collect::<Value>();
            print(&format!("{:#}\n", json!({ "root": root, "items": items })));
            return Ok(Exit::Ok);
        }
        let count = self.items.iter().filter(|item| item.is_trusted()).count();
        if count == self.items.len() {
            print(&match count {
                _ if self.sources.variables.is_project_off => {
                    "a variable says that this repository's configuration is left alone\n"
                        .to_owned()
                }
                0 => "this repository says nothing that could be trusted\n".to_owned(),
                count => format!("you trust all that this repository says: {count} things\n"),
            });
            return Ok(Exit::Ok);
        }
        let Ok(terminal) = Terminal::open() else {
            let mut out = String::new();
            for (item, is_first) in self.open() {
                out += &self.shown(item, is_first);
                if let Some(why) = obstacle(item) {
                    out.extend(["  ", &why, "\n"]);
                }
            }
            print(&out);
            return Err(refused(NO_TERMINAL));
        };
        self.ask(&terminal)
    }

    fn ask(&self, terminal: &Terminal) -> Result<Exit, CliError> {
        let mut trusted_count = 0;
        let mut said = String::new();
        for (item, is_first) in self.open() {
            said += &self.shown(item, is_first);
            if let Some(why) = obstacle(item).or_else(|| self.fault_of(item)) {
                said.extend(["  ", &why, "\n"]);
                continue;
            }
            let answer = answer(terminal, &std::mem::take(&mut said));
            let gone = |_| refused("the terminal went away; what you answered before holds");
            match answer.map_err(gone)? {
                Answer::Yes => {
                    self.keep(item)?;
                    trusted_count += 1;
                }
                Answer::No => {}
                Answer::NoMore => break,
            }
        }
        print(&format!("{said}{trusted_count} trusted\n"));
        Ok(Exit::Ok)
    }

    /// What is not trusted, and whether it is the first of its file.
    fn open(&self) -> impl Iterator<Item = (&Item, bool)> {
        let mut last: Option<&Path> = None;
        let open = self.items.iter().filter(|item| !item.is_trusted());
        open.map(move |item| (item, last.replace(&item.file) != Some(&*item.file)))
    }

    fn keep(&self, item: &Item) -> Result<(), CliError> {
        let kept = self.store.trust(&TrustedItem {
            root: self.root.display().to_string(),
            file: item.file.display().to_string(),
            key: item.key.clone(),
            digest: item.digest.clone(),
            text: item.text.clone(),
            who: "the person at the terminal".to_owned(),
        });
        kept.map_err(|error| CliError::fault(&error))
    }

    /// What was trusted in the place of an item that has changed.
    fn before(&self, item: &Item) -> Option<&StoredTrust> {
        let is_here =
            |it: &&StoredTrust| Path::new(&it.item.file) == item.file && it.item.key == item.key;
        self.known.iter().find(is_here)
    }

    /// Why everything would stop if an item held: a yes to it would be none to work with.
    fn fault_of(&self, item: &Item) -> Option<String> {
        let place = |it: &StoredTrust| {
            let TrustedItem {
                file, key, digest, ..
            } = it.item.clone();
            (file.into(), key, digest)
        };
        let this = (item.file.clone(), item.key.clone(), item.digest.clone());
        let sources = Sources {
            trust: Trust::of(self.known.iter().map(place).chain([this])),
            ..self.sources.clone()
        };
        let loaded = ground::discover(&sources);
        let error = loaded.and_then(|it| ground::agents(&it)).err()?;
        let why = indented(&visible(&error.message));
        Some(format!("as it stands it would stop everything:\n{why}"))
    }

    /// An item as a person sees it: where, what it would mean, and all that it says.
    fn shown(&self, item: &Item, is_first: bool) -> String {
        let mut out = String::new();
        if is_first {
            let file = visible_line(&item.file.display().to_string());
            // Writing to a string cannot fail.
            let _ = writeln!(out, "\n{file}");
        }
        let (key, meaning) = (visible_line(&item.key), meaning(item));
        let _ = writeln!(out, "  line {}: `{key}` {meaning}", item.line);
        match self.before(item) {
            Some(before) => {
                let _ = writeln!(out, "  it has changed since you trusted it:");
                let (old, new) = (before.item.text.as_bytes(), item.text.as_bytes());
                out += &indented(&visible(&unified(&item.key, Some(old), new)));
            }
            None => out += &indented(&visible(&item.text)),
        }
        out
    }

    fn as_json(&self, item: &Item) -> Value {
        let kind = match item.kind {
            ItemKind::Loosening => "loosening",
            ItemKind::Executable => "executable",
            ItemKind::Other => "other",
        };
        let standing = match item.standing {
            Standing::Trusted => "trusted",
            Standing::Untrusted => "untrusted",
            Standing::Changed => "changed",
            Standing::Refers => "refers",
        };
        let before = match item.standing {
            Standing::Changed => self.before(item).map(|it| &it.item.text),
            Standing::Trusted | Standing::Untrusted | Standing::Refers => None,
        };
        json!({
            "file": item.file.display().to_string(), "line": item.line, "key": item.key, "kind": kind,
            "meaning": meaning(item), "standing": standing, "text": item.text, "digest": item.digest,
            "trusted_text": before,
        })
    }
}

fn answer(terminal: &Terminal, shown: &str) -> io::Result<Answer> {
    let mut prompt = format!("{shown}  trust it? [y yes, n no, q no to all that is left] ");
    loop {
        match terminal.ask_now(&prompt)?.trim() {
            "y" | "yes" => return Ok(Answer::Yes),
            "n" | "no" => return Ok(Answer::No),
            "q" => return Ok(Answer::NoMore),
            _ => "  please answer y, n or q ".clone_into(&mut prompt),
        }
    }
}

/// Why an item can never be trusted.
fn obstacle(item: &Item) -> Option<String> {
    if item.standing == Standing::Refers {
        return Some(format!("it {}, trusted or not", item.standing));
    }
    // Kept as text: another path might look the same.
    let is_text = item.file.to_str().is_some();
    (!is_text).then(|| "its path is not UTF-8 text, so trust in it cannot be kept".to_owned())
}

/// What it would mean to trust an item.
fn meaning(item: &Item) -> &'static str {
    if item.is_file {
        return "is a file of agents: prompts for a model, and rules that may allow more than yours";
    }
    match item.key.split('.').next().unwrap_or_default() {
        "permission" | "permissions" | "tools" => {
            "is rules: they would stand behind yours and may allow more"
        }
        "agent" | "agents" | "mode" => {
            "is an agent: a prompt for a model, and rules that may allow more than yours"
        }
        "default_agent" => "chooses the agent that acts",
        "preset" => "chooses the rules that yours start from",
        "sandbox" => "may open the walls around what a tool runs",
        "provider" => {
            "says where all that a model reads is sent, with a key of yours for this name if there is one"
        }
        "model" | "small_model" => "chooses the model that reads your work",
        "instructions" => "puts files before the model as if you had written them",
        _ if item.kind == ItemKind::Executable => "names programs to start on your machine",
        _ => "is a setting",
    }
}

fn indented(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        out.extend(["    ", line, "\n"]);
    }
    out
}

fn refused(message: &str) -> CliError {
    CliError {
        exit: Exit::Refused,
        message: message.to_owned(),
    }
}

fn list(store: &Store, is_json: bool) -> Result<Exit, CliError> {
    let all = store.trusted().map_err(|error| CliError::fault(&error))?;
    if is_json {
        print(&format!(
            "{:#}\n",
            all.iter().map(stored_as_json).collect::<Value>()
        ));
        return Ok(Exit::Ok);
    }
    if all.is_empty() {
        print("nothing is trusted\n");
    }
    for it in &all {
        print(&stored_as_text(it));
    }
    Ok(Exit::Ok)
}

/// Takes trust back: below paths, of keys of this repository, or in all of it.
fn revoke(store: &Store, root: &Path, named: &[String], is_json: bool) -> Result<Exit, CliError> {
    let all = store.trusted().map_err(|error| CliError::fault(&error))?;
    let is_below = |it: &StoredTrust, path: &Path| Path::new(&it.item.file).starts_with(path);
    let is_named = |it: &StoredTrust, name: &str| {
        let real = Path::new(name).canonicalize();
        let path = real.or_else(|_| std::path::absolute(name));
        let is_key = it.item.key == name && is_below(it, root);
        is_key || path.is_ok_and(|path| is_below(it, &path))
    };
    let is_meant = |it: &&StoredTrust| match named {
        [] => is_below(it, root),
        named => named.iter().any(|name| is_named(it, name)),
    };
    let meant: Vec<&StoredTrust> = all.iter().filter(is_meant).collect();
    let ids: Vec<i64> = meant.iter().map(|it| it.id).collect();
    let revoked = store.revoke_trust(&ids);
    revoked.map_err(|error| CliError::fault(&error))?;
    if is_json {
        let revoked = meant.iter().map(|it| stored_as_json(it)).collect::<Value>();
        print(&format!("{:#}\n", json!({ "revoked": revoked })));
    } else {
        for it in &meant {
            print(&format!("revoked: {}", stored_as_text(it)));
        }
    }
    let means_nothing = |name: &&String| !meant.iter().any(|it| is_named(it, name));
    let whole = [root.display().to_string()];
    let named = if named.is_empty() { &whole } else { named };
    let names: Vec<String> = named
        .iter()
        .filter(means_nothing)
        .map(|name| format!("`{name}`"))
        .collect();
    if names.is_empty() {
        return Ok(Exit::Ok);
    }
    Err(CliError {
        exit: Exit::Failed,
        message: format!("nothing is trusted of {}", names.join(", ")),
    })
}

fn stored_as_text(it: &StoredTrust) -> String {
    let TrustedItem { file, key, who, .. } = &it.item;
    let (file, key, who) = (visible_line(file), visible_line(key), visible_line(who));
    format!("{file}  `{key}`  by {who}\n")
}

fn stored_as_json(it: &StoredTrust) -> Value {
    let TrustedItem {
        root,
        file,
        key,
        digest,
        text,
        who,
    } = &it.item;
    json!({
        "file": file, "key": key, "digest": digest, "text": text, "root": root, "who": who,
        "at_ms": it.at_ms,
    })
}
