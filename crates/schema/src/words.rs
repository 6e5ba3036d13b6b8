//! What a model reads when a call could not be decoded. Must not hold any other words: those of a
//! single fault are in `fault.rs`.

use crate::excerpt;
use crate::fault::ArgumentFault;

/// At most this many faults are told.
const FAULTS_MAX: usize = 20;

/// At most this many characters are spent on faults, or on names of tools.
const CHARS_MAX: usize = 4_096;

/// Says what is wrong with the arguments of a call, one line a fault, at most 20 lines and 4,096
/// characters of them, and how many more there are.
pub fn invalid_arguments(tool: &str, faults: &[ArgumentFault]) -> String {
    let tool = excerpt::name(tool);
    let (mut lines, told) = fill(faults.iter().map(|fault| format!("{fault}\n")), FAULTS_MAX);
    if told < faults.len() {
        lines = format!("{lines}and {} more\n", faults.len() - told);
    }
    format!(
        "The {tool} tool was called with invalid arguments:\n{lines}\
         Please rewrite the input so it satisfies the expected schema."
    )
}

/// Says that there is no such tool, which one may have been meant, and which there are.
pub fn unknown_tool(name: &str, nearest: Option<&str>, available: &[&str]) -> String {
    let name = excerpt::name(name);
    let guess = nearest.map_or_else(String::new, |nearest| {
        format!(" Did you mean `{}`?", excerpt::name(nearest))
    });
    if available.is_empty() {
        return format!("There is no tool `{name}`.{guess} No tools are available.");
    }
    let names = available.iter().enumerate().map(|(index, tool)| {
        let comma = if index == 0 { "" } else { ", " };
        format!("{comma}{}", excerpt::name(tool))
    });
    let (names, told) = fill(names, usize::MAX);
    let rest = match available.len() - told {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("There is no tool `{name}`.{guess} Available tools: {names}{rest}.")
}

/// Joins whole pieces while they fit, and counts them.
fn fill(pieces: impl Iterator<Item = String>, count_max: usize) -> (String, usize) {
    let (mut text, mut chars, mut count) = (String::new(), 0, 0);
    for piece in pieces.take(count_max) {
        chars += piece.chars().count();
        if chars > CHARS_MAX {
            break;
        }
        text.push_str(&piece);
        count += 1;
    }
    (text, count)
}
