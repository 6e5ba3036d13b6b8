//! A question as text: all of it, and nothing in it that could move a cursor or hide a word.

use gate::{
    access::{Evidence, Inquiry},
    g2_admit::Question,
};
use policy::{AnsweredBy, Decision, SubjectKind};
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
        Evidence::Inquiries(inquiries) => inquiries
            .iter()
            .try_for_each(|inquiry| out.write_str(&render_inquiry(inquiry)))?,
    }
    writeln!(out, "  because {}", because(question.because))
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
