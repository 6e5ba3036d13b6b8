//! Every key of a configuration: what it holds, what it is for, what holds without it.
//!
//! Reading, the schema for editors and the manual all come from here. Must not read a value.

/// One key.
#[derive(Debug)]
pub(crate) struct Key {
    /// The keys from the root, with dots between; `*` is a name that the user gives.
    pub(crate) path: &'static str,
    /// What it holds.
    pub(crate) kind: Kind,
    /// What holds without it, in a few words; empty if nothing does.
    pub(crate) default: &'static str,
    /// A value it may have, as JSON.
    pub(crate) example: &'static str,
    /// What it is for, in a sentence or two.
    pub(crate) about: &'static str,
}

/// What a key holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A string; it may refer to the environment or to a file.
    Text,
    /// A string of the form `NAME/MODEL`.
    ModelName,
    /// One of these words.
    Word(&'static [&'static str]),
    /// True or false.
    Flag,
    /// A whole number from 1.
    Count,
    /// A whole number from 1, or false.
    CountOrNever,
    /// A number from 0 to 2.
    Temperature,
    /// A list of strings.
    Texts,
    /// Names with a string each.
    NamedTexts,
    /// Names with true or false each.
    Switches,
    /// Rules.
    Permission,
    /// A list of rules.
    PermissionList,
    /// An object with the keys below it.
    Object,
    /// Names with an object each, which has the keys below `*`.
    Named,
    /// The same as another key.
    As(&'static str),
}

const PRESETS: Kind = Kind::Word(&["cautious", "normal", "unattended"]);
const MODES: Kind = Kind::Word(&["primary", "subagent", "all"]);
const REACH: Kind = Kind::Word(&["allow", "deny"]);

const fn key(
    path: &'static str,
    kind: Kind,
    default: &'static str,
    example: &'static str,
    about: &'static str,
) -> Key {
    Key {
        path,
        kind,
        default,
        example,
        about,
    }
}

