//! Runs one command line and gives back the end of its output. Nothing to look at first, so no
//! preview.

use crate::{
    resolve, undone,
    wall::{self, Ground},
};
use gate::{
    Problem,
    access::{Spawn, TIMEOUT_MS_DEFAULT},
    g1_decode::{ArgumentFault, Asks, NotFailed, Scout, Want},
    g2_admit::Grants,
    g3_confine::{CallContext, Confinement},
    host::{Ended, Exit},
    output::ToolOutput,
    tool::Tool,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use text::truncate::{Keep, Limits, truncate};

/// The tool `bash`.
#[derive(Debug)]
pub struct Bash;

/// What the model writes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// The command line
    command: String,
    /// How long it may take, in milliseconds (120000 if not given)
    #[schemars(range(min = 1, max = 86_400_000))]
    timeout: Option<u64>,
    /// The directory to run it in (the workspace if not given)
    workdir: Option<String>,
    /// What it does, in five to ten words
    description: Option<String>,
    /// Why this very command, which has just failed inside the sandbox, has to run outside of it once
    #[schemars(length(min = 1, max = 500))]
    outside_sandbox: Option<String>,
}

/// Whether it is to run outside the sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leaving {
    No,
    /// It was asked for, and there is none.
    Nothing,
    Yes,
}

/// What to run, and its title.
#[derive(Debug)]
pub struct Plan {
    title: String,
    description: Option<String>,
    timeout_ms: u64,
    ground: Ground,
    leaving: Leaving,
    spawn: Want<Spawn>,
}

impl Tool for Bash {
    type Kinds = (Spawn,);
    type Arguments = Arguments;
    type Plan = Plan;

    fn name(&self) -> &'static str {
        "bash"
    }
    fn permission(&self) -> &'static str {
        "bash"
    }
    fn describe(&self) -> &'static str {
        include_str!("bash.md")
    }

    fn prepare(
        &self,
        arguments: Arguments,
        scout: &Scout<'_>,
        asks: &mut Asks<'_, Self::Kinds>,
    ) -> Result<Plan, ArgumentFault> {
        let Arguments {
            command,
            timeout,
            workdir,
            description,
            outside_sandbox,
        } = arguments;
        if command.trim().is_empty() {
            return Err(ArgumentFault::at("command", "may not be empty"));
        }
        if command.contains('\0') {
            return Err(ArgumentFault::at(
                "command",
                "may not contain a NUL character",
            ));
        }
        let timeout_ms = timeout.unwrap_or(TIMEOUT_MS_DEFAULT);
        let title = description.clone().unwrap_or_else(|| command.clone());
        let mut spawn = Spawn::new(command.clone()).for_at_most(timeout_ms);
        let workspace = resolve(scout, "workdir", ".")?.absolute().to_owned();
        let mut directory = workspace.clone();
        if let Some(workdir) = workdir {
            let workdir = resolve(scout, "workdir", &workdir)?;
            workdir.absolute().clone_into(&mut directory);
            spawn = spawn.in_directory(workdir);
        }
        if let Some(description) = &description {
            spawn = spawn.described_as(description);
        }
        let mut leaving = Leaving::No;
        if let Some(reason) = outside_sandbox {
            let fault = |why: NotFailed| ArgumentFault::at("outside_sandbox", why.to_string());
            spawn = scout.outside_sandbox(spawn, reason).map_err(fault)?;
            leaving = if spawn.is_outside_sandbox() {
                Leaving::Yes
            } else {
                Leaving::Nothing
            };
        }
        Ok(Plan {
            title,
            description,
            timeout_ms,
            leaving,
            ground: Ground {
                workspace,
                directory,
                command,
            },
            spawn: asks.want(spawn),
        })
    }

    async fn run<'call>(
        &self,
        plan: Plan,
        mut grants: Grants<'call, Self::Kinds>,
        cx: CallContext<'call>,
    ) -> Result<ToolOutput, Problem> {
        cx.progress(&plan.title);
        let ended = cx.effects.spawn(grants.take(&plan.spawn)?).await?;
        let notes = notes(&plan, &ended, &cx.confinement());
        let output = shown(&ended, &notes, cx.limits());
        let exit = match ended.exit {
            Exit::Code(code) => Some(code),
            Exit::Signal(_) | Exit::TimedOut => None,
        };
        let metadata = json!({
            "output": output, "exit": exit, "description": plan.description,
            "truncated": ended.kept_at.is_some(), "outputPath": ended.kept_at,
        });
        Ok(ToolOutput {
            title: plan.title,
            output,
            metadata,
            kept_at: ended.kept_at,
        })
    }
}

/// The end of the output and the notes, together within the limits.
fn shown(ended: &Ended, notes: &str, limits: Limits) -> String {
    let tail = String::from_utf8_lossy(&ended.tail);
    let head = match &ended.kept_at {
        Some(path) => format!("...output truncated...\n\nFull output saved to: {path}\n\n"),
        None => String::new(),
    };
    let frame = format!("{head}{notes}");
    let room = Limits {
        lines_max: limits
            .lines_max
            .saturating_sub(frame.lines().count())
            .max(1),
        bytes_max: limits.bytes_max.saturating_sub(frame.len()).max(1),
    };
    let body = if ended.kept_at.is_some() {
        truncate(&tail, room, Keep::Tail).text
    } else {
        tail.into()
    };
    let body = if body.is_empty() {
        "(no output)"
    } else {
        &body
    };
    format!("{head}{body}{notes}")
}

/// What the model must know beside the output.
fn notes(plan: &Plan, ended: &Ended, confinement: &Confinement) -> String {
    let tail = String::from_utf8_lossy(&ended.tail);
    let left = wall::left_by_git(&tail, &plan.ground.command);
    let left_it = match plan.leaving {
        Leaving::No => "",
        Leaving::Nothing => {
            "\nthere is no sandbox here to leave: `outside_sandbox` changed nothing"
        }
        Leaving::Yes => "\nran outside the sandbox, this once",
    };
    let undone = undone::said(&ended.undone);
    let is_quiet = [&left, left_it, &undone].iter().all(|it| it.is_empty());
    let end = match ended.exit {
        Exit::Code(0) if ended.refused.is_empty() && is_quiet => return String::new(),
        Exit::Code(code) => format!("exit code {code}"),
        Exit::Signal(signal) => format!("ended by signal {signal}"),
        Exit::TimedOut => format!(
            "shell tool terminated command after exceeding timeout {} ms. If it is expected to take \
             longer, retry with a larger timeout value in milliseconds.",
            plan.timeout_ms
        ),
    };
    let walls = match confinement {
        _ if plan.leaving == Leaving::Yes => String::new(),
        Confinement::Full | Confinement::Partial { .. }
            if ended.exit != Exit::Code(0) || !left.is_empty() =>
        {
            let code = match ended.exit {
                Exit::Code(code) => Some(code),
                Exit::Signal(_) | Exit::TimedOut => None,
            };
            wall::hint(&tail, code, &plan.ground)
        }
        Confinement::Full | Confinement::Partial { .. } | Confinement::NotEnforced { .. } => {
            String::new()
        }
    };
    let machines = wall::refused(&ended.refused);
    format!(
        "\n\n<shell_metadata>\n{end}{left_it}{left}{walls}{machines}{undone}\n</shell_metadata>"
    )
}
