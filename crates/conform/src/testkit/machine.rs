//! A machine made of a map. Its commands are `cat PATH` and `true`, and it holds the walls for real.

use super::lock;
use gate::{
    BoxFuture,
    access::{Digest, GlobQuery, GrepQuery, Purpose, ReadFile, ReadTree, Spawn, WriteFile},
    call::CallId,
    g3_confine::{Confinement, Order},
    host::{
        Content, Ended, Entry, Exit, FileId, FileKind, FileMatches, Found, Host, HostError,
        LeftOut, Line, Matches, Paths, Place, ResolveError, Resolved, Tree,
    },
};
use ignore::overrides::OverrideBuilder;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Mutex,
};

/// Where the workspace of a [`MemoryHost`] lies.
pub const WORKSPACE: &str = "/w";

/// Files by absolute path. Directories are whatever files lie below. Files that say what git
/// ignores mean nothing here.
#[derive(Debug)]
pub struct MemoryHost {
    files: Mutex<Files>,
    open: Mutex<BTreeSet<CallId>>,
    confinement: Confinement,
}

#[derive(Debug, Default)]
struct Files {
    by_path: BTreeMap<String, Node>,
    /// Where links lead, by where they stand.
    links: BTreeMap<String, String>,
    inode: u64,
    kept: Vec<String>,
    ran: Vec<String>,
    ran_outside: Vec<String>,
}

#[derive(Clone, Debug)]
struct Node {
    inode: u64,
    links: u64,
    bytes: Vec<u8>,
}

/// The files of a walk with their bytes, and what was not walked.
#[derive(Debug, Default)]
struct Walked {
    files: Vec<(String, Node)>,
    left_out: LeftOut,
}

impl MemoryHost {
    /// A machine with these files (relative paths lie in the workspace) and all walls.
    pub fn with(files: &[(&str, &str)]) -> Self {
        Self::confined(files, Confinement::Full)
    }

    /// The same with another answer to what it enforces.
    pub fn confined(files: &[(&str, &str)], confinement: Confinement) -> Self {
        let host = Self {
            files: Mutex::default(),
            open: Mutex::default(),
            confinement,
        };
        for (path, text) in files {
            host.put(path, text);
        }
        host
    }

    /// Puts another file under a path, as a rename behind our back would.
    pub fn put(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let mut files = lock(&self.files);
        files.inode += 1;
        let node = Node {
            inode: files.inode,
            links: 1,
            bytes: bytes.as_ref().to_vec(),
        };
        files.by_path.insert(absolute(path), node);
    }

    /// Changes the bytes of a file and leaves its identity.
    pub fn touch(&self, path: &str, text: &str) {
        if let Some(node) = lock(&self.files).by_path.get_mut(&absolute(path)) {
            node.bytes = text.into();
        }
    }

    /// Makes a link that leads to another path.
    pub fn lead(&self, link: &str, to: &str) {
        lock(&self.files).links.insert(absolute(link), absolute(to));
    }

    /// Gives a file one more name somewhere else.
    pub fn link(&self, path: &str) {
        if let Some(node) = lock(&self.files).by_path.get_mut(&absolute(path)) {
            node.links += 1;
        }
    }

    /// Takes a file away.
    pub fn remove(&self, path: &str) {
        lock(&self.files).by_path.remove(&absolute(path));
    }

    /// The bytes of a file.
    pub fn bytes(&self, path: &str) -> Option<Vec<u8>> {
        lock(&self.files)
            .by_path
            .get(&absolute(path))
            .map(|it| it.bytes.clone())
    }

    /// The text of a file.
    pub fn text(&self, path: &str) -> Option<String> {
        let files = lock(&self.files);
        files
            .by_path
            .get(&absolute(path))
            .map(|it| String::from_utf8_lossy(&it.bytes).into())
    }

    /// Every file with its text, in order of path.
    pub fn all(&self) -> Vec<(String, String)> {
        let text = |node: &Node| String::from_utf8_lossy(&node.bytes).into_owned();
        lock(&self.files)
            .by_path
            .iter()
            .map(|(path, node)| (path.clone(), text(node)))
            .collect()
    }

    /// The outputs that were kept, in order.
    pub fn kept(&self) -> Vec<String> {
        lock(&self.files).kept.clone()
    }

    /// The commands that ran, in order.
    pub fn ran(&self) -> Vec<String> {
        lock(&self.files).ran.clone()
    }

    /// Those of them that ran outside the sandbox.
    pub fn ran_outside(&self) -> Vec<String> {
        lock(&self.files).ran_outside.clone()
    }

