//! The commands of a shell line, each as the rules are asked about it. Must not say whether walls hold it.

use crate::access::Spawn;
use command::{Class, RedirectOp, Simple, Word, WordKind};
use policy::Subject;
use std::ops::Range;

/// One command, and what gives it its meaning in the line.
pub(super) fn command_of(spawn: &Spawn, simple: &Simple) -> Subject {
    let mut subject = Subject::command(
        "bash",
        simple.canonical(),
        simple.source.trim(),
        simple.others(),
    );
    subject.narrower = match simple.class {
        Class::ReadOnly => Some("bash.readonly"),
        Class::Ordinary => simple.is_told.then_some("bash.told"),
        Class::Irreversible => Some("bash.irreversible"),
        Class::Publish => Some("bash.publish"),
    };
    // `pnpm exec tsc` is named as a whole, and only what speaks of `tsc` by name is heard besides.
    let is_named_with = simple.via.as_ref().is_some_and(|via| via.is_named)
        && simple.class <= Class::Ordinary
        && simple.opaque.is_none();
    subject.is_possible = is_named_with || simple.is_of_shell();
    subject.is_literal = simple.is_literal();
    subject.opaque = simple.opaque.as_ref().map(|it| it.why.clone());
    subject.span = Some(simple.range.clone());
    subject.always = simple.always();
    // SECURITY: what a here-document holds stands behind the command, and an answer to one text is none
    // to another.
    for redirect in &simple.redirects {
        let body = &redirect.target.range;
        if redirect.op == RedirectOp::Text && body.start >= simple.range.end {
            let body = with_last_line(spawn.command(), body);
            subject.source = format!("{}\n{body}", subject.source);
        }
    }
    // SECURITY: what stands beside it gives such a command its meaning, as in `X=...; rm "$X"`. An
    // answer to it is to the whole line.
    let line = spawn.command();
    let is_of_line = |word: &Word| match word.kind {
        WordKind::Literal | WordKind::Glob => false,
        WordKind::Known => is_set_in(line, line.get(word.range.clone()).unwrap_or(line)),
        WordKind::Dynamic => true,
    };
    if subject.opaque.is_some() || simple.words.iter().any(is_of_line) {
        spawn.command().trim().clone_into(&mut subject.source);
    }
    subject
}

/// Whether a word as it was written has its value from something in the line. The home and the directory are
/// what they are, unless the line says otherwise.
fn is_set_in(line: &str, word: &str) -> bool {
    let plain = ["${HOME}", "$HOME", "${PWD}", "$PWD"];
    let rest = plain
        .iter()
        .fold(word.to_owned(), |rest, it| rest.replace(it, ""));
    rest.contains('$')
        || ["HOME", "PWD"]
            .iter()
            .any(|it| line.contains(&format!("{it}=")))
}

/// A here-document with the line that ends it.
fn with_last_line<'t>(text: &'t str, body: &Range<usize>) -> &'t str {
    let behind = text.get(body.end..).unwrap_or_default();
    let length = behind.find('\n').unwrap_or(behind.len());
    text.get(body.start..body.end + length).unwrap_or_default()
}
