//! The tour's own approver, for when there is no terminal: yes to named calls of the embedded script.
//! No flag, key or variable leads here.

use gate::{
    BoxFuture,
    g2_admit::{Approver, Question, Reply},
};

/// Calls that a person taking the tour would allow: the edit, and the project's own test where no
/// sandbox holds it.
const ALLOWED: [&str; 3] = ["test-before", "fix", "test-after"];

#[derive(Debug)]
pub(super) struct ForThisScript;

impl Approver for ForThisScript {
    fn ask<'a>(&'a self, question: Question<'a>) -> BoxFuture<'a, Reply> {
        let is_allowed = ALLOWED.contains(&question.tool_call_id);
        Box::pin(async move {
            if is_allowed {
                Reply::Once {
                    who: "the tour's own script".to_owned(),
                }
            } else {
                Reply::Nobody {
                    why: "there is no terminal, and the tour has no answer to this".to_owned(),
                }
            }
        })
    }
}