    /// The calls now open.
    pub fn open_count(&self) -> usize {
        lock(&self.open).len()
    }

    fn check(&self, call: CallId) -> Result<(), HostError> {
        let is_open = lock(&self.open).contains(&call);
        is_open
            .then_some(())
            .ok_or_else(|| HostError::Refused(format!("call {call} is not open")))
    }

    fn read(&self, order: &Order<ReadFile>) -> Result<Content, HostError> {
        self.check(order.call())?;
        let target = order.target();
        if found(&lock(&self.files), &target.absolute) != target.found {
            return Err(changed(target));
        }
        match target.found.map(|it| it.kind) {
            None => Ok(Content::Missing),
            Some(FileKind::Directory) => Ok(Content::Directory),
            Some(FileKind::File | FileKind::Other) => {
                let files = lock(&self.files);
                let node = files
                    .by_path
                    .get(&target.absolute)
                    .ok_or_else(|| changed(target))?;
                Ok(Content::Bytes(node.bytes.clone()))
            }
        }
    }

    fn look(&self, order: &Order<ReadTree>) -> Result<Tree, HostError> {
        self.check(order.call())?;
        let target = order.target();
        if found(&lock(&self.files), &target.absolute) != target.found {
            return Err(changed(target));
        }
        match order.access().purpose() {
            Purpose::List => Ok(Tree::Listing(self.list(order))),
            Purpose::Glob(query) => self.glob(order, query).map(Tree::Paths),
            Purpose::Grep(query) => self.grep(order, query).map(Tree::Matches),
        }
    }

    /// Every file below the target that fits and may be shown, sorted.
    fn walk(
        &self,
        order: &Order<ReadTree>,
        include: Option<&str>,
        shows_hidden: bool,
    ) -> Result<Walked, HostError> {
        let target = order.target();
        let mut fits = OverrideBuilder::new("");
        if let Some(pattern) = include {
            fits.add(pattern)
                .map_err(|error| HostError::Failed(format!("invalid glob pattern: {error}")))?;
        }
        let fits = fits
            .build()
            .map_err(|error| HostError::Failed(format!("invalid glob pattern: {error}")))?;
        let filter = order.walls().read_filter(target);
        let top = target.absolute.trim_end_matches('/');
        let mut walked = Walked::default();
        for (path, node) in &lock(&self.files).by_path {
            let is_itself = path == top;
            let Some(below) = path
                .strip_prefix(top)
                .filter(|rest| is_itself || rest.starts_with('/'))
            else {
                continue;
            };
            let below = below.trim_start_matches('/');
            let is_hidden = |name: &str| name == ".git" || (!shows_hidden && name.starts_with('.'));
            let is_out = below.split('/').any(is_hidden) || fits.matched(below, false).is_ignore();
            if is_out && !is_itself {
                continue;
            }
            let inside = path.strip_prefix(&format!("{WORKSPACE}/"));
            let real = inside.unwrap_or(path);
            if !filter.shows(real, path, &mut walked.left_out) {
                continue;
            }
            walked.files.push((path.clone(), node.clone()));
        }
        Ok(walked)
    }

    fn glob(&self, order: &Order<ReadTree>, query: &GlobQuery) -> Result<Paths, HostError> {
        let target = order.target();
        if target.found.map(|it| it.kind) != Some(FileKind::Directory) {
            return Err(HostError::Failed(format!(
                "glob path must be a directory: {}",
                target.absolute
            )));
        }
        let walked = self.walk(order, Some(&query.pattern), query.names_hidden())?;
        let omitted = walked.files.len().saturating_sub(query.limit);
        let paths = walked.files.into_iter().map(|(path, _)| path);
        Ok(Paths {
            paths: paths.take(query.limit).collect(),
            omitted,
            left_out: walked.left_out,
        })
    }

