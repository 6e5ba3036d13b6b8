//! Shows a file with line numbers, or the names in a directory.

use crate::{mismatched, resolve};
use gate::{
    Problem,
    access::{Handle, ReadFile, ReadTree},
    g1_decode::{ArgumentFault, Asks, Scout, Want},
    g2_admit::Grants,
    g3_confine::CallContext,
    host::{Entry, Tree},
    output::ToolOutput,
    tool::Tool,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use text::lines::{self, Decoded};

/// Lines or names shown where no limit is given (as the compatible systems).
const LIMIT_DEFAULT: usize = 2_000;

/// Lines or names kept in the metadata for front ends.
const PREVIEW_LINES: usize = 20;

/// The tool `read`.
#[derive(Debug)]
pub struct Read;

/// What the model writes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Arguments {
    /// The file or directory: absolute, or relative to the workspace
    file_path: String,
    /// The line to start at, from 1
    offset: Option<usize>,
    /// How many lines at most (2000 if not given)
    #[schemars(range(min = 1))]
    limit: Option<usize>,
}

/// Which part of which file.
#[derive(Debug)]
pub struct Plan {
    file: Handle,
    offset: usize,
    limit: usize,
    read: Want<ReadFile>,
}

impl Tool for Read {
    type Kinds = (ReadFile, ReadTree);
    type Arguments = Arguments;
    type Plan = Plan;

    fn name(&self) -> &'static str {
        "read"
    }
    fn permission(&self) -> &'static str {
        "read"
    }
    fn describe(&self) -> &'static str {
        include_str!("read.md")
    }

    fn prepare(
        &self,
        arguments: Arguments,
        scout: &Scout<'_>,
        asks: &mut Asks<'_, Self::Kinds>,
    ) -> Result<Plan, ArgumentFault> {
        let file = resolve(scout, "filePath", &arguments.file_path)?;
        let read = asks.want(ReadFile::new(file.clone()));
        let offset = arguments.offset.unwrap_or(1).max(1);
        Ok(Plan {
            file,
            offset,
            limit: arguments.limit.unwrap_or(LIMIT_DEFAULT),
            read,
        })
    }

    async fn run<'call>(
        &self,
        plan: Plan,
        mut grants: Grants<'call, Self::Kinds>,
        cx: CallContext<'call>,
    ) -> Result<ToolOutput, Problem> {
        cx.progress(plan.file.path());
        let seen = cx.effects.read_file(grants.take(&plan.read)?).await?;
        if seen.is_directory() {
            let permit = grants.late(ReadTree::list(plan.file.clone())).await?;
            return match cx.effects.read_tree(permit).await? {
                Tree::Listing(entries) => Ok(directory(&plan, &entries)),
                Tree::Paths(_) | Tree::Matches(_) => Err(mismatched()),
            };
        }
        let path = plan.file.absolute();
        let missing = || Problem::failed(format!("File not found: {path}"));
        file(&plan, seen.bytes().ok_or_else(missing)?, cx.limits())
    }
}

fn file(plan: &Plan, bytes: &[u8], limits: text::truncate::Limits) -> Result<ToolOutput, Problem> {
    let path = plan.file.absolute();
    if let Some(kind) = picture(bytes) {
        let why = "this version gives back text only, attachments are not built yet";
        return Err(Problem::failed(format!(
            "Cannot show {path}: it is {kind}, and {why}"
        )));
    }
    if lines::looks_binary(path, bytes) {
        return Err(Problem::failed(format!("Cannot read binary file: {path}")));
    }
    let not_utf8 = || {
        let why = "other encodings are not built yet";
        Problem::failed(format!(
            "Cannot read {path}: it is not UTF-8 text, and {why}"
        ))
    };
    let text = Decoded::of(bytes).text().ok_or_else(not_utf8)?;
    let page = lines::number(text, plan.offset, plan.limit, room_within(limits))
        .map_err(|error| Problem::failed(error.to_string()))?;
    let shown = json!({
        "type": "file", "path": path, "lineStart": page.first, "lineEnd": page.last,
        "totalLines": page.total, "truncated": page.is_truncated(),
    });
    Ok(ToolOutput {
        title: plan.file.path().to_owned(),
        output: format!("<path>{path}</path>\n<type>file</type>\n<content>\n{page}\n</content>"),
        metadata: json!({
            "preview": first(page.lines.lines().map(without_number)), "truncated": page.is_truncated(), "loaded": [],
            "display": shown,
        }),
        ..ToolOutput::default()
    })
}

/// Leaves room for the frame around the lines, so that a full page passes the gate uncut.
fn room_within(limits: text::truncate::Limits) -> text::truncate::Limits {
    text::truncate::Limits {
        lines_max: limits.lines_max.saturating_sub(FRAME_LINES).max(1),
        bytes_max: limits.bytes_max.saturating_sub(FRAME_BYTES).max(1),
    }
}

const FRAME_LINES: usize = 8;
const FRAME_BYTES: usize = 4_600;

fn directory(plan: &Plan, entries: &[Entry]) -> ToolOutput {
    let path = plan.file.absolute();
    let name = |entry: &Entry| {
        let slash = if entry.is_directory { "/" } else { "" };
        text::escape::visible_line(&format!("{}{slash}", entry.name))
    };
    let names: Vec<String> = entries
        .iter()
        .skip(plan.offset - 1)
        .take(plan.limit)
        .map(name)
        .collect();
    let (total, last) = (entries.len(), plan.offset - 1 + names.len());
    let is_truncated = last < total;
    let note = if is_truncated {
        format!(
            "(Showing {} of {total} entries. Use offset={} to continue.)",
            names.len(),
            last + 1
        )
    } else {
        format!("({total} entries)")
    };
    let list = names.join("\n");
    let output = format!(
        "<path>{path}</path>\n<type>directory</type>\n<entries>\n{list}\n\n{note}\n</entries>"
    );
    let preview = first(names.iter().map(String::as_str));
    let shown = json!({
        "type": "directory", "path": path, "entries": names, "offset": plan.offset,
        "totalEntries": total, "truncated": is_truncated,
    });
    ToolOutput {
        title: plan.file.path().to_owned(),
        output,
        metadata: json!({ "preview": preview, "truncated": is_truncated, "loaded": [], "display": shown }),
        ..ToolOutput::default()
    }
}

fn first<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    lines.take(PREVIEW_LINES).collect::<Vec<_>>().join("\n")
}

fn without_number(line: &str) -> &str {
    line.split_once(": ").map_or(line, |(_, text)| text)
}

/// By content, whatever the name says.
fn picture(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("a PNG image"),
        [0xff, 0xd8, 0xff, ..] => Some("a JPEG image"),
        [b'G', b'I', b'F', b'8', ..] => Some("a GIF image"),
        [b'%', b'P', b'D', b'F', b'-', ..] => Some("a PDF document"),
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => Some("a WebP image"),
        _ => None,
    }
}
