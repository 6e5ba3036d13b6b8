//! What can be typed. Only the form is checked here; nothing is opened.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// A coding agent's tool layer: every tool call through four gates
#[derive(Debug, Parser)]
#[command(name = "tollgate", version, about, propagate_version = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Lets a model work in a directory
    Run(RunArgs),
    /// Takes one tool call through the gates
    Call(CallArgs),
    /// Lists the tools that the rules leave on the table
    Tools(ToolsArgs),
    /// Says what the gates would say, without running anything
    Check(CheckArgs),
    /// Works on rules
    Policy(PolicyArgs),
    /// Looks into shell lines
    Shell(ShellArgs),
    /// Shows the gates at work in a small project of its own
    Tour,
    /// Lists the agents
    Agents(AgentsArgs),
    /// Lists and revokes what was approved for more than once
    Approvals(ApprovalsArgs),
    /// Shows what a repository's configuration wants to open or run, and asks whether you trust it
    Trust(TrustArgs),
    /// Lists and shows sessions
    Sessions(SessionsArgs),
    /// Shows the journal
    Log(LogArgs),
    /// Says what is enforced on this machine, and what is not
    Doctor(DoctorArgs),
    /// Runs a command of your own inside the walls that a tool's command has
    Sandbox(SandboxArgs),
    /// Connects to a machine by the proxy of the sandbox this runs in (`ssh -o ProxyCommand='tollgate
    /// proxy-connect %h %p'`)
    ProxyConnect(ProxyConnectArgs),
    /// Prints what a shell needs to complete this command line
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// What every command that judges calls needs to know.
#[derive(Clone, Debug, Args)]
pub(crate) struct Scene {
    /// The agent whose rules hold (the configuration's `default_agent`, else code)
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// The workspace (the current directory if not given)
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// A JSONC file with a `permission` map
    #[arg(long, value_name = "FILE", env = "TOLLGATE_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// The rules to start from: cautious, normal, unattended (beats the configuration's `preset`)
    #[arg(long, value_name = "NAME")]
    pub(crate) preset: Option<String>,
    /// Takes nothing of the repository's configuration for trusted, whatever you said before
    #[arg(long = "no-project-trust")]
    pub(crate) is_project_untrusted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnAsk {
    /// Ask at the terminal
    Prompt,
    /// Deny at once
    Deny,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Text,
    /// One JSON object a line
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Plays this script in place of a model
    #[arg(long, value_name = "FILE", conflicts_with = "model")]
    pub(crate) script: Option<PathBuf>,
    /// The model to use, as configured (the agent's or the configuration's `model` if not given)
    #[arg(long, value_name = "PROVIDER/MODEL")]
    pub(crate) model: Option<String>,
    /// Goes on with the last session of this workspace
    #[arg(long = "continue", conflicts_with = "session")]
    pub(crate) is_continued: bool,
    /// Goes on with this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// What to tell the model
    #[arg(value_name = "PROMPT", default_value = "Go ahead.")]
    pub(crate) prompt: String,
    /// What is printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    /// Who answers asks (prompt if there is a terminal, else deny)
    #[arg(long, value_enum)]
    pub(crate) on_ask: Option<OnAsk>,
    #[command(flatten)]
    pub(crate) scene: Scene,
}

#[derive(Debug, Args)]
pub(crate) struct CallArgs {
    /// The tool's name
    pub(crate) tool: String,
    /// Its arguments, as the model would write them
    #[arg(value_name = "JSON")]
    pub(crate) arguments: String,
    /// Who answers asks (prompt if there is a terminal, else deny)
    #[arg(long, value_enum)]
    pub(crate) on_ask: Option<OnAsk>,
    #[command(flatten)]
    pub(crate) scene: Scene,
}

#[derive(Debug, Args)]
pub(crate) struct ToolsArgs {
    /// As JSON, with schemas
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) scene: Scene,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// PERMISSION PATTERN, or with --tool the arguments as JSON
    #[arg(value_name = "WHAT", required = true, num_args = 1..=2)]
    pub(crate) what: Vec<String>,
    /// Checks a call of this tool
    #[arg(long, value_name = "TOOL")]
    pub(crate) tool: Option<String>,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) scene: Scene,
}

