//! A program that embeds Tollgate: a tool of its own that counts the words of a file, an approver of its
//! own that allows edits below `notes/` and nothing else, and a scripted model that uses both.
//!
//! `cargo run -p tollgate --example embed`

use std::{error::Error, ffi::OsString, fs, sync::Arc};
use tollgate::{
    agent::{self, Preset, Tier},
    gate::{
        BoxFuture, Problem,
        access::{Handle, ReadFile},
        authority::root_authority,
        cancel::Cancel,
        g1_decode::{ArgumentFault, Asks, Scout, Want},
        g2_admit::{Approver, Grants, Question, Reply},
        g3_confine::{CallContext, ChildWrites, Profile, Silent},
        host::Clock,
        output::{Limits, ToolOutput},
        tool::{AnyTool, Tool},
    },
    host::{LocalHost, Openings, Options, OutputLimits},
    model::ScriptedModel,
    policy::RuleBook,
    sandbox::{self, Launcher},
    session::{Furniture, Session, Unheard, Untold},
    store::Store,
    tools,
};

/// Counts the words of a file.
struct WordCount;

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    /// The file
    file_path: String,
}

struct Plan {
    file: Handle,
    read: Want<ReadFile>,
}

impl Tool for WordCount {
    type Kinds = (ReadFile,);
    type Arguments = Arguments;
    type Plan = Plan;

    fn name(&self) -> &'static str {
        "word_count"
    }
    fn permission(&self) -> &'static str {
        "read"
    }
    fn describe(&self) -> &'static str {
        "Counts the words of a file."
    }

    fn prepare(
        &self,
        arguments: Arguments,
        scout: &Scout<'_>,
        asks: &mut Asks<'_, Self::Kinds>,
    ) -> Result<Plan, ArgumentFault> {
        let resolved = scout.resolve(&arguments.file_path);
        let file = resolved.map_err(|error| ArgumentFault::at("filePath", error.to_string()))?;
        let read = asks.want(ReadFile::new(file.clone()));
        Ok(Plan { file, read })
    }

    async fn run<'call>(
        &self,
        plan: Plan,
        mut grants: Grants<'call, Self::Kinds>,
        cx: CallContext<'call>,
    ) -> Result<ToolOutput, Problem> {
        // Without the permit there is no way to the file, and the permit is spent here.
        let seen = cx.effects.read_file(grants.take(&plan.read)?).await?;
        let bytes = seen
            .bytes()
            .ok_or_else(|| Problem::failed("no such file"))?;
        let count = String::from_utf8_lossy(bytes).split_whitespace().count();
        let output = format!("{}: {count} words", plan.file.path());
        Ok(ToolOutput {
            title: output.clone(),
            output,
            ..ToolOutput::default()
        })
    }
}

/// Allows edits below `notes/`.
struct NotesOnly;

impl Approver for NotesOnly {
    fn ask<'a>(&'a self, question: Question<'a>) -> BoxFuture<'a, Reply> {
        let is_note = |it: &tollgate::policy::Subject| {
            it.permission == "edit" && it.canonical.starts_with("notes/")
        };
        let is_allowed = question.subjects.iter().all(is_note);
        Box::pin(async move {
            let who = "the embedding program".to_owned();
            if is_allowed {
                Reply::Once { who }
            } else {
                Reply::Reject {
                    who,
                    word: Some("write below notes/ only".to_owned()),
                }
            }
        })
    }
}

struct SystemClock;

impl Clock for SystemClock {
    fn now_ms(&self) -> u64 {
        let since = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
}

const SCRIPT: &str = r#"{"turns": [
    {"calls": [
        {"tool": "write", "args": {"filePath": "notes/today.md", "content": "three short words\n"}},
        {"tool": "word_count", "args": {"filePath": "notes/today.md"}},
        {"tool": "write", "args": {"filePath": "main.rs", "content": "fn main() {}\n"}},
        {"tool": "bash", "args": {"command": "rm -rf notes"}}
    ]},
    {"text": "That is all."}
]}"#;

fn main() -> Result<(), Box<dyn Error>> {
    sandbox::run_if_helper();
    #[expect(
        clippy::disallowed_methods,
        reason = "this program opens rooms for calls"
    )]
    let root = root_authority();

    let folder = tempfile::tempdir()?;
    let (workspace, state) = (folder.path().join("work"), folder.path().join("state"));
    fs::create_dir(&workspace)?;
    fs::create_dir(&state)?;
    let limits = Limits::default();
    let host = LocalHost::open(Options {
        workspace,
        state_dir: state.clone(),
        session_dir: state.join("output"),
        temp_dir: folder.path().join("tmp"),
        home: None,
        path: Some(OsString::from("/usr/bin:/bin")),
        environment: Vec::new(),
        openings: Openings::default(),
        limits: OutputLimits {
            lines_max: limits.lines_max as u64,
            bytes_max: limits.bytes_max,
        },
        launcher: Launcher::open()?,
        hook: None,
    })?;
    let store = Store::open(&state.join("tollgate.db"), Arc::new(SystemClock))?;
    let code = agent::agent("code").ok_or("no agent `code`")?;
    let rules = RuleBook::new(agent::layers(
        &code,
        Preset::Normal,
        Tier::Partial,
        Vec::new(),
        None,
    ));
    let mut all = tools::builtins();
    all.push(AnyTool::new(WordCount));
    let model = ScriptedModel::from_json(SCRIPT)?;

    let cancel = Cancel::default();
    let mut session = Session::new(Furniture {
        root: &root,
        model: &model,
        tools: &all,
        rules: &rules,
        approver: &NotesOnly,
        approvals: &NothingKept,
        profile: &Profile {
            child_writes: ChildWrites::Workspace,
        },
        host: &host,
        journal: &store,
        transcript: &Untold,
        clock: &SystemClock,
        progress: &Silent,
        events: &Unheard,
        cancel: &cancel,
        limits,
        agent: &code.name,
        system: &code.prompt,
        id: "ses_example",
    });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let ended = runtime.block_on(session.run("Take a note."))?;

    for message in session.messages() {
        if let tollgate::model::Message::Result { tool, output, .. } = message {
            say(&format!("{tool}: {output}"));
        }
    }
    say(&format!("{} calls were refused", ended.refused.len()));
    Ok(())
}

/// This program's approver never says "always".
struct NothingKept;

impl tollgate::gate::g2_admit::Approvals for NothingKept {
    fn keep(
        &self,
        _: tollgate::gate::g2_admit::Scope,
        _: &[tollgate::policy::Rule],
        _: &tollgate::gate::call::Ids,
        _: &str,
    ) -> Result<(), String> {
        Err("nothing is kept here".to_owned())
    }
}

#[expect(clippy::print_stdout, reason = "an example is there to show something")]
fn say(line: &str) {
    println!("{line}");
}
