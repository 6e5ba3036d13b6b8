//! Notices a model that goes in circles: the same calls, round after round. Must not decide what
//! becomes of it: that is for the rules of `doom_loop` and whoever answers them.

use model::{Arguments, ToolCall};
use serde_json::Value;
use std::collections::VecDeque;

/// The most calls that a round has.
const ROUND_CALLS_MAX: usize = 4;

/// The rounds in a row that are a circle.
const ROUNDS: usize = 3;

/// The last calls since the user spoke, in as many messages as they take.
#[derive(Debug, Default)]
pub(crate) struct LoopGuard(VecDeque<Made>);

/// A call as it is compared: arguments as values, so that neither spaces nor the order of keys count.
#[derive(Debug, PartialEq)]
struct Made {
    tool: String,
    arguments: Value,
}

impl Made {
    fn of(call: &ToolCall) -> Self {
        let arguments = match &call.arguments {
            Arguments::Json(value) => value.clone(),
            Arguments::Text(text) => {
                serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone()))
            }
        };
        let tool = call.tool.clone();
        Self { tool, arguments }
    }
}

impl LoopGuard {
    /// Takes note of a call that is about to be made. If it ends a third round of the same calls: those
    /// calls, one a line.
    pub(crate) fn note(&mut self, call: &ToolCall) -> Option<String> {
        self.0.push_back(Made::of(call));
        if self.0.len() > ROUNDS * ROUND_CALLS_MAX {
            self.0.pop_front();
        }
        let calls = self.0.make_contiguous();
        let length = (1..=ROUND_CALLS_MAX).find(|length| goes_round(calls, *length))?;
        let round = calls.iter().rev().take(length).rev();
        let lines: Vec<String> = round
            .map(|made| format!("{} {}", made.tool, made.arguments))
            .collect();
        Some(lines.join("\n"))
    }
}

/// Whether the last calls are rounds of this many, each the same as the one before.
fn goes_round(calls: &[Made], length: usize) -> bool {
    let start = calls.len().checked_sub(ROUNDS * length);
    let last = start.and_then(|start| calls.get(start..));
    last.is_some_and(|last| {
        last.iter()
            .zip(last.iter().skip(length))
            .all(|(a, b)| a == b)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn call(tool: &str, arguments: Arguments) -> ToolCall {
        ToolCall {
            id: "call".into(),
            tool: tool.into(),
            arguments,
        }
    }

    /// Which of these calls, by place, end a third round.
    fn noticed(calls: &str) -> Vec<usize> {
        let mut guard = LoopGuard::default();
        let mut places = Vec::new();
        for (place, name) in calls.chars().enumerate() {
            let arguments = Arguments::Json(serde_json::json!({ "command": name }));
            if guard.note(&call("bash", arguments)).is_some() {
                places.push(place);
            }
        }
        places
    }

    #[test]
    fn the_call_that_ends_a_third_round_is_noticed_and_each_one_after_it() {
        for (calls, places) in [
            ("AA", vec![]),
            ("AAA", vec![2]),
            ("AAAA", vec![2, 3]),
            ("AABAA", vec![]),
            ("ABABA", vec![]),
            ("ABABAB", vec![5]),
            ("ABABABA", vec![5, 6]),
            ("xABCABCABC", vec![9]),
            ("ABCDABCDABCD", vec![11]),
            ("ABCDABCDABxD", vec![]),
            ("ABCDEABCDEABCDE", vec![]),
            ("AABAABAAB", vec![8]),
            ("ABACADAE", vec![]),
        ] {
            assert_eq!(noticed(calls), places, "{calls}");
        }
    }

    #[test]
    fn arguments_are_compared_as_values() {
        let mut guard = LoopGuard::default();
        let json = serde_json::json!({"a": 1, "b": {"c": [1, 2], "d": null}});
        let turned = r#"{"b": {"d": null, "c": [1, 2]}, "a": 1}"#;
        assert_eq!(guard.note(&call("x", Arguments::Json(json))), None);
        assert_eq!(guard.note(&call("x", Arguments::Text(turned.into()))), None);
        let third = call("x", Arguments::Text(turned.replace(' ', "\n")));
        assert!(guard.note(&third).is_some());
        let other = turned.replace("[1, 2]", "[2, 1]");
        assert_eq!(guard.note(&call("x", Arguments::Text(other))), None);
    }

    #[test]
    fn text_that_is_no_json_is_compared_as_it_is_and_another_tool_is_another_call() {
        let mut guard = LoopGuard::default();
        let broken = || Arguments::Text("{\"a\": ".into());
        for tool in ["x", "x", "y", "x", "x"] {
            assert_eq!(guard.note(&call(tool, broken())), None);
        }
        let noticed = guard.note(&call("x", broken())).unwrap();
        assert_eq!(noticed, "x \"{\\\"a\\\": \"");
    }

    proptest! {
        #[test]
        fn only_three_rounds_of_at_most_four_calls_are_noticed(calls in "[A-C]{0,24}") {
            let is_circle = |end: usize| {
                (1..=4).any(|length: usize| {
                    (end + 1).checked_sub(3 * length).is_some_and(|start| {
                        let rounds = &calls[start..=end];
                        rounds == rounds[..length].repeat(3)
                    })
                })
            };
            let expected: Vec<usize> = (0..calls.len()).filter(|end| is_circle(*end)).collect();
            prop_assert_eq!(noticed(&calls), expected);
        }
    }
}