/// All keys, in the order of the manual.
pub(crate) const KEYS: [Key; 49] = [
    key(
        "$schema",
        Kind::Text,
        "",
        r#""https://example.org/tollgate.schema.json""#,
        "For editors: where the schema of this file is.",
    ),
    key(
        "preset",
        PRESETS,
        "`normal`",
        r#""cautious""#,
        "What holds before any rule of yours: `cautious`, `normal`, or `unattended`, which is `normal` with every ask a denial.",
    ),
    key(
        "permission",
        Kind::Permission,
        "the preset's",
        r#"{"edit": "ask"}"#,
        "Your rules: a permission with an action, or with patterns that have an action each. The last one that matches counts.",
    ),
    key(
        "tools",
        Kind::Switches,
        "",
        r#"{"webfetch": false}"#,
        "The older form of `permission`: true is `allow`, false is `deny`. These rules stand in front of those of `permission`.",
    ),
    key(
        "permissions",
        Kind::PermissionList,
        "",
        r#"[{"action": "edit", "resource": "src/*", "effect": "ask"}]"#,
        "The same as `permission` as a list, with the names of opencode's second form (`shell` is `bash`, `subagent` is `task`). These rules stand behind those of `permission`.",
    ),
    key(
        "require_approval_for_config_edits",
        Kind::Flag,
        "true",
        "true",
        "Whether edits of agents' configuration ask, whatever the rules say. In a file of a repository it counts for nothing.",
    ),
    key(
        "default_agent",
        Kind::Text,
        "`code`",
        r#""plan""#,
        "The agent that acts when none is named. It must be one that a person may start, and not hidden.",
    ),
    key(
        "agent",
        Kind::Named,
        "`code`, `plan`, `ask`, `debug`, `orchestrator`, `general`, `explore`, `scout`; for Tollgate itself `compaction`, `title`, `summary`",
        r#"{"plan": {"temperature": 0.1}}"#,
        "Agents by name: changes to a built-in one (`build` is `code`), or a new one. `architect` is read-only and writes the Markdown that its rules open. No rule opens those that work for Tollgate itself.",
    ),
    key(
        "agent.*.description",
        Kind::Text,
        "",
        r#""reviews a change""#,
        "What the agent is for, in one line.",
    ),
    key(
        "agent.*.mode",
        MODES,
        "`all` for a new agent",
        r#""subagent""#,
        "Who may start it: a person (`primary`), other agents (`subagent`), or both (`all`).",
    ),
    key(
        "agent.*.hidden",
        Kind::Flag,
        "false",
        "true",
        "Leaves it out of lists; it can still be named.",
    ),
    key(
        "agent.*.disable",
        Kind::Flag,
        "false",
        "true",
        "Takes the agent away, a built-in one too.",
    ),
    key(
        "agent.*.readonly",
        Kind::Flag,
        "true for `plan`, `ask`, `explore`, `scout` and `architect`",
        "true",
        "The agent edits nothing and stays in the sandbox whatever other rules say, what it runs gets no place to write, and what it starts is read-only too. Only rules that name a command open commands to it. A built-in read-only agent stays read-only; `plan` writes Markdown directly in `.opencode/plans`, `.kilo/plans`, `.plans` and `plans`.",
    ),
    key(
        "agent.*.prompt",
        Kind::Text,
        "the built-in agent's",
        r#""{file:prompts/review.md}""#,
        "The system prompt.",
    ),
    key(
        "agent.*.model",
        Kind::ModelName,
        "`model`",
        r#""local/qwen3-coder""#,
        "The model it uses.",
    ),
    key(
        "agent.*.temperature",
        Kind::Temperature,
        "the provider's",
        "0.2",
        "How freely the model picks its words, from 0 to 2.",
    ),
    key(
        "agent.*.steps",
        Kind::Count,
        "no limit",
        "40",
        "The most requests to the model in one turn.",
    ),
    key(
        "agent.*.maxSteps",
        Kind::Count,
        "",
        "40",
        "The older name of `steps`.",
    ),
    key(
        "agent.*.permission",
        Kind::Permission,
        "",
        r#"{"edit": {"*.md": "allow"}}"#,
        "Rules for this agent only. They stand behind all others of the user.",
    ),
    key(
        "agent.*.tools",
        Kind::Switches,
        "",
        r#"{"webfetch": false}"#,
        "The older form of `permission`; these rules stand in front of it.",
    ),
    key(
        "agent.*.permissions",
        Kind::PermissionList,
        "",
        r#"[{"action": "edit", "resource": "*.md", "effect": "allow"}]"#,
        "The same as a list; these rules stand behind it.",
    ),
    key(
        "agent.*.delegate",
        Kind::Texts,
        "what its rules about `task` say",
        r#"["explore", "review-*"]"#,
        "The agents it may start, by name or wildcard, and no others. They stand behind its rules, and each has rules of its own.",
    ),
    key(
        "agent.*.system",
        Kind::Text,
        "",
        r#""You review changes.""#,
        "Another name of `prompt`.",
    ),
    key(
        "agent.*.disabled",
        Kind::Flag,
        "",
        "true",
        "Another name of `disable`.",
    ),
    key(
        "agents",
        Kind::As("agent"),
        "",
        r#"{"review": {"permissions": [{"action": "edit", "resource": "*", "effect": "deny"}]}}"#,
        "Another name of `agent`.",
    ),
    key(
        "mode",
        Kind::As("agent"),
        "",
        r#"{"review": {"temperature": 0.1}}"#,
        "The older form of `agent`, for agents that a person starts.",
    ),
    key(
        "model",
        Kind::ModelName,
        "",
        r#""local/qwen3-coder""#,
        "The model to use, as `NAME/MODEL`: a name of `provider` and one of its models.",
    ),
    key(
        "provider",
        Kind::Named,
        "",
        r#"{"local": {"options": {"baseURL": "http://127.0.0.1:11434/v1"}}}"#,
        "Providers of language models by name: any service that speaks the OpenAI chat completions protocol.",
    ),
    key(
        "provider.*.options",
        Kind::Object,
        "",
        r#"{"baseURL": "http://127.0.0.1:11434/v1"}"#,
        "How to reach it.",
    ),
    key(
        "provider.*.options.baseURL",
        Kind::Text,
        "",
        r#""https://api.example.org/v1""#,
        "The address in front of `/chat/completions`.",
    ),
    key(
        "provider.*.options.apiKey",
        Kind::Text,
        "",
        r#""{env:EXAMPLE_API_KEY}""#,
        "The key it knows you by. It is never logged, and no command inherits it.",
    ),
    key(
        "provider.*.options.headers",
        Kind::NamedTexts,
        "",
        r#"{"x-team": "{env:TEAM}"}"#,
        "Further headers of every request.",
    ),
    key(
        "provider.*.options.timeout",
        Kind::CountOrNever,
        "",
        "300000",
        "Milliseconds that one request may take; false for no limit.",
    ),
    key(
        "provider.*.models",
        Kind::Named,
        "",
        r#"{"qwen3-coder": {"limit": {"context": 131072, "output": 8192}}}"#,
        "Its models by name, as far as there is something to say about them.",
    ),
    key(
        "provider.*.models.*.id",
        Kind::Text,
        "the name",
        r#""qwen3-coder:30b""#,
        "The name the provider knows the model by.",
    ),
    key(
        "provider.*.models.*.limit",
        Kind::Object,
        "",
        r#"{"context": 131072, "output": 8192}"#,
        "How much the model takes.",
    ),
    key(
        "provider.*.models.*.limit.context",
        Kind::Count,
        "",
        "131072",
        "The most tokens of request and answer together.",
    ),
    key(
        "provider.*.models.*.limit.output",
        Kind::Count,
        "",
        "8192",
        "The most tokens of an answer.",
    ),
    key(
        "instructions",
        Kind::Texts,
        "",
        r#"["docs/style.md"]"#,
        "Files whose text is put before the model. Those of all your files are read, each once.",
    ),
    key(
        "sandbox",
        Kind::Object,
        "",
        r#"{"network": "deny"}"#,
        "The walls around what a tool runs. They stand without a word here; these keys say what lies inside. Of a file of a repository that nobody trusts only `\"network\": \"deny\"` counts. What is changed while a session lasts only tightens it.",
    ),
    key(
        "sandbox.enabled",
        Kind::Flag,
        "true",
        "true",
        "There are walls wherever the machine can hold them. `false` is read, has no effect, and is told.",
    ),
    key(
        "sandbox.network",
        REACH,
        "the rules for `network`: a new machine asks",
        r#""deny""#,
        "`deny`: a command reaches the machines of `allowed_hosts` and no others, and nobody is asked. `allow`: any, but for those that rules deny.",
    ),
    key(
        "sandbox.writable_paths",
        Kind::Texts,
        "",
        r#"["~/.cache/build"]"#,
        "Folders outside the workspace that a command may read and write, absolute or below `~`, but for what the rules close in them. They open the walls alone: a tool's own write there, and a path that a command names, is judged by the rules as anywhere. What is Tollgate's own, the home itself and whatever lies around them or the workspace is refused.",
    ),
    key(
        "sandbox.allowed_hosts",
        Kind::Texts,
        "",
        r#"["index.crates.io", "api.example.com:8443"]"#,
        "Machines that a command may reach unasked: exact names, with a port if it is not 443. Rules for `network` take wildcards.",
    ),
    key(
        "sandbox.bundles",
        Kind::Texts,
        "",
        r#"["cargo", "git"]"#,
        "Named openings for kinds of work, as `tollgate sandbox --bundle` has them: `cargo`, `git` (an agent signs), `go`, `maven`, `npm` (also pnpm and Yarn), `python` (pip and uv), `ssh`. Caches can be written, machines are reached as those of `allowed_hosts`, agents by their sockets. In a file of a repository it counts for nothing.",
    ),
    key(
        "sandbox.git_hooks",
        Kind::Flag,
        "false",
        "true",
        "Whether git in commands runs the hooks that a repository has. They run inside the walls of the command, unasked, and never where there are no walls or a command only looks. In a file of a repository it counts for nothing.",
    ),
    key(
        "tool_output",
        Kind::Object,
        "",
        r#"{"max_lines": 2000, "max_bytes": 51200}"#,
        "How much of a tool's output the model sees; the rest is kept in a file.",
    ),
    key(
        "tool_output.max_lines",
        Kind::Count,
        "2000",
        "2000",
        "The most lines.",
    ),
    key(
        "tool_output.max_bytes",
        Kind::Count,
        "51200",
        "51200",
        "The most bytes.",
    ),
];

