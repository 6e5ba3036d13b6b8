//! A question as text: all of it, and nothing in it that could move a cursor, hide a word, or pass for a word of
//! ours.

use super::sheet::Sheet;
use gate::{
    access::{Evidence, Inquiry},
    g2_admit::{Keepable, Question},
    g3_confine::FailedLine,
    host::Exit,
};
use policy::{AnsweredBy, Decision, Rule, SubjectKind};
use text::escape::{spelled_line, visible_line};

/// The lines shown of what the model says about a command: it may not push the command itself off the screen.
const WORDS_MAX: usize = 6;

/// The same of what a command wrote.
const OUTPUT_MAX: usize = 12;

/// The question, with its evidence and the rule that asks it, for a terminal of so many columns.
pub(crate) fn render(question: &Question<'_>, columns: usize) -> String {
    let mut sheet = Sheet::new(columns);
    write_question(&mut sheet, question);
    sheet.finish()
}

fn write_question(sheet: &mut Sheet, question: &Question<'_>) {
    sheet.ours("");
    sheet.ours(&format!("? {} wants leave to", visible_line(question.tool)));
    for subject in question.subjects {
        let text = match subject.kind {
            SubjectKind::Command => &subject.source,
            SubjectKind::Path | SubjectKind::Name => &subject.canonical,
        };
        sheet.item("    ", &format!("{} {text}", subject.permission));
        if let Some(why) = &subject.opaque {
            sheet.item("      it cannot be told what would run: ", why);
        }
    }
    match question.evidence {
        Evidence::None | Evidence::Escape { .. } => {}
        Evidence::Diff(diff) => {
            sheet.ours("  the change:");
            sheet.diff(diff);
        }
        Evidence::Command { text, described_as } => {
            write_description(sheet, described_as);
            sheet.ours("  the command:");
            sheet.whole(text);
        }
        Evidence::Repeats(calls) => {
            sheet.ours("  the model makes the same calls again, for at least the third time:");
            sheet.whole(calls);
        }
        Evidence::Inquiries(inquiries) => {
            for inquiry in inquiries {
                write_inquiry(sheet, inquiry);
            }
        }
    }
    if let Evidence::Escape {
        described_as,
        reason,
        failed,
        ..
    } = question.evidence
    {
        write_description(sheet, described_as);
        sheet.ours("  the model says why, in its own words:");
        sheet.start(reason, WORDS_MAX);
        write_failed(sheet, failed);
    }
    sheet.item("  because ", &because(question.because));
    write_keepable(sheet, question.keepable);
    // Last, so that nothing long of others stands between it and the answer.
    if let Evidence::Escape {
        text, timeout_ms, ..
    } = question.evidence
    {
        sheet.ours("  the command that would run outside the sandbox:");
        sheet.whole(text);
        sheet.ours(&format!("  it may take {}", duration(timeout_ms)));
        let asks = format!("{} in session {}", question.agent, question.session);
        sheet.item("  it is asked for by the agent ", &asks);
    }
    if question.needs_person() {
        for line in WARNING {
            sheet.ours(line);
        }
    }
}

/// Stands right above the answer.
const WARNING: &[&str] = &[
    "  WARNING: this leaves the sandbox. With a yes the command runs once, with your",
    "  rights and with nothing to hold it: it can read and change all your files, use",
    "  your logins, reach every machine, and what it starts may go on when it has",
    "  ended. Until it starts, other programs can still change what it would do.",
    "  It has no terminal, a filtered environment, a TMPDIR of its own, and of your",
    "  git configuration your name alone.",
];

fn write_description(sheet: &mut Sheet, described_as: Option<&str>) {
    if let Some(words) = described_as {
        sheet.ours("  the model says of it, in its own words:");
        sheet.start(words, WORDS_MAX);
    }
}

/// What became of the line inside the sandbox, as the gate saw it.
fn write_failed(sheet: &mut Sheet, failed: &FailedLine) {
    let end = match failed.exit() {
        Exit::Code(code) => format!("ended with exit code {code}"),
        Exit::Signal(signal) => format!("was ended by signal {signal}"),
        Exit::TimedOut => {
            let time = duration(failed.timeout_ms());
            format!("was ended when its time of {time} was over")
        }
    };
    sheet.ours(&format!(
        "  inside the sandbox it {end}; the end of what it wrote:"
    ));
    match failed.output() {
        "" => sheet.ours("    (no output)"),
        output => sheet.end(output, OUTPUT_MAX),
    }
    if failed.refused().is_empty() {
        return;
    }
    sheet.ours("  and was refused these machines:");
    sheet.whole(&failed.refused().join("\n"));
}

