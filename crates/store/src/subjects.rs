//! What was asked about, as the journal keeps it: a JSON list, and back.
//!
//! Must not keep what is too long to be looked at again: such an argument is left out by name.

use policy::{Subject, SubjectKind};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The longest argument that is kept, in bytes. What a file was to hold is kept as its digest already.
const ARGUMENT_BYTES_MAX: usize = 1024;

/// The narrower names of permissions that a subject may have.
const NARROWER: [&str; 9] = [
    "bash.irreversible",
    "bash.publish",
    "bash.readonly",
    "bash.told",
    "edit.command",
    "edit.new",
    "edit.overwrite",
    "external_directory.read",
    "external_directory.write",
];

/// The subjects of one question.
pub(crate) fn to_json(subjects: &[Subject]) -> String {
    Value::from(subjects.iter().map(one).collect::<Vec<_>>()).to_string()
}

fn one(subject: &Subject) -> Value {
    let kind = match subject.kind {
        SubjectKind::Name => "name",
        SubjectKind::Path => "path",
        SubjectKind::Command => "command",
    };
    let mut out =
        json!({"permission": subject.permission, "kind": kind, "canonical": subject.canonical});
    let mut put = |key: &str, value: Value| {
        if let Value::Object(out) = &mut out {
            out.insert(key.to_owned(), value);
        }
    };
    if let Some(name) = subject.narrower {
        put("narrower", name.into());
    }
    if subject.source != subject.canonical {
        put("source", subject.source.as_str().into());
    }
    if !subject.others.is_empty() {
        put("others", subject.others.clone().into());
    }
    if !subject.is_literal {
        put("is_literal", false.into());
    }
    for (key, holds) in [
        ("is_possible", subject.is_possible),
        ("is_beside", subject.is_beside),
    ] {
        if holds {
            put(key, true.into());
        }
    }
    if let Some(command) = &subject.by {
        put("by", one(command));
    }
    if let Some(why) = &subject.opaque {
        put("opaque", why.as_str().into());
    }
    if let Some(why) = &subject.ask_because {
        put("ask_because", why.as_str().into());
    }
    if !subject.always.is_empty() {
        put("always", subject.always.clone().into());
    }
    let kept = subject.arguments.iter();
    let kept = kept.filter(|(_, value)| value.len() <= ARGUMENT_BYTES_MAX);
    let kept: Map<String, Value> = kept
        .map(|(name, value)| (name.clone(), value.as_str().into()))
        .collect();
    if !kept.is_empty() {
        put("arguments", kept.into());
    }
    out
}

/// Reads what [`to_json`] made; `None`: it is something else.
pub(crate) fn from_json(text: &str) -> Option<Vec<Subject>> {
    let Value::Array(list) = serde_json::from_str(text).ok()? else {
        return None;
    };
    list.iter().map(read_one).collect()
}

fn read_one(value: &Value) -> Option<Subject> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let texts = |key: &str| -> Option<Vec<String>> {
        let Some(list) = value.get(key) else {
            return Some(Vec::new());
        };
        let texts = list.as_array()?.iter();
        texts.map(|it| Some(it.as_str()?.to_owned())).collect()
    };
    let permission = text("permission")?;
    let canonical = text("canonical")?;
    let source = text("source").unwrap_or_else(|| canonical.clone());
    let mut subject = Subject::command(permission, canonical, source, texts("others")?);
    subject.kind = match value.get("kind")?.as_str()? {
        "name" => SubjectKind::Name,
        "path" => SubjectKind::Path,
        "command" => SubjectKind::Command,
        _ => return None,
    };
    if let Some(name) = text("narrower") {
        subject.narrower = Some(NARROWER.into_iter().find(|known| *known == name)?);
    }
    subject.is_literal = value.get("is_literal") != Some(&Value::Bool(false));
    let holds = |key: &str| value.get(key) == Some(&Value::Bool(true));
    subject.is_possible = holds("is_possible");
    subject.is_beside = holds("is_beside");
    if let Some(command) = value.get("by") {
        subject.by = Some(Arc::new(read_one(command)?));
    }
    subject.opaque = text("opaque");
    subject.ask_because = text("ask_because");
    subject.always = texts("always")?;
    if let Some(arguments) = value.get("arguments") {
        let arguments = arguments.as_object()?.iter();
        let arguments: Option<Vec<(String, String)>> = arguments
            .map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
            .collect();
        subject.arguments = arguments?.into();
    }
    Some(subject)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_come_back_as_they_were_but_for_arguments_that_are_too_long() {
        let mut outside = Subject::path(
            "external_directory",
            "/etc/*",
            "/etc/*",
            vec!["/e/*".into()],
        );
        outside.narrower = Some("external_directory.write");
        let mut line = Subject::command("bash", "rm x", "'rm' x", vec!["rm x".into()]);
        line.is_literal = false;
        line.opaque = Some("why".into());
        line.ask_because = Some("no walls".into());
        line.always = vec!["rm *".into()];
        line.arguments = vec![("command".to_owned(), "'rm' x".to_owned())].into();
        let mut plain = Subject::name("question", "*");
        plain.is_possible = true;
        plain.is_beside = true;
        plain.by = Some(Arc::new(line.clone()));
        let all = vec![outside, line, plain];
        assert_eq!(from_json(&to_json(&all)), Some(all.clone()));

        let mut long = all;
        long[1].arguments = vec![("content".to_owned(), "x".repeat(2000))].into();
        let back = from_json(&to_json(&long)).unwrap();
        assert!(back[1].arguments.is_empty());
    }

    #[test]
    fn what_is_not_understood_is_no_list_of_subjects() {
        for text in [
            "",
            "{}",
            "[{}]",
            r#"[{"permission":"a","kind":"x","canonical":"b"}]"#,
            r#"[{"permission":"a","kind":"name","canonical":"b","narrower":"c"}]"#,
        ] {
            assert_eq!(from_json(text), None, "{text}");
        }
    }
}
