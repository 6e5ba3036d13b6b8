//! Hardenings: where an allow is not meant for everything it matches, one a file.
//!
//! Must not: deny. A hardening asks, and says why; only some of them may be answered for good.

pub(crate) mod env;

use crate::rule::Rule;
use crate::subject::Subject;

/// What a hardening says to a subject.
pub(crate) struct Guarded {
    /// What asks. A reply lifts the ask only if it lies inside this rule too.
    pub(crate) rule: &'static Rule,
    /// Why, in a few words: the note of the trace.
    pub(crate) note: &'static str,
    /// Why a yes holds once and is never kept, if so.
    pub(crate) once_only: Option<&'static str>,
}

/// Looks at a subject that is not denied. `found` is the base rule that decided, if one did: it allows
/// or asks.
type Guard = fn(&Subject, Option<&Rule>) -> Option<Guarded>;

/// All hardenings, in the order of their trace steps.
const GUARDS: [Guard; 1] = [env::guard];

/// What the hardenings say to a subject that is not denied, see [`Guard`].
pub(crate) fn guards<'s>(
    subject: &'s Subject,
    found: Option<&'s Rule>,
) -> impl Iterator<Item = Guarded> + 's {
    GUARDS.iter().filter_map(move |guard| guard(subject, found))
}