/// `120 s`, `1 ms`.
fn duration(ms: u64) -> String {
    if ms.is_multiple_of(1_000) {
        format!("{} s", ms / 1_000)
    } else {
        format!("{ms} ms")
    }
}

/// What a yes may keep, to the letter.
fn write_keepable(sheet: &mut Sheet, keepable: &Keepable) {
    if let Some(why) = &keepable.why_not {
        return sheet.item("  a yes holds once: ", why);
    }
    sheet.ours("  a yes may be kept for");
    for (number, level) in (1..).zip(&keepable.levels) {
        sheet.item(&format!("    {number} "), &render_level(level));
    }
}

/// Rules that are kept together.
pub(crate) fn render_level(rules: &[Rule]) -> String {
    let rules: Vec<String> = rules.iter().map(render_rule).collect();
    rules.join(" and ")
}

/// What one kept rule would allow.
pub(crate) fn render_rule(rule: &Rule) -> String {
    let exactly = if rule.pattern.is_exact() {
        "exactly "
    } else {
        ""
    };
    let permission = spelled_line(&rule.permission);
    let pattern = spelled_line(rule.pattern.text());
    format!("{permission} {exactly}`{pattern}`")
}

/// A question of the model itself, with what may be chosen.
pub(crate) fn render_inquiry(inquiry: &Inquiry, columns: usize) -> String {
    let mut sheet = Sheet::new(columns);
    write_inquiry(&mut sheet, inquiry);
    sheet.finish()
}

fn write_inquiry(sheet: &mut Sheet, inquiry: &Inquiry) {
    sheet.ours("  the model asks, in its own words:");
    sheet.whole(&inquiry.question);
    for (number, choice) in (1..).zip(&inquiry.choices) {
        let text = format!("{}: {}", choice.label, choice.description);
        sheet.item(&format!("      {number} "), &text);
    }
}