    /// Line by line, without the care for large files that a real machine takes.
    fn grep(&self, order: &Order<ReadTree>, query: &GrepQuery) -> Result<Matches, HostError> {
        if order.target().found.is_none() {
            let path = &order.target().absolute;
            return Err(HostError::Failed(format!(
                "No files found: {path} does not exist"
            )));
        }
        let pattern = if query.is_literal {
            regex::escape(&query.pattern)
        } else {
            query.pattern.clone()
        };
        let regex = regex::RegexBuilder::new(&pattern)
            .case_insensitive(query.ignores_case)
            .build()
            .map_err(|error| HostError::Failed(format!("invalid regular expression: {error}")))?;
        let walked = self.walk(order, query.include.as_deref(), true)?;
        let mut matches = Matches {
            left_out: walked.left_out,
            ..Matches::default()
        };
        let mut room = query.limit;
        for (path, node) in walked.files {
            if node.links > 1 {
                matches.left_out.asked += 1;
                continue;
            }
            if node.bytes.contains(&0) {
                continue;
            }
            let text = String::from_utf8_lossy(&node.bytes);
            let lines: Vec<&str> = text.lines().collect();
            let mut shown = BTreeMap::new();
            for (at, _) in lines
                .iter()
                .enumerate()
                .filter(|(_, line)| regex.is_match(line))
            {
                if room == 0 {
                    matches.has_more = true;
                    break;
                }
                room -= 1;
                let last = at.saturating_add(query.context).min(lines.len() - 1);
                let around = at.saturating_sub(query.context)..=last;
                for near in around {
                    shown.entry(near).or_insert(false);
                }
                shown.insert(at, true);
            }
            let line = |(at, fits): (usize, bool)| {
                let text = lines.get(at)?;
                Some(Line::new(at as u64 + 1, text.as_bytes(), fits))
            };
            let lines: Vec<Line> = shown.into_iter().filter_map(line).collect();
            if !lines.is_empty() {
                matches.files.push(FileMatches { path, lines });
            }
        }
        Ok(matches)
    }

    fn list(&self, order: &Order<ReadTree>) -> Vec<Entry> {
        let below = format!("{}/", order.target().absolute.trim_end_matches('/'));
        let files = lock(&self.files);
        let names = files
            .by_path
            .keys()
            .filter_map(|path| path.strip_prefix(&below));
        let entry = |rest: &str| match rest.split_once('/') {
            Some((name, _)) => Entry {
                name: name.to_owned(),
                is_directory: true,
            },
            None => Entry {
                name: rest.to_owned(),
                is_directory: false,
            },
        };
        let entries: BTreeSet<Entry> = names.map(entry).collect();
        entries.into_iter().collect()
    }

    fn write(&self, order: &Order<WriteFile>) -> Result<(), HostError> {
        self.check(order.call())?;
        let unbound = || HostError::Refused("an unbound write".into());
        let change = order.access().change().ok_or_else(unbound)?;
        let target = order.target();
        let mut files = lock(&self.files);
        let now = files.by_path.get(&target.absolute).cloned();
        let digest = now.as_ref().map(|node| Digest::of(&node.bytes));
        if found(&files, &target.absolute) != target.found || digest != change.before() {
            return Err(changed(target));
        }
        files.inode += 1;
        let inode = now.map_or(files.inode, |node| node.inode);
        let node = Node {
            inode,
            links: 1,
            bytes: change.after().into(),
        };
        files.by_path.insert(target.absolute.clone(), node);
        Ok(())
    }

    fn run(&self, order: &Order<Spawn>) -> Result<Ended, HostError> {
        self.check(order.call())?;
        let command = order.access().command();
        let is_outside = order.is_outside_sandbox();
        lock(&self.files).ran.push(command.to_owned());
        if is_outside {
            lock(&self.files).ran_outside.push(command.to_owned());
        }
        let ended = |code: i32, text: String| Ended {
            refused: Vec::new(),
            undone: Vec::new(),
            exit: Exit::Code(code),
            bytes_total: text.len() as u64,
            tail: text.into_bytes(),
            kept_at: None,
        };
        let Some(path) = command.strip_prefix("cat ") else {
            return Ok(ended(0, String::new()));
        };
        let resolved = self
            .resolve(path)
            .map_err(|error| HostError::Failed(error.to_string()))?;
        if !is_outside && !order.walls().may_read(&resolved) {
            return Ok(ended(1, format!("cat: {path}: Permission denied\n")));
        }
        match self.text(path) {
            Some(text) => Ok(ended(0, text)),
            None => Ok(ended(
                1,
                format!("cat: {path}: No such file or directory\n"),
            )),
        }
    }
}

impl Host for MemoryHost {
    fn confinement(&self) -> Confinement {
        self.confinement.clone()
    }
    fn workspace(&self) -> &Path {
        Path::new(WORKSPACE)
    }
    fn hides(&self, variable: &str) -> bool {
        variable.contains("SECRET")
    }

