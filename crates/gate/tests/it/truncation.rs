//! What a call gives back is cut to size once, at the end, whatever the tool did.

use crate::{
    rogues::{Says, says},
    world::{command, failure, file, unasked},
};
use conform::testkit::{Bench, MemoryHost};
use policy::Action::Allow;
use serde_json::json;
use text::truncate::Limits;
use tollgate_gate::output::{CallOutput, ToolOutput};
use tools::{Bash, Read};

fn lines(count: usize) -> String {
    (0..count).fold(String::new(), |text, n| text + &format!("line {n}\n"))
}

fn run(bench: &Bench, text: &str) -> CallOutput {
    bench.run(Says(Ok(says(text))), json!({}), unasked).unwrap()
}

#[test]
fn many_lines_are_cut_to_whole_lines_and_kept_whole_elsewhere() {
    let bench = Bench::new(&[]);
    let whole = lines(3_000);
    let output = run(&bench, &whole);
    assert!(output.output.starts_with("line 0\nline 1\n"));
    assert!(
        output
            .output
            .contains("line 1999\n\n...1000 lines truncated...\n")
    );
    assert!(!output.output.contains("line 2000\n"));
    assert!(output.output.contains("The full output is at /kept/1"));
    assert_eq!(output.kept_at.as_deref(), Some("/kept/1"));
    assert_eq!(bench.host.kept(), [whole]);
}

#[test]
fn a_single_long_line_is_cut_too() {
    let bench = Bench::new(&[]);
    let whole = "x".repeat(60 * 1_024);
    let output = run(&bench, &whole);
    assert!(output.output.starts_with(&"x".repeat(51_200)));
    assert!(!output.output.starts_with(&"x".repeat(51_201)));
    assert!(output.output.contains("...10240 bytes truncated..."));
    assert_eq!(bench.host.kept(), [whole]);
}

#[test]
fn a_character_is_not_cut_in_two() {
    let bench = Bench::new(&[]);
    let output = run(&bench, &"\u{1f4c1}".repeat(20_000)).output;
    assert!(output.contains("bytes truncated") && !output.contains('\u{fffd}'));
    // One byte more or less must not matter either.
    let output = run(&bench, &format!("a{}", "\u{1f4c1}".repeat(20_000))).output;
    assert!(output.contains("bytes truncated") && !output.contains('\u{fffd}'));
}

#[test]
fn text_exactly_at_the_limits_passes_as_it_is() {
    let bench = Bench::new(&[]);
    let mut full = "x".repeat(51_199);
    full.push('\n');
    for fits in [
        lines(2_000),
        lines(2_000).trim_end().to_owned(),
        "x".repeat(51_200),
        full,
        String::new(),
    ] {
        let output = run(&bench, &fits);
        assert_eq!((output.output, output.kept_at), (fits, None));
    }
    for over in [lines(2_001), "x".repeat(51_201), "\n".repeat(2_001)] {
        assert!(run(&bench, &over).output.contains("truncated..."));
    }
    assert_eq!(bench.host.kept().len(), 3);
}

#[test]
fn a_tool_that_says_it_cut_its_text_is_believed_only_within_the_limits() {
    let bench = Bench::new(&[]);
    let claim = |text: String| ToolOutput {
        kept_at: Some("/tool/own".into()),
        metadata: json!({"truncated": true}),
        ..says(text)
    };
    let own = bench
        .run(Says(Ok(claim("short".into()))), json!({}), unasked)
        .unwrap();
    assert_eq!(
        (own.output.as_str(), own.kept_at.as_deref()),
        ("short", Some("/tool/own"))
    );
    assert_eq!(bench.host.kept(), [""; 0]);

    let cut = bench
        .run(Says(Ok(claim(lines(3_000)))), json!({}), unasked)
        .unwrap();
    assert_eq!(cut.kept_at.as_deref(), Some("/kept/1"));
    assert!(cut.output.contains("1000 lines truncated"));
    assert_eq!(
        cut.metadata,
        json!({"truncated": true}),
        "what is for people stays"
    );
}

#[test]
fn the_text_of_a_failure_is_cut_as_well() {
    let bench = Bench::new(&[]);
    let whole = lines(3_000);
    let why = failure(bench.run(Says(Err(whole.clone())), json!({}), unasked));
    assert!(why.contains("1000 lines truncated"), "{}", why.len());
    assert!(!why.contains("line 2000\n"));
    assert_eq!(bench.host.kept(), [whole]);
}

#[test]
fn the_limits_are_those_of_the_room() {
    let mut bench = Bench::new(&[]);
    bench.limits = Limits {
        lines_max: 3,
        bytes_max: 1_000,
    };
    let output = run(&bench, &lines(5)).output;
    assert!(
        output.starts_with("line 0\nline 1\nline 2\n\n...2 lines truncated..."),
        "{output}"
    );
    bench.limits = Limits {
        lines_max: 1_000,
        bytes_max: 14,
    };
    let output = run(&bench, &lines(5)).output;
    assert!(
        output.starts_with("line 0\nline 1\n\n...21 bytes truncated..."),
        "{output}"
    );
}

#[test]
fn a_page_that_read_has_cut_itself_passes_uncut() {
    for text in [lines(5_000), format!("{}\n", "y".repeat(1_990)).repeat(500)] {
        let bench = Bench::on(MemoryHost::with(&[("big", &text)]), &[("*", "*", Allow)]);
        let output = bench.run(Read, file("big"), unasked).unwrap();
        assert!(text::truncate::fits(&output.output, bench.limits));
        assert!(
            output.output.contains("to continue.)"),
            "how to go on is not lost"
        );
        assert_eq!((output.kept_at, bench.host.kept()), (None, vec![]));
    }
}

#[test]
fn output_of_a_command_is_held_to_the_same_limits() {
    let bench = Bench::on(
        MemoryHost::with(&[("big", &lines(3_000))]),
        &[("*", "*", Allow)],
    );
    let output = bench.run(Bash, command("cat big"), unasked).unwrap();
    assert!(output.output.contains("1000 lines truncated"));
    assert_eq!(output.kept_at.as_deref(), Some("/kept/1"));
}
