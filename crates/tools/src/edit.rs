//! Replaces one piece of text in one file, byte for byte outside of it. The file is looked at only
//! with its read permit, and the write is asked about only with its diff.

use crate::{resolve, write_shown};
use gate::{
    Problem,
    access::{Handle, ReadFile, WriteFile},
    g1_decode::{ArgumentFault, Asks, Scout, Want},
    g2_admit::Grants,
    g3_confine::{CallContext, Look, Seen},
    output::ToolOutput,
    tool::Tool,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use text::{
    lines::Decoded,
    replace::{self, Replace},
};

/// The tool `edit`.
#[derive(Debug)]
pub struct Edit;

/// What the model writes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Arguments {
    /// The file: absolute, or relative to the workspace
    file_path: String,
    /// The exact text to replace; empty only to create a file
    old_string: String,
    /// The text to put there; must differ
    new_string: String,
    /// Replace every occurrence instead of demanding a single one
    replace_all: Option<bool>,
}

/// What to replace where.
#[derive(Debug)]
pub struct Plan {
    file: Handle,
    old: String,
    new: String,
    all: Replace,
    read: Want<ReadFile>,
    write: Want<WriteFile>,
}

impl Tool for Edit {
    type Kinds = (ReadFile, WriteFile);
    type Arguments = Arguments;
    type Plan = Plan;

    fn name(&self) -> &'static str {
        "edit"
    }
    fn permission(&self) -> &'static str {
        "edit"
    }
    fn describe(&self) -> &'static str {
        include_str!("edit.md")
    }

    fn prepare(
        &self,
        arguments: Arguments,
        scout: &Scout<'_>,
        asks: &mut Asks<'_, Self::Kinds>,
    ) -> Result<Plan, ArgumentFault> {
        let Arguments {
            file_path,
            old_string: old,
            new_string: new,
            replace_all,
        } = arguments;
        if old == new {
            let error = replace::ReplaceError::Identical;
            return Err(ArgumentFault::at("newString", error.to_string()));
        }
        let file = resolve(scout, "filePath", &file_path)?;
        let read = asks.want(ReadFile::new(file.clone()));
        let write = asks.want(WriteFile::new(file.clone()));
        let all = if replace_all == Some(true) {
            Replace::All
        } else {
            Replace::One
        };
        Ok(Plan {
            file,
            old,
            new,
            all,
            read,
            write,
        })
    }

    async fn preview(&self, plan: &mut Plan, look: &mut Look<'_>) -> Result<(), Problem> {
        let seen = look.read(&plan.read).await?;
        let after = replaced(plan, &seen)?;
        Ok(look.bind(&plan.write, &seen, after)?)
    }

    async fn run<'call>(
        &self,
        plan: Plan,
        mut grants: Grants<'call, Self::Kinds>,
        cx: CallContext<'call>,
    ) -> Result<ToolOutput, Problem> {
        cx.progress(plan.file.path());
        let permit = grants.take(&plan.write)?;
        let filediff = write_shown(&cx, permit).await?;
        Ok(ToolOutput {
            title: plan.file.path().to_owned(),
            output: "Edit applied successfully.".to_owned(),
            metadata: json!({
                "diff": filediff["patch"], "diagnostics": {}, "filediff": filediff,
            }),
            ..ToolOutput::default()
        })
    }
}

fn replaced(plan: &Plan, seen: &Seen<'_>) -> Result<Vec<u8>, Problem> {
    let path = plan.file.absolute();
    if seen.is_directory() {
        return Err(Problem::failed(format!(
            "Path is a directory, not a file: {path}"
        )));
    }
    let Some(bytes) = seen.bytes() else {
        if plan.old.is_empty() {
            return Ok(plan.new.clone().into_bytes());
        }
        return Err(Problem::failed(format!("File {path} not found")));
    };
    let decoded = Decoded::of(bytes);
    let not_utf8 = || {
        let why = "editing other encodings is not built yet";
        Problem::failed(format!(
            "Cannot edit {path}: it is not UTF-8 text, and {why}"
        ))
    };
    let text = decoded.text().ok_or_else(not_utf8)?;
    let replaced = replace::exact(text, &plan.old, &plan.new, plan.all)
        .map_err(|error| Problem::failed(error.to_string()))?;
    Ok([decoded.mark().as_bytes(), replaced.text.as_bytes()].concat())
}
