//! The folders in which an agent's configuration lies may hold keys and what was said elsewhere. A broad
//! allow of reading is not meant for them, as in the compatible systems.
//!
//! Must not: speak of changing them, which is for `protected`.

use super::places::Places;
use super::{Around, Guarded, is_broad, spellings};
use crate::subject::{Subject, SubjectKind};
use std::sync::LazyLock;

const TABLE: &str = "pattern\tclass\twhy
.kilo/\tagent\tthe configuration of an agent
!.kilo/plans/\tagent\tplans
!.kilo/worktrees/\tagent\tworking copies
.kilocode/\tagent\tthe configuration of an agent
!.kilocode/plans/\tagent\tplans
!.kilocode/worktrees/\tagent\tworking copies
.opencode/\tagent\tthe configuration of an agent
!.opencode/plans/\tagent\tplans
.tollgate/\tagent\tthe configuration of an agent
!.tollgate/plans/\tagent\tplans
";

static PLACES: LazyLock<Places> =
    LazyLock::new(|| Places::read(TABLE, "read", "hardening: configuration"));

/// Speaks where no rule, or a broad one, allows or asks.
pub(crate) fn guard(subject: &Subject, around: Around<'_>) -> Option<Guarded> {
    let is_read = subject.kind == SubjectKind::Path && subject.permission == "read";
    if !(is_read && around.found.is_none_or(is_broad)) {
        return None;
    }
    let place = spellings(subject).find_map(|path| PLACES.find(path, |_| true))?;
    Some(Guarded {
        rule: &place.rule,
        note: place.why,
        once_only: None,
    })
}

/// Whether a path lies in such a folder.
pub(crate) fn holds(path: &str) -> bool {
    PLACES.find(path, |_| true).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_and_working_copies_are_no_configuration() {
        super::super::places::check_table(TABLE, &["agent"]);
        for (path, want) in [
            (".kilo/kilo.json", true),
            ("sub/.OpenCode/agent/a.md", true),
            ("/home/u/.kilocode/x", true),
            (".tollgate/x", true),
            (".kilo/plans/a.md", false),
            (".kilo/plans/../kilo.json", true),
            ("/p/.kilo/worktrees/one/src/a.rs", false),
            ("kilo/a", false),
        ] {
            assert_eq!(holds(path), want, "{path}");
        }
    }
}
