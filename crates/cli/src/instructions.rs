//! What the model is told before anything else: the agent's prompt, the instruction files the user names,
//! and the project's `AGENTS.md`. Files are read through the gates, with nobody to ask: what the rules do
//! not plainly allow is left out, and said.

use crate::{approver::Nobody, complain, ports::NoApprovals, workbench::Workbench};
use config::{Reference, Text};
use gate::{
    Problem,
    access::ReadFile,
    authority::RootAuthority,
    call::RawCall,
    cancel::Cancel,
    g0_offer::Table,
    g1_decode::{ArgumentFault, Asks, RawArguments, Scout, Want},
    g2_admit::Grants,
    g3_confine::CallContext,
    journal::Journal,
    output::ToolOutput,
    tool::{AnyTool, Tool},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::{collections::HashMap, env, path::PathBuf};
use text::escape::visible_line;

/// The project's own instructions.
const PROJECT_FILE: &str = "AGENTS.md";

/// The whole system prompt.
pub(crate) async fn gather(
    root: &RootAuthority,
    bench: &Workbench,
    journal: &dyn Journal,
) -> String {
    let reader = Reader {
        root,
        bench,
        journal,
    };
    let mut system = reader.prompt().await;
    let named = bench.config.instructions.iter();
    let named: Vec<String> = named.filter_map(Reader::plain).collect();
    for path in named.iter().map(String::as_str).chain([PROJECT_FILE]) {
        if let Some(text) = reader.file(path, path == PROJECT_FILE).await {
            let path = visible_line(path);
            let text = text.trim_end();
            system = format!("{system}\n\nInstructions from: {path}\n{text}");
        }
    }
    system
}

struct Reader<'r> {
    root: &'r RootAuthority,
    bench: &'r Workbench,
    journal: &'r dyn Journal,
}

impl Reader<'_> {
    /// The agent's prompt, with the files it refers to put in.
    async fn prompt(&self) -> String {
        let bench = self.bench;
        let entries = bench.config.agents.iter().rev();
        let entry = entries
            .filter(|it| it.settings.name == bench.agent.name)
            .find_map(|it| it.prompt.as_ref());
        let Some(prompt) = entry else {
            return bench.agent.prompt.clone();
        };
        let mut files: HashMap<PathBuf, String> = HashMap::new();
        for reference in prompt.references() {
            if let Reference::File(path) = reference
                && let Some(text) = self.file(&path.display().to_string(), false).await
            {
                files.insert(path.clone(), text);
            }
        }
        let look_up = |reference: &Reference| match reference {
            Reference::Env(name) => env::var(name).ok(),
            Reference::File(path) => Some(files.get(path).cloned().unwrap_or_default()),
        };
        prompt
            .resolve(&look_up)
            .unwrap_or_else(|_| bench.agent.prompt.clone())
    }

    fn plain(text: &Text) -> Option<String> {
        let look_up = |reference: &Reference| match reference {
            Reference::Env(name) => env::var(name).ok(),
            Reference::File(path) => Some(path.display().to_string()),
        };
        match text.resolve(&look_up) {
            Ok(path) if path.contains(['*', '?']) => {
                complain(&format!(
                    "warning: instructions `{}`: patterns are not built yet",
                    visible_line(&path)
                ));
                None
            }
            Ok(path) => Some(path),
            Err(error) => {
                complain(&format!("warning: {error}"));
                None
            }
        }
    }

    /// The text of a file, if the rules plainly allow reading it.
    async fn file(&self, path: &str, may_be_missing: bool) -> Option<String> {
        let table = Table::lay(&[AnyTool::new(Quote)], &self.bench.rules.current()).ok()?;
        let nobody = Nobody("instructions are read without asking");
        let cancel = Cancel::default();
        let room = self.bench.room(
            self.root,
            &table,
            (&nobody, &NoApprovals),
            self.journal,
            &cancel,
        );
        let arguments = RawArguments::Json(json!({ "path": path }));
        let raw = RawCall {
            id: "instructions".into(),
            tool: "quote".into(),
            arguments,
            repeats: None,
        };
        match room.run(raw).await {
            Ok(output) => Some(output.output),
            Err(error) => {
                let is_missing = error.gate().is_none();
                if !(may_be_missing && is_missing) {
                    let path = visible_line(path);
                    complain(&format!(
                        "warning: instructions `{path}` are left out: {}",
                        visible_line(&error.to_string())
                    ));
                }
                None
            }
        }
    }
}

/// Gives back a file as it stands. On no model's table.
struct Quote;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
}

impl Tool for Quote {
    type Kinds = (ReadFile,);
    type Arguments = Arguments;
    type Plan = Want<ReadFile>;

    fn name(&self) -> &'static str {
        "quote"
    }
    fn permission(&self) -> &'static str {
        "read"
    }
    fn describe(&self) -> &'static str {
        "Gives back a file as it stands."
    }

    fn prepare(
        &self,
        arguments: Arguments,
        scout: &Scout<'_>,
        asks: &mut Asks<'_, Self::Kinds>,
    ) -> Result<Want<ReadFile>, ArgumentFault> {
        let file = scout.resolve(&arguments.path);
        let file = file.map_err(|error| ArgumentFault::at("path", error.to_string()))?;
        Ok(asks.want(ReadFile::new(file)))
    }

    async fn run<'call>(
        &self,
        read: Want<ReadFile>,
        mut grants: Grants<'call, Self::Kinds>,
        cx: CallContext<'call>,
    ) -> Result<ToolOutput, Problem> {
        let seen = cx.effects.read_file(grants.take(&read)?).await?;
        let bytes = seen
            .bytes()
            .ok_or_else(|| Problem::failed("there is no such file"))?;
        let text = str::from_utf8(bytes).map_err(|_| Problem::failed("it is not UTF-8 text"))?;
        Ok(ToolOutput {
            output: text.to_owned(),
            ..ToolOutput::default()
        })
    }
}
