//! A question as text: all of it, and nothing in it that could move a cursor or hide a word.

use gate::{
    access::{Evidence, Inquiry},
    g2_admit::{Keepable, Question},
};
use policy::{AnsweredBy, Decision, Rule, SubjectKind};
use std::fmt::Write;
use text::escape::{visible, visible_line};

/// The question, with its evidence and the rule that asks it.
pub(crate) fn render(question: &Question<'_>) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ok = write_question(&mut out, question);
    out
}

fn write_question(out: &mut String, question: &Question<'_>) -> std::fmt::Result {
    writeln!(out, "\n? {} wants leave to", visible_line(question.tool))?;
    for subject in question.subjects {
        let text = match subject.kind {
            SubjectKind::Command => &subject.source,
            SubjectKind::Path | SubjectKind::Name => &subject.canonical,
        };
        writeln!(
            out,
            "    {} {}",
            visible_line(&subject.permission),
            visible_line(text)
        )?;
        if let Some(why) = &subject.opaque {
            writeln!(
                out,
                "      it cannot be told what would run: {}",
                visible_line(why)
            )?;
        }
    }
    match question.evidence {
        Evidence::None => {}
        Evidence::Diff(diff) => write_block(out, "  the change:", diff)?,
        Evidence::Command { text, described_as } => {
            write_block(out, "  the command:", text)?;
            if let Some(words) = described_as {
                write_block(out, "  the model says of it, in its own words:", words)?;
            }
        }
        Evidence::Repeats(calls) => {
            write_block(
                out,
                "  the model makes the same calls again, for at least the third time:",
                calls,
            )?;
        }
        Evidence::Inquiries(inquiries) => inquiries
            .iter()
            .try_for_each(|inquiry| out.write_str(&render_inquiry(inquiry)))?,
    }
    writeln!(out, "  because {}", because(question.because))?;
    write_keepable(out, question.keepable)
}

/// What a yes may keep, to the letter.
fn write_keepable(out: &mut String, keepable: &Keepable) -> std::fmt::Result {
    if let Some(why) = &keepable.why_not {
        return writeln!(out, "  a yes holds once: {}", visible_line(why));
    }
    writeln!(out, "  a yes may be kept for")?;
    for (number, level) in (1..).zip(&keepable.levels) {
        writeln!(out, "    {number} {}", render_level(level))?;
    }
    Ok(())
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
    let permission = visible_line(&rule.permission);
    let pattern = visible_line(rule.pattern.text());
    format!("{permission} {exactly}`{pattern}`")
}

fn write_block(out: &mut String, title: &str, text: &str) -> std::fmt::Result {
    writeln!(out, "{title}")?;
    visible(text)
        .lines()
        .try_for_each(|line| writeln!(out, "    {line}"))
}

/// A question of the model itself, with what may be chosen.
pub(crate) fn render_inquiry(inquiry: &Inquiry) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ok = write_inquiry(&mut out, inquiry);
    out
}

fn write_inquiry(out: &mut String, inquiry: &Inquiry) -> std::fmt::Result {
    write_block(
        out,
        "  the model asks, in its own words:",
        &inquiry.question,
    )?;
    for (number, choice) in (1..).zip(&inquiry.choices) {
        let label = visible_line(&choice.label);
        let description = visible_line(&choice.description);
        writeln!(out, "      {number} {label}: {description}")?;
    }
    Ok(())
}

/// The rule that asks, with its place.
fn because(decision: &Decision) -> String {
    if let Some(why) = &decision.subject().ask_because {
        return visible_line(why);
    }
    match (decision.by(), decision.rule()) {
        (AnsweredBy::Default, _) | (_, None) => "no rule covers it".to_owned(),
        (AnsweredBy::Rule { .. } | AnsweredBy::Approver(_), Some(rule)) => {
            format!("of the rule {}", visible_line(&rule.to_string()))
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
            *text.lock().unwrap() = render(question);
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
            git commit -m 'x' | cat
          because of the rule * "*" ask (user:1:1)
          a yes may be kept for
            1 bash exactly `git commit -m 'x'` and bash exactly `cat`
            2 bash `git commit *` and bash `cat *`
        "##);
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
            make
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
