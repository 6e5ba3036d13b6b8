//! Writes one file whole. What stood there is read first, with its permit, so that the ask shows
//! the difference and the write refuses if the file has changed since.

use crate::{resolve, write_shown};
use gate::{
    Problem,
    access::{Handle, ReadFile, WriteFile},
    g1_decode::{ArgumentFault, Asks, Scout, Want},
    g2_admit::Grants,
    g3_confine::{CallContext, Look},
    output::ToolOutput,
    tool::Tool,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use text::lines::Decoded;

/// The tool `write`.
#[derive(Debug)]
pub struct Write;

/// What the model writes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Arguments {
    /// The whole content of the file
    content: String,
    /// The file: absolute, or relative to the workspace
    file_path: String,
}

/// What to write where.
#[derive(Debug)]
pub struct Plan {
    file: Handle,
    content: String,
    has_existed: bool,
    read: Want<ReadFile>,
    write: Want<WriteFile>,
}

impl Tool for Write {
    type Kinds = (ReadFile, WriteFile);
    type Arguments = Arguments;
    type Plan = Plan;

    fn name(&self) -> &'static str {
        "write"
    }
    fn permission(&self) -> &'static str {
        "edit"
    }
    fn describe(&self) -> &'static str {
        include_str!("write.md")
    }

    fn prepare(
        &self,
        arguments: Arguments,
        scout: &Scout<'_>,
        asks: &mut Asks<'_, Self::Kinds>,
    ) -> Result<Plan, ArgumentFault> {
        let file = resolve(scout, "filePath", &arguments.file_path)?;
        let read = asks.want(ReadFile::new(file.clone()));
        let write = asks.want(WriteFile::new(file.clone()));
        Ok(Plan {
            file,
            content: arguments.content,
            has_existed: false,
            read,
            write,
        })
    }

    async fn preview(&self, plan: &mut Plan, look: &mut Look<'_>) -> Result<(), Problem> {
        let seen = look.read(&plan.read).await?;
        if seen.is_directory() {
            let path = plan.file.absolute();
            return Err(Problem::failed(format!(
                "Path is a directory, not a file: {path}"
            )));
        }
        let before = seen.bytes();
        plan.has_existed = before.is_some();
        // A byte order mark belongs to the file, not to the text that the model was shown.
        let mark = before.map_or("", |bytes| Decoded::of(bytes).mark());
        let content = plan.content.strip_prefix(mark).unwrap_or(&plan.content);
        let after = [mark.as_bytes(), content.as_bytes()].concat();
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
            output: "Wrote file successfully.".to_owned(),
            metadata: json!({
                "diagnostics": {}, "filepath": plan.file.absolute(), "exists": plan.has_existed,
                "diff": filediff["patch"], "filediff": filediff,
            }),
            ..ToolOutput::default()
        })
    }
}
