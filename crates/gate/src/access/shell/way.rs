//! Where the paths of a line lead, as the system follows them: behind a link `..` leads elsewhere than its letters
//! say. Must not decide, nor take a path by its letters alone.

use super::Asked;
use crate::{access::Handle, host::FileKind};
use command::{Directory, Line, Mode, Simple, TouchedPath};
use std::collections::HashMap;

/// The system takes no longer path.
const PATH_BYTES_MAX: usize = 4096;

impl Asked<'_> {
    /// Where a path leads: by the system, and by name, where those are two. `None`: one of them leads nowhere.
    ///
    /// SECURITY: programs hand `link/../x` to the system, which goes to the directory above the one that the link
    /// names. A few, as git, make it `x` before, so both are asked about.
    pub(super) fn ways(&self, path: &str) -> Option<Vec<Handle>> {
        let resolve = |path: &str| self.host.resolve(path).ok().map(Handle::new);
        if !goes_up(path) {
            return Some(vec![resolve(path)?]);
        }
        if path.len() > PATH_BYTES_MAX {
            return None;
        }
        let named = resolve(&command::by_name(path))?;
        let reached = resolve(&self.reached(path)?)?;
        if named.absolute() == reached.absolute() {
            return Some(vec![named]);
        }
        Some(vec![reached, named])
    }

    /// The patterns that one stands for, whose directory may be two, as in [`Self::ways`].
    pub(super) fn patterns(&self, directory: &str, pattern: &str) -> Option<Vec<String>> {
        if !goes_up(directory) {
            return Some(vec![pattern.to_owned()]);
        }
        let rest = pattern.strip_prefix(directory)?.trim_start_matches('/');
        let below = |directory: &str| format!("{}/{rest}", directory.trim_end_matches('/'));
        let named = command::by_name(directory);
        let ways = self.ways(directory)?;
        let others = ways.iter().map(Handle::absolute).filter(|it| *it != named);
        // By another name it is one directory.
        let others = others
            .filter(|_| ways.len() > 1)
            .map(below)
            .collect::<Vec<_>>();
        Some([below(&named)].into_iter().chain(others).collect())
    }

    /// The path without `..`, each link before one followed.
    fn reached(&self, path: &str) -> Option<String> {
        let mut here = String::with_capacity(path.len());
        for segment in path.split('/').filter(|it| !it.is_empty()) {
            if segment == ".." {
                here = self.above(&here)?;
            } else {
                here.push('/');
                here.push_str(segment);
            }
        }
        if here.is_empty() {
            here.push('/');
        }
        Some(here)
    }

    /// The directory above one. What is not there yet may become a directory; above a file there is nothing.
    fn above(&self, directory: &str) -> Option<String> {
        if directory.is_empty() {
            return Some(String::new());
        }
        let handle = Handle::new(self.host.resolve(directory).ok()?);
        match handle.resolved().found.map(|found| found.kind) {
            None | Some(FileKind::Directory) => {
                let (above, _) = handle.absolute().rsplit_once('/')?;
                Some(above.to_owned())
            }
            Some(FileKind::File | FileKind::Other) => None,
        }
    }

    /// Whether a name before `..` may become a link by another command of the line.
    pub(super) fn is_shifted(&self, path: &str, by: Option<usize>, line: &Line) -> bool {
        if !goes_up(path) || path.len() > PATH_BYTES_MAX {
            return false;
        }
        let made = self.made.get_or_init(|| made(line));
        if made.is_empty() {
            return false;
        }
        let is_up = |at: &usize| matches!(path.as_bytes().get(at + 3), None | Some(b'/'));
        let mut ups = path.match_indices("/..").map(|(at, _)| at).filter(is_up);
        ups.any(|at| {
            let before = command::by_name(path.get(..at).unwrap_or_default());
            let ends = before.match_indices('/').map(|(at, _)| at).skip(1);
            let mut ways = ends
                .chain([before.len()])
                .filter_map(|end| before.get(..end));
            ways.any(|way| {
                let mut makers = made.get(way).into_iter().flatten();
                makers.any(|maker| by != Some(*maker))
            })
        })
    }
}

/// The names that commands of a line make, which may be links, with the places of the commands. Nothing takes the
/// place of the directory in which a command works.
fn made(line: &Line) -> HashMap<String, Vec<usize>> {
    let renames: Vec<bool> = line.commands.iter().map(Simple::renames).collect();
    let mut made: HashMap<String, Vec<usize>> = HashMap::new();
    for touch in &line.touches {
        let Some(by) = touch.by.filter(|by| renames.get(*by) == Some(&true)) else {
            continue;
        };
        let TouchedPath::Exact(path) = &touch.path else {
            continue;
        };
        let at = line.commands.get(by).map(|by| &by.directory);
        let is_here = matches!(at, Some(Directory::Known(at)) if **at == **path);
        if touch.mode == Mode::Write && touch.is_certain && !is_here {
            made.entry(command::by_name(path)).or_default().push(by);
        }
    }
    made
}

/// Whether `..` stands behind a name.
pub(super) fn goes_up(path: &str) -> bool {
    path.ends_with("/..") || path.contains("/../")
}