#[derive(Debug, Args)]
pub(crate) struct ShellArgs {
    #[command(subcommand)]
    pub(crate) command: ShellCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ShellCommand {
    /// Says what a line would run, read, write and reach, and how each part is judged
    Explain(ShellExplainArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ShellExplainArgs {
    /// The line, as one argument
    pub(crate) line: String,
    /// The shell that would read it
    #[arg(long, value_enum, default_value_t = LineShell::Bash)]
    pub(crate) shell: LineShell,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) scene: Scene,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LineShell {
    /// GNU bash, which the gates judge
    Bash,
    /// A POSIX shell
    Sh,
    /// zsh
    Zsh,
    /// PowerShell
    Powershell,
    /// cmd.exe
    Cmd,
}

#[derive(Debug, Args)]
pub(crate) struct PolicyArgs {
    #[command(subcommand)]
    pub(crate) command: PolicyCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Names past questions that the rules of now would decide otherwise
    Diff(PolicyDiffArgs),
    /// Turns the rules of another agent into rules of ours
    Import(PolicyImportArgs),
    /// Finds rules that cannot work as they were meant
    Lint(PolicyLintArgs),
    /// Names rules that would have spared questions you answered with yes
    Suggest(PolicySuggestArgs),
    /// Puts cases that you wrote to the rules, and shows those that come out otherwise
    Test(PolicyTestArgs),
}

#[derive(Debug, Args)]
pub(crate) struct PolicyDiffArgs {
    /// Only this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) scene: Scene,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PolicySource {
    /// `settings.json` of Claude Code
    Claude,
    /// A file of rules of Codex
    Codex,
    /// A policy of Gemini CLI
    Gemini,
}

#[derive(Debug, Args)]
pub(crate) struct PolicyImportArgs {
    /// Whose rules they are
    #[arg(value_enum)]
    pub(crate) source: PolicySource,
    /// The file with them
    pub(crate) file: PathBuf,
    /// Writes to this new file in place of standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct PolicyLintArgs {
    /// Configuration files to look over (all that hold here if not given)
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) scene: Scene,
}

#[derive(Debug, Args)]
pub(crate) struct PolicySuggestArgs {
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) scene: Scene,
}

#[derive(Debug, Args)]
pub(crate) struct PolicyTestArgs {
    /// Markdown with cases in blocks of `decisions`, below blocks of `rules` or for those that hold here
    #[arg(value_name = "FILE.md", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) scene: Scene,
}

#[derive(Debug, Args)]
pub(crate) struct AgentsArgs {
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) scene: Scene,
}

#[derive(Debug, Args)]
pub(crate) struct ApprovalsArgs {
    #[command(subcommand)]
    pub(crate) command: ApprovalsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalsCommand {
    /// Lists all, with who gave them and where
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Takes approvals back
    Revoke {
        /// Their ids
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    /// A directory of the repository (the current directory if not given)
    #[arg(value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Lists what is trusted, of all repositories
    #[arg(long, conflicts_with = "revoke")]
    pub(crate) list: bool,
    /// Takes trust back: in files or folders, in keys of this repository, or without any in all of it
    #[arg(long, value_name = "PATH|KEY", num_args = 0..)]
    pub(crate) revoke: Option<Vec<String>>,
    /// As JSON, and without asking
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SessionsArgs {
    #[command(subcommand)]
    pub(crate) command: SessionsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// Lists all, the newest first
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Shows what was said in one
    Show {
        /// Its id
        id: String,
        /// One JSON message a line
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// Only this call, by its id in the model's message or its number
    #[arg(long, value_name = "ID")]
    pub(crate) call: Option<String>,
    /// Only this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// One JSON record a line
    #[arg(long)]
    pub(crate) json: bool,
    /// Holds every record against the chain of digests, and shows the last digest
    #[arg(long, conflicts_with_all = ["call", "session"])]
    pub(crate) verify: bool,
    /// With --verify: a last digest that was written down before, and has to be in the chain
    #[arg(long, value_name = "DIGEST", requires = "verify")]
    pub(crate) head: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) scene: Scene,
}

#[derive(Debug, Args)]
pub(crate) struct ProxyConnectArgs {
    /// The machine
    #[arg(value_name = "HOST")]
    pub(crate) host: String,
    /// The port
    #[arg(value_name = "PORT")]
    pub(crate) port: u16,
}

#[derive(Debug, Args)]
pub(crate) struct SandboxArgs {
    #[command(flatten)]
    pub(crate) scene: Scene,
    /// Opens what a kind of work needs: cargo, git, go, maven, npm, python, ssh (may be given again)
    #[arg(long = "bundle", value_name = "NAME")]
    pub(crate) bundles: Vec<String>,
    /// Lets it reach a machine, `NAME` or `NAME:PORT` (443 if not said), by a proxy (may be given again)
    #[arg(long = "allow-host", value_name = "HOST")]
    pub(crate) hosts: Vec<String>,
    /// Lets it write to a directory outside the workspace (may be given again)
    #[arg(long = "rw", value_name = "DIR")]
    pub(crate) writable: Vec<PathBuf>,
    /// Lets it read a directory or file outside the workspace (may be given again)
    #[arg(long = "ro", value_name = "DIR")]
    pub(crate) readable: Vec<PathBuf>,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "CMD")]
    pub(crate) command: Vec<std::ffi::OsString>,
}