    fn home(&self) -> Option<&Path> {
        Some(Path::new("/home/u"))
    }
    /// Of the files there are, those that fit; a wildcard stands for no slash and no dot at the start.
    fn expand(&self, pattern: &str, max: usize) -> Option<Vec<String>> {
        if pattern.contains(['(', '[']) || pattern.contains("**") {
            return None;
        }
        let fits = |path: &str| {
            let (wanted, got) = (pattern.split('/'), path.split('/'));
            let is_same = |(want, got): (&str, &str)| {
                (want.starts_with('.') || !got.starts_with('.')) && policy::wildcard(want, got)
            };
            wanted.clone().count() == got.clone().count() && wanted.zip(got).all(is_same)
        };
        let files = lock(&self.files);
        // A directory is there where something lies in it.
        let paths = files.by_path.keys().flat_map(|path| {
            let ends = path.match_indices('/').skip(1).map(|(at, _)| at);
            ends.chain([path.len()]).filter_map(|end| path.get(..end))
        });
        let found: BTreeSet<&str> = paths.filter(|it| fits(it)).collect();
        let found: Vec<String> = found.into_iter().map(str::to_owned).collect();
        (found.len() <= max).then_some(found)
    }
    fn resolve(&self, path: &str) -> Result<Resolved, ResolveError> {
        if path.is_empty() || path.contains('\0') {
            return Err(ResolveError(format!("`{path}` is no path")));
        }
        let absolute = led(&lock(&self.files).links, absolute(path));
        let below = absolute
            .strip_prefix(WORKSPACE)
            .map(|rest| rest.trim_start_matches('/'));
        let (place, real) = match below {
            Some("") => (Place::Inside, ".".to_owned()),
            Some(rest) => (Place::Inside, rest.to_owned()),
            None => (Place::Outside, absolute.clone()),
        };
        let found = found(&lock(&self.files), &absolute);
        let above = FileId {
            device: 0,
            inode: 0,
        };
        Ok(Resolved {
            place,
            real,
            named: vec![path.to_owned()],
            absolute,
            found,
            above,
        })
    }
    fn open_call(&self, call: CallId) {
        lock(&self.open).insert(call);
    }
    fn close_call(&self, call: CallId) {
        lock(&self.open).remove(&call);
    }
    fn read_file(&self, order: Order<ReadFile>) -> BoxFuture<'_, Result<Content, HostError>> {
        Box::pin(async move { self.read(&order) })
    }
    fn read_tree(&self, order: Order<ReadTree>) -> BoxFuture<'_, Result<Tree, HostError>> {
        Box::pin(async move { self.look(&order) })
    }
    fn write_file(&self, order: Order<WriteFile>) -> BoxFuture<'_, Result<(), HostError>> {
        Box::pin(async move { self.write(&order) })
    }
    fn spawn(&self, order: Order<Spawn>) -> BoxFuture<'_, Result<Ended, HostError>> {
        Box::pin(async move { self.run(&order) })
    }
    fn keep_output(&self, _call: CallId, text: &str) -> BoxFuture<'_, Result<String, HostError>> {
        let mut files = lock(&self.files);
        files.kept.push(text.to_owned());
        let path = format!("/kept/{}", files.kept.len());
        Box::pin(async move { Ok(path) })
    }
}

fn changed(target: &Resolved) -> HostError {
    HostError::Changed(format!(
        "`{}` is not the file that was decided about",
        target.real
    ))
}

/// Lexical: the map has no links.
fn absolute(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let from = if path.starts_with('/') { "" } else { WORKSPACE };
    for part in from.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    format!("/{}", parts.join("/"))
}

/// A path with the links on its way followed, which may not lead in a circle.
fn led(links: &BTreeMap<String, String>, path: String) -> String {
    let way = |link: &str| {
        let rest = path.strip_prefix(link)?;
        (rest.is_empty() || rest.starts_with('/')).then(|| rest.to_owned())
    };
    let next = links
        .iter()
        .find_map(|(link, to)| Some(format!("{to}{}", way(link)?)));
    match next {
        Some(next) => led(links, next),
        None => path,
    }
}

fn found(files: &Files, path: &str) -> Option<Found> {
    let id = |inode| FileId { device: 0, inode };
    if let Some(node) = files.by_path.get(path) {
        return Some(Found {
            id: id(node.inode),
            links: node.links,
            kind: FileKind::File,
        });
    }
    let below = format!("{}/", path.trim_end_matches('/'));
    let is_directory = path == WORKSPACE || files.by_path.keys().any(|it| it.starts_with(&below));
    is_directory.then_some(Found {
        id: id(0),
        links: 1,
        kind: FileKind::Directory,
    })
}
