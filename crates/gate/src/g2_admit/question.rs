//! How an ask is put, and how it may be answered.

use super::Keepable;
use crate::{
    BoxFuture,
    access::{AskUser, Evidence},
    call::{CallId, Ids},
    g3_confine::Order,
};
use policy::{Decision, Layer, Rule, SANDBOX_ESCAPE, Subject};
use std::fmt;

/// Answers asks: a person, an editor, a policy, a deadline.
pub trait Approver: Send + Sync {
    /// Whether the call may do what the question names. Must end: with no one there, at once.
    fn ask<'a>(&'a self, question: Question<'a>) -> BoxFuture<'a, Reply>;

    /// The same of what only a person may answer, see [`Question::needs_person`]. An approver that puts
    /// questions to one says so by having this method; from all others the answer is no.
    fn ask_person<'a>(&'a self, _question: Question<'a>) -> BoxFuture<'a, Reply> {
        let why = "only a person may answer this, and none can be asked".to_owned();
        Box::pin(async { Reply::Nobody { why } })
    }

    /// Puts the model's own questions to a person and brings the answers.
    fn put<'a>(&'a self, _inquiries: &'a Order<AskUser>) -> BoxFuture<'a, Answers> {
        Box::pin(async { Answers::Nobody })
    }
}

/// What an approver is shown.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// Which call.
    pub call: CallId,
    /// The call's id in the model's message.
    pub tool_call_id: &'a str,
    /// Of which tool.
    pub tool: &'a str,
    /// For which agent: it may be one that another has started.
    pub agent: &'a str,
    /// In which session.
    pub session: &'a str,
    /// All that the access does; a yes is for all of it.
    pub subjects: &'a [Subject],
    /// What it would change or run.
    pub evidence: Evidence<'a>,
    /// Why it is asked.
    pub because: &'a Decision,
    /// What [`Reply::Always`] may keep. If nothing, it counts as once.
    pub keepable: &'a Keepable,
}

impl Question<'_> {
    /// Whether only a person may answer it, having seen it: it leaves the sandbox. It comes by
    /// [`Approver::ask_person`], is put once for each failure, and a yes holds once, whatever the reply says.
    pub fn needs_person(&self) -> bool {
        let leaves = |it: &Subject| it.permission == SANDBOX_ESCAPE;
        self.subjects.iter().any(leaves)
    }

    /// Whether an always with these rules will be kept, see [`Keepable::accepts`].
    ///
    /// # Errors
    /// Why not, for a person.
    pub fn accepts(&self, rules: &[Rule]) -> Result<(), String> {
        self.keepable.accepts(rules)
    }
}

/// Where a yes holds that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// In this session.
    Session,
    /// In this workspace, by its real path.
    Project,
    /// For this user everywhere.
    Global,
}

impl Scope {
    /// The list in which a yes of this scope stands.
    pub fn layer(self) -> Layer {
        match self {
            Self::Session => Layer::Session,
            Self::Project | Self::Global => Layer::Saved,
        }
    }
}

/// `session`, `project`, `global`.
impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Session => "session",
            Self::Project => "project",
            Self::Global => "global",
        })
    }
}

/// Keeps what was approved for more than once. Returns only when it would survive the end of our
/// process.
pub trait Approvals: Send + Sync {
    /// Keeps these rules, with who approved them in which call.
    ///
    /// # Errors
    /// They could not be kept. The call is a fault: a person was promised that they would be.
    fn keep(&self, scope: Scope, rules: &[Rule], by: &Ids, who: &str) -> Result<(), String>;

    /// They are kept, and hold in the session of that call. For who has other questions waiting.
    fn hold(&self, _scope: Scope, _rules: &[Rule], _by: &Ids, _who: &str) {}
}

/// What an approver says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Yes, this once.
    Once {
        /// Who said so.
        who: String,
    },
    /// Yes, and again without being asked. What [`Keepable::accepts`] refuses counts as once.
    Always {
        /// Who said so.
        who: String,
        /// Where it holds.
        scope: Scope,
        /// What is kept, as chosen or edited by a person; `None`: what is usual.
        rules: Option<Vec<Rule>>,
    },
    /// Yes, and to everything that `*` asks, without being asked. It lifts no narrower ask, no denial and
    /// no hardening.
    Everything {
        /// Who said so, after a warning.
        who: String,
        /// Where it holds.
        scope: Scope,
    },
    /// No.
    Reject {
        /// Who said so.
        who: String,
        /// What the model should do instead.
        word: Option<String>,
    },
    /// There is no one to ask: a denial, at once.
    Nobody {
        /// Why nobody could be asked.
        why: String,
    },
}

/// What came of the model's own questions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answers {
    /// For each question, in order: what was chosen, or words of one's own; none: left open.
    Given(Vec<Vec<String>>),
    /// A person saw them and would not answer.
    Dismissed,
    /// There is no one to ask.
    Nobody,
}
