//! A trace as JSON: the one form that `check --json` prints and the journal keeps.
//!
//! Must not: leave a step out.

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::rule::Origin;
use crate::trace::{Step, Trace};

/// A list of its steps.
impl Serialize for Trace {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.steps.serialize(serializer)
    }
}

/// `{"step", "permission", "pattern", "rule"?, "origin"?: {"file", "line", "column"}, "action", "note"?}`
impl Serialize for Step {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("step", &self.step.to_string())?;
        map.serialize_entry("permission", &self.permission)?;
        map.serialize_entry("pattern", &self.pattern)?;
        if let Some(rule) = &self.rule {
            map.serialize_entry("rule", &rule.in_short())?;
            map.serialize_entry("origin", &Place(&rule.origin))?;
        }
        map.serialize_entry("action", &self.action.to_string())?;
        if !self.note.is_empty() {
            map.serialize_entry("note", &self.note)?;
        }
        map.end()
    }
}

struct Place<'r>(&'r Origin);

impl Serialize for Place<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(origin) = self;
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("file", &*origin.source)?;
        map.serialize_entry("line", &origin.line)?;
        map.serialize_entry("column", &origin.column)?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::Pattern;
    use crate::rule::{Action, Rule};
    use crate::trace::StepKind;

    #[test]
    fn a_step_has_the_documented_keys_in_their_order() {
        let origin = Origin {
            source: "a.jsonc".into(),
            line: 3,
            column: 5,
        };
        let mut step = Step {
            step: StepKind::Rule,
            permission: "bash".into(),
            pattern: "rm x".into(),
            rule: Some(Rule::new(
                "bash",
                Pattern::wildcard("rm *"),
                Action::Deny,
                origin,
            )),
            action: Action::Deny,
            note: "why".into(),
        };
        let shown = |step: &Step| serde_json::to_string(step).unwrap();
        assert_eq!(
            shown(&step),
            r#"{"step":"rule","permission":"bash","pattern":"rm x","rule":"bash: rm * = deny","origin":{"file":"a.jsonc","line":3,"column":5},"action":"deny","note":"why"}"#
        );
        step.rule = None;
        step.note.clear();
        assert_eq!(
            shown(&step),
            r#"{"step":"rule","permission":"bash","pattern":"rm x","action":"deny"}"#
        );
        let steps = vec![step.clone(), step];
        assert_eq!(
            serde_json::to_value(Trace { steps })
                .unwrap()
                .as_array()
                .unwrap()
                .len(),
            2
        );
    }
}