/// The rule that asks, with its place.
fn because(decision: &Decision) -> String {
    if let Some(why) = &decision.subject().ask_because {
        return why.clone();
    }
    match (decision.by(), decision.rule()) {
        (AnsweredBy::Default, _) | (_, None) => "no rule covers it".to_owned(),
        (AnsweredBy::Rule { .. } | AnsweredBy::Approver(_), Some(rule)) => {
            format!("of the rule {rule}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use conform::testkit::{Action, Bench, MemoryHost, no};
    use gate::{g1_decode::RawArguments, g3_confine::Confinement};
    use serde_json::{Value, json};
    use std::sync::Mutex;

    /// The first question of a call.
    fn shown(bench: &Bench, tool: &str, arguments: Value) -> String {
        let text = Mutex::new(String::new());
        let answer = |question: &Question<'_>| {
            *text.lock().unwrap() = render(question, 80);
            no()
        };
        let (tools, arguments) = (tools::builtins(), RawArguments::Json(arguments));
        bench
            .run_on(&bench.host, &tools, tool, arguments, answer)
            .unwrap_err();
        text.into_inner().unwrap()
    }

    fn all_ask(host: MemoryHost) -> Bench {
        Bench::on(host, &[("*", "*", Action::Ask)])
    }

    #[test]
    fn a_command_is_shown_with_what_may_be_kept_of_a_yes() {
        let line = json!({"command": "git commit -m 'x' | cat"});
        insta::assert_snapshot!(shown(&all_ask(MemoryHost::with(&[])), "bash", line), @r##"

        ? bash wants leave to
            bash git commit -m 'x'
            bash cat
          the command:
            | git commit -m 'x' | cat
          because of the rule * "*" ask (user:1:1)
          a yes may be kept for
            1 bash exactly `git commit -m 'x'` and bash exactly `cat`
            2 bash `git commit *` and bash `cat *`
        "##);
    }

    #[test]
    fn a_command_that_would_leave_the_sandbox_is_shown_with_what_became_of_it_inside() {
        let bench = Bench::free(MemoryHost::with(&[]));
        let line = json!({"command": "cat gone"});
        let tools = tools::builtins();
        let (host, line) = (&bench.host, RawArguments::Json(line));
        bench.run_on(host, &tools, "bash", line, |_| no()).unwrap();
        let line = json!({
            "command": "cat gone",
            "description": "Reads the cache",
            "timeout": 90_000,
            "outside_sandbox": "The cache lies outside",
        });
        insta::assert_snapshot!(shown(&bench, "bash", line), @r##"

        ? bash wants leave to
            sandbox_escape cat gone
            read gone
            bash cat gone
          the model says of it, in its own words:
            | Reads the cache
          the model says why, in its own words:
            | The cache lies outside
          inside the sandbox it ended with exit code 1; the end of what it wrote:
            | cat: gone: No such file or directory
          because it leaves the sandbox: nothing holds what it reads, changes or reaches
          a yes holds once: it leaves the sandbox
          the command that would run outside the sandbox:
            | cat gone
          it may take 90 s
          it is asked for by the agent code in session ses_test
          WARNING: this leaves the sandbox. With a yes the command runs once, with your
          rights and with nothing to hold it: it can read and change all your files, use
          your logins, reach every machine, and what it starts may go on when it has
          ended. Until it starts, other programs can still change what it would do.
          It has no terminal, a filtered environment, a TMPDIR of its own, and of your
          git configuration your name alone.
        "##);
    }

    /// What is asked about a line that leaves the sandbox after its time was over.
    fn shown_of_an_escape(command: &str, arguments: Value) -> String {
        let bench = Bench::free(MemoryHost::with(&[]));
        let tools = tools::builtins();
        let line = RawArguments::Json(json!({"command": command}));
        bench
            .run_on(&bench.host, &tools, "bash", line, |_| no())
            .unwrap();
        shown(&bench, "bash", arguments)
    }

    #[test]
    fn no_words_push_away_or_forge_the_command_that_leaves_the_sandbox() {
        let forged = format!("x{}  the command:{}ls", " ".repeat(74), " ".repeat(66));
        let line = format!("cat gone{}", " ".repeat(700));
        let arguments = json!({
            "command": line,
            "description": "harmless\n".repeat(60),
            "outside_sandbox": forged,
        });
        let text = shown_of_an_escape(&line, arguments);
        let (before, last) = text
            .split_once("  the command that would run outside the sandbox:\n")
            .unwrap();
        assert!(last.starts_with("    | cat gone  "), "{text}");
        assert_eq!(last.lines().count(), 10 + 2 + WARNING.len(), "{text}");
        assert!(
            before.contains("    (54 more lines are left out)\n"),
            "{text}"
        );
        assert!(before.contains("\n    :    the command:  "), "{text}");
        assert!(
            text.lines().all(|line| line.chars().count() <= 80),
            "{text}"
        );
    }

    #[test]
    fn letters_that_turn_others_round_are_spelled_in_a_command() {
        let line = "cat gone \u{5d0}=\u{338}";
        let text = shown_of_an_escape(line, json!({"command": line, "outside_sandbox": "\u{627}"}));
        assert!(text.contains(r"    | cat gone \u{5d0}=\u{338}"), "{text}");
        assert!(text.is_ascii(), "{text}");
    }

    #[test]
    fn a_file_is_shown_with_its_directory_and_all_files() {
        let host = MemoryHost::with(&[("src/a.rs", "x")]);
        let file = json!({"filePath": "src/a.rs"});
        insta::assert_snapshot!(shown(&all_ask(host), "read", file), @r##"

        ? read wants leave to
            read src/a.rs
          because of the rule * "*" ask (user:1:1)
          a yes may be kept for
            1 read exactly `src/a.rs`
            2 read `path:src/*`
            3 read `*`
        "##);
    }

    #[test]
    fn a_file_outside_is_shown_with_its_directory_alone() {
        let host = MemoryHost::with(&[("/out/x", "x")]);
        let file = json!({"filePath": "/out/x"});
        insta::assert_snapshot!(shown(&all_ask(host), "read", file), @r##"

        ? read wants leave to
            external_directory /out/*
            read /out/x
          because of the rule * "*" ask (user:1:1)
          a yes may be kept for
            1 external_directory.read exactly `/out/*` and read exactly `/out/x`
            2 read `path:/out/*` and external_directory.read exactly `/out/*`
        "##);
    }

    #[test]
    fn where_nothing_may_be_kept_it_is_said_why() {
        let why = "none on this machine".to_owned();
        let host = MemoryHost::confined(&[], Confinement::NotEnforced { why });
        let line = json!({"command": "make"});
        insta::assert_snapshot!(shown(&all_ask(host), "bash", line), @r##"

        ? bash wants leave to
            bash make
          the command:
            | make
          because no sandbox holds this command: none on this machine
          a yes holds once: no sandbox holds this command: none on this machine
        "##);
    }

    #[test]
    fn nothing_in_a_level_moves_the_cursor() {
        let line = json!({"command": "true '\u{1b}[2J\u{202e}x'"});
        let text = shown(&all_ask(MemoryHost::with(&[])), "bash", line);
        assert!(
            text.contains(r"1 bash exactly `true '\u{1b}[2J\u{202e}x'`"),
            "{text}"
        );
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
    }
}