/// Keys of the compatible systems that are known and have no effect here, by the path they stand in.
pub(crate) const UNUSED: [(&str, &[&str]); 5] = [
    (
        "",
        &[
            "agent_manager",
            "attachment",
            "autoshare",
            "autoupdate",
            "command",
            "commit_message",
            "compaction",
            "disabled_providers",
            "enabled_providers",
            "enterprise",
            "experimental",
            "formatter",
            "indexing",
            "keybinds",
            "layout",
            "logLevel",
            "lsp",
            "mcp",
            "plugin",
            "reference",
            "references",
            "server",
            "share",
            "shell",
            "skills",
            "small_model",
            "snapshot",
            "subagent_depth",
            "subagent_model",
            "theme",
            "tui",
            "username",
            "watcher",
            "web_search",
        ],
    ),
    (
        "agent.*",
        &[
            "color",
            "deprecated",
            "displayName",
            "name",
            "native",
            "options",
            "requirements",
            "source",
            "topP",
            "top_p",
            "variant",
        ],
    ),
    (
        "provider.*",
        &["api", "blacklist", "env", "id", "name", "npm", "whitelist"],
    ),
    (
        "provider.*.options",
        &[
            "chunkTimeout",
            "enterpriseUrl",
            "includeUsage",
            "name",
            "organization",
            "project",
            "region",
            "setCacheKey",
        ],
    ),
    (
        "provider.*.models.*",
        &[
            "attachment",
            "cost",
            "experimental",
            "family",
            "headers",
            "interleaved",
            "modalities",
            "name",
            "options",
            "provider",
            "reasoning",
            "release_date",
            "status",
            "temperature",
            "tool_call",
            "variants",
        ],
    ),
];

