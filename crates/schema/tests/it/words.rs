//! The two texts a model reads at this gate. Must not test which faults there are.

use crate::schema::{ArgumentFault, invalid_arguments, nearest, unknown_tool};

#[test]
fn invalid_arguments_are_told_one_a_line() {
    let faults = [
        ArgumentFault::at("newString", "is missing and is required"),
        ArgumentFault::at_root("is not valid JSON"),
    ];
    insta::assert_snapshot!(invalid_arguments("edit", &faults), @r"
    The edit tool was called with invalid arguments:
    newString: is missing and is required
    input: is not valid JSON
    Please rewrite the input so it satisfies the expected schema.
    ");
}

#[test]
fn after_twenty_faults_the_rest_is_counted() {
    let faults: Vec<_> = (0..25)
        .map(|n| ArgumentFault::at(format!("a[{n}]"), "is wrong"))
        .collect();
    let words = invalid_arguments("edit", &faults);
    assert_eq!(words.lines().count(), 23);
    assert!(words.contains("a[19]: is wrong\nand 5 more\nPlease"));
}

#[test]
fn after_the_last_character_too() {
    let faults = vec![ArgumentFault::at("a", "\u{202e}".repeat(9_000)); 3];
    let words = invalid_arguments("edit", &faults);
    assert!(words.contains("\\u{202e}...\nand 2 more\n"));
    assert!(words.len() < 4_500);
}

#[test]
fn a_tool_that_is_not_there_is_told_with_those_that_are() {
    let available = ["bash", "read", "grep"];
    let words = [
        unknown_tool("Raed", nearest("Raed", available), &available),
        unknown_tool("fly", nearest("fly", available), &available),
        unknown_tool("fly\u{1b}\n", None, &[]),
    ];
    insta::assert_snapshot!(words.join("\n"), @r"
    There is no tool `Raed`. Did you mean `read`? Available tools: bash, read, grep.
    There is no tool `fly`. Available tools: bash, read, grep.
    There is no tool `fly\u{1b}\n`. No tools are available.
    ");
}

#[test]
fn a_long_list_of_tools_is_counted() {
    let names: Vec<String> = (0..1_000).map(|n| format!("server_tool_{n:04}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let words = unknown_tool("x", None, &names);
    assert!(words.ends_with("server_tool_0226 and 773 more."), "{words}");
}