/// The keys right below a path; the root is the empty path.
pub(crate) fn below(path: &str) -> impl Iterator<Item = (&'static str, &'static Key)> {
    KEYS.iter().filter_map(move |key| {
        let name = match path {
            "" => key.path,
            path => key.path.strip_prefix(path)?.strip_prefix('.')?,
        };
        (!name.contains('.')).then_some((name, key))
    })
}

/// Whether the compatible systems have a key of this name here.
pub(crate) fn is_unused(path: &str, name: &str) -> bool {
    let here = UNUSED.iter().find(|(place, _)| *place == path);
    here.is_some_and(|(_, names)| names.contains(&name))
}

/// What would be lost if this key were mistyped and so had no effect, where that must not happen.
pub(crate) fn loss(name: &str) -> Option<&'static str> {
    match name {
        "permission" | "permissions" | "tools" => Some("the rules below it would not hold"),
        "readonly" => Some("the agent would not be read-only"),
        "sandbox" => Some("the walls below it would not stand"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_is_written_twice_and_every_key_stands_below_one_that_has_keys() {
        for (index, key) in KEYS.iter().enumerate() {
            let twice = KEYS.iter().skip(index + 1).any(|it| it.path == key.path);
            assert!(!twice, "{}", key.path);
            let Some((parent, _)) = key.path.rsplit_once('.') else {
                continue;
            };
            let (parent, kind) = match parent.strip_suffix(".*") {
                Some(parent) => (parent, Kind::Named),
                None => (parent, Kind::Object),
            };
            let is_there = KEYS.iter().any(|it| it.path == parent && it.kind == kind);
            assert!(is_there, "{}", key.path);
        }
    }

    #[test]
    fn no_key_is_both_read_and_unused_and_unused_ones_are_sorted() {
        for (path, names) in UNUSED {
            assert!(names.is_sorted(), "{path}");
            for (name, _) in below(path) {
                assert!(!names.contains(&name), "{path} {name}");
            }
            assert!(below(path).count() > 0, "{path}");
        }
    }

    #[test]
    fn every_key_says_what_it_is_for() {
        for key in &KEYS {
            assert!(key.about.ends_with('.'), "{}", key.path);
            assert!(!key.example.is_empty(), "{}", key.path);
        }
    }
}
