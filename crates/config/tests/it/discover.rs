//! Which files are found, in which order they stand, and what is taken from a repository.
//! Must not look at a configuration of the person who runs the tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use policy::{Action, Layer, RuleBook, RuleLayers, Subject, decide};
use tempfile::TempDir;
use tollgate_config::{ConfigError, Level, Loaded, Sources, Variables, discover, render};

/// A home with a configuration folder, and a repository with a workspace in it.
pub(crate) struct World {
    folder: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let world = Self { folder };
        fs::create_dir_all(world.path("repo/.git")).unwrap();
        fs::create_dir_all(world.path("repo/sub/work")).unwrap();
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.folder.path()).unwrap().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> &Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    pub(crate) fn sources(&self) -> Sources {
        Sources {
            user_dir: Some(self.path("home/.config")),
            workspace: self.path("repo/sub/work"),
            home: Some("/home/u".to_owned()),
            ..Sources::default()
        }
    }

    fn load(&self) -> Loaded {
        discover(&self.sources()).unwrap()
    }

    /// The error without the name of the temporary folder.
    fn error(&self) -> String {
        self.shown(&discover(&self.sources()).unwrap_err())
    }

    pub(crate) fn shown(&self, error: &ConfigError) -> String {
        let text = match error {
            // Drawn, its lines would break where the name of the folder makes them.
            ConfigError::Unreadable { help, .. } => format!("{error}\nhelp: {help}"),
            error => render(error),
        };
        text.replace(self.path("").to_str().unwrap(), "/")
    }

    /// What was found, without the name of the temporary folder.
    fn found(&self, loaded: &Loaded) -> Vec<(String, Level)> {
        let prefix = self.path("");
        let name = |name: &str| name.replace(prefix.to_str().unwrap(), "");
        loaded
            .found
            .iter()
            .map(|it| (name(&it.name), it.level))
            .collect()
    }
}

pub(crate) fn patterns(rules: &[policy::Rule]) -> Vec<&str> {
    rules.iter().map(|rule| rule.pattern.text()).collect()
}

/// An environment with this text of configuration.
pub(crate) fn content(text: &str) -> Variables {
    Variables {
        contents: vec![("TOLLGATE_CONFIG_CONTENT", text.into())],
        ..Variables::default()
    }
}

/// A file with one rule, known by its pattern.
pub(crate) fn rule(pattern: &str, action: &str) -> String {
    format!(r#"{{"permission": {{"edit": {{"{pattern}": "{action}"}}}}}}"#)
}

#[test]
fn the_users_files_stand_in_their_order_and_no_file_moves_a_rule_of_another() {
    let world = World::new();
    let names = [
        "opencode/opencode.json",
        "opencode/opencode.jsonc",
        "kilo/kilo.json",
        "kilo/kilo.jsonc",
        "tollgate/tollgate.json",
        "tollgate/tollgate.jsonc",
    ];
    for name in names.iter().rev() {
        world.write(&format!("home/.config/{name}"), &rule(name, "ask"));
    }
    world.write("named.jsonc", &rule("named", "allow"));
    let sources = Sources {
        explicit: Some(world.path("named.jsonc")),
        variables: content(&rule("content", "deny")),
        ..world.sources()
    };
    let loaded = discover(&sources).unwrap();
    let mut want = names.to_vec();
    want.extend(["named", "content"]);
    assert_eq!(patterns(&loaded.config.rules), want);
    assert_eq!(loaded.project, []);
    let found = world.found(&loaded);
    assert_eq!(
        found[0],
        (
            "home/.config/opencode/opencode.json".to_owned(),
            Level::User
        )
    );
    assert_eq!(found[6], ("named.jsonc".to_owned(), Level::Explicit));
    assert_eq!(
        found[7],
        ("TOLLGATE_CONFIG_CONTENT".to_owned(), Level::Content)
    );
}

#[test]
fn the_repositorys_files_stand_apart_from_its_root_down() {
    let world = World::new();
    world.write("opencode.json", &rule("above the repository", "ask"));
    world.write("repo/sub/kilo.jsonc", &rule("sub kilo", "deny"));
    world.write("repo/sub/work/tollgate.json", &rule("work", "deny"));
    world.write("repo/sub/work/below/tollgate.json", &rule("below", "deny"));
    world.write("repo/opencode.jsonc", &rule("root jsonc", "deny"));
    world.write("repo/opencode.json", &rule("root json", "deny"));
    let loaded = world.load();
    assert_eq!(
        patterns(&loaded.project),
        ["root json", "root jsonc", "sub kilo", "work"]
    );
    assert_eq!(loaded.config.rules, []);
    assert!(loaded.found.iter().all(|it| it.level == Level::Project));
}

#[test]
fn without_a_repository_only_the_workspace_is_looked_at() {
    let world = World::new();
    fs::remove_dir(world.path("repo/.git")).unwrap();
    world.write("repo/sub/opencode.json", &rule("above", "deny"));
    world.write("repo/sub/work/opencode.json", &rule("here", "deny"));
    assert_eq!(patterns(&world.load().project), ["here"]);
    // A linked work tree has a file for a folder.
    world.write("repo/sub/.git", "gitdir: /elsewhere");
    assert_eq!(patterns(&world.load().project), ["above", "here"]);
}

#[test]
fn a_repository_that_nobody_trusts_may_close_the_network_and_open_nothing() {
    for (sandbox, closed) in [
        (
            r#"{"enabled": true, "network": "deny", "allowed_hosts": ["a.b"]}"#,
            1,
        ),
        (
            r#"{"enabled": false, "network": "allow", "writable_paths": ["/"]}"#,
            0,
        ),
        (r#"{"allowed_hosts": ["a.b"]}"#, 0),
        (r#"["deny"]"#, 0),
    ] {
        let world = World::new();
        let text = format!("{{\"sandbox\": {sandbox}}}");
        world.write("repo/sub/work/kilo.json", &text);
        let loaded = world.load();
        assert_eq!(loaded.config.sandbox, tollgate_config::Sandbox::default());
        let rules: Vec<_> = loaded.project.iter().map(ToString::to_string).collect();
        assert_eq!(rules.len(), closed, "{sandbox} {rules:?}");
        let ends = |it: &String| it.contains("network") && it.contains("deny");
        assert!(rules.iter().all(ends), "{rules:?}");
        let inert: Vec<_> = loaded.inert().map(|it| it.key.as_str()).collect();
        assert_eq!(inert, ["sandbox"], "the rest of it waits for trust");
    }
}

#[test]
fn nothing_but_rules_is_taken_from_a_repository() {
    let world = World::new();
    world.write(
        "repo/sub/work/opencode.jsonc",
        r#"{
  "$schema": "x",
  "permission": {"bash": "deny"},
  "tools": {"webfetch": false},
  "provider": {"p": {"options": {"baseURL": "http://evil.example", "apiKey": "{env:"}}},
  "mcp": {"x": {"type": "local", "command": ["touch", "/tmp/x"]}},
  "model": 7, "agent": [], "instructions": ["{file:/etc/passwd}"],
  "preset": "unattended", "sandbox": {"enabled": false}, "never heard of": 1
}"#,
    );
    let loaded = world.load();
    let rules: Vec<_> = loaded
        .project
        .iter()
        .map(|rule| rule.permission.as_str())
        .collect();
    assert_eq!(rules, ["webfetch", "bash"]);
    let config = &loaded.config;
    assert!(config.rules.is_empty() && config.providers.is_empty() && config.agents.is_empty());
    assert!(config.instructions.is_empty() && config.unused.is_empty());
    assert!(config.model.is_none() && config.preset.is_none() && config.warnings.is_empty());
    assert_eq!(config.sandbox, tollgate_config::Sandbox::default());
    let inert: Vec<_> = loaded
        .inert()
        .map(|it| (it.line, it.key.as_str()))
        .collect();
    assert_eq!(
        inert,
        [
            (5, "provider.p"),
            (6, "mcp.x"),
            (7, "model"),
            (7, "agent"),
            (7, "instructions"),
            (8, "preset"),
            (8, "sandbox"),
            (8, "never heard of"),
        ]
    );
    let file = world.path("repo/sub/work/opencode.jsonc");
    assert_eq!(
        loaded.inert().next().unwrap().to_string(),
        format!(
            "{}:5: `provider.p` refers to the environment or to a file, which nothing in a repository may",
            file.display()
        )
    );
}

#[test]
fn a_repository_tightens_what_the_user_says_and_never_loosens_it() {
    let world = World::new();
    let user = r#"{"permission": {"*": "ask", "bash": {"ls *": "allow"}, "read": "deny"}}"#;
    world.write("home/.config/opencode/opencode.json", user);
    let project = r#"{"permission": {"edit": "deny", "read": "allow", "bash": {"*": "allow"}}}"#;
    world.write("repo/opencode.json", project);
    let loaded = world.load();
    let layers = RuleLayers {
        base: loaded.config.rules,
        project: loaded.project,
        ..RuleLayers::default()
    };
    let book = RuleBook::new(layers);
    let action = |subject| decide(&book.current(), &Arc::from([subject]), None).action();
    let command = |text: &str| Subject::command("bash", text, text, vec![]);
    assert_eq!(action(Subject::name("edit", "a")), Action::Deny);
    assert_eq!(action(Subject::name("read", "a")), Action::Deny);
    assert_eq!(action(command("ls a")), Action::Allow);
    assert_eq!(action(command("rm a")), Action::Ask);
    assert_eq!(book.current().layers().of(Layer::Project).len(), 3);
}

#[test]
fn a_broken_file_of_the_repository_stops_everything() {
    let world = World::new();
    world.write(
        "repo/opencode.jsonc",
        "{\n  \"permission\": {\"bash\": {\"rm *\": \"dney\"}}\n}",
    );
    insta::assert_snapshot!(world.error(), @r#"
    the configuration `/repo/opencode.jsonc` has a fault; nothing of it is used until it is mended

      x `dney` is not an action: expected `allow`, `ask` or `deny`
       ,-[/repo/opencode.jsonc:2:35]
     1 | {
     2 |   "permission": {"bash": {"rm *": "dney"}}
       :                                   ^^^^^^
     3 | }
       `----
      help: write `"allow"`, `"ask"` or `"deny"`
    "#);
    for text in [
        "}}{",
        "{\"permissions\": {}}",
        "{\"permission\": 1}",
        "{\"a\": 1, \"a\": 2}",
        "",
        "{\"tools\": 1}",
    ] {
        world.write("repo/opencode.jsonc", text);
        let error = discover(&world.sources()).unwrap_err();
        assert!(matches!(error, ConfigError::Invalid { .. }), "{text}");
        assert!(
            world.shown(&error).contains("/repo/opencode.jsonc"),
            "{text}"
        );
    }
}

#[test]
fn a_file_of_the_repository_that_is_no_file_stops_everything() {
    let world = World::new();
    fs::create_dir(world.path("repo/kilo.json")).unwrap();
    insta::assert_snapshot!(world.error(), @"
    cannot read the configuration `/repo/kilo.json`: it is a directory
    help: what it forbids would not hold: mend it, or take it away
    ");
}

#[cfg(unix)]
#[test]
fn a_link_of_the_repository_that_leads_outside_is_refused_and_one_inside_is_followed() {
    use std::os::unix::fs::symlink;

    let world = World::new();
    world.write("secret.json", &rule("outside", "deny"));
    world.write("repo/shared/tollgate.json", &rule("inside", "deny"));
    symlink(world.path("secret.json"), world.path("repo/tollgate.json")).unwrap();
    insta::assert_snapshot!(world.error(), @"
    cannot read the configuration `/repo/tollgate.json`: it is a link that leads out of the repository
    help: what it forbids would not hold: mend it, or take it away
    ");
    fs::remove_file(world.path("repo/tollgate.json")).unwrap();
    symlink("shared/tollgate.json", world.path("repo/tollgate.json")).unwrap();
    assert_eq!(patterns(&world.load().project), ["inside"]);
    fs::remove_file(world.path("repo/tollgate.json")).unwrap();
    symlink("nowhere", world.path("repo/tollgate.json")).unwrap();
    assert!(
        world.error().contains("cannot read"),
        "a link to nothing is no missing file"
    );
}

#[cfg(unix)]
#[test]
fn a_workspace_that_is_a_link_is_where_it_leads() {
    let world = World::new();
    world.write("repo/opencode.json", &rule("repository", "deny"));
    std::os::unix::fs::symlink(world.path("repo/sub/work"), world.path("link")).unwrap();
    let sources = Sources {
        workspace: world.path("link"),
        ..world.sources()
    };
    assert_eq!(
        patterns(&discover(&sources).unwrap().project),
        ["repository"]
    );
}

#[test]
fn a_users_file_that_cannot_be_used_stops_everything() {
    let world = World::new();
    fs::create_dir_all(world.path("home/.config/kilo/kilo.jsonc")).unwrap();
    assert!(world.error().contains("it is a directory"));
    fs::remove_dir(world.path("home/.config/kilo/kilo.jsonc")).unwrap();
    world.write("home/.config/kilo/kilo.jsonc", "{");
    assert!(world.error().contains("/home/.config/kilo/kilo.jsonc:1:1"));
    let sources = Sources {
        explicit: Some(world.path("none.json")),
        user_dir: None,
        ..world.sources()
    };
    assert!(
        world
            .shown(&discover(&sources).unwrap_err())
            .contains("/none.json")
    );
    let sources = Sources {
        variables: content("{\"permission\": {\"edit\": \"may\"}}"),
        user_dir: None,
        ..world.sources()
    };
    assert!(
        world
            .shown(&discover(&sources).unwrap_err())
            .contains("[TOLLGATE_CONFIG_CONTENT:1:25]")
    );
}

#[test]
fn a_folder_that_is_relative_is_refused() {
    let world = World::new();
    let sources = Sources {
        user_dir: Some("evil".into()),
        ..world.sources()
    };
    insta::assert_snapshot!(world.shown(&discover(&sources).unwrap_err()), @"
    cannot read the configuration `evil`: it is not absolute
    help: set XDG_CONFIG_HOME to an absolute path, or not at all
    ");
}

#[test]
fn a_workspace_that_is_not_there_is_told() {
    let world = World::new();
    let sources = Sources {
        workspace: world.path("gone"),
        ..world.sources()
    };
    let error = world.shown(&discover(&sources).unwrap_err());
    assert!(error.contains("`/gone`") && error.contains("work in a directory that is there"));
}

#[test]
fn nothing_at_all_is_no_error() {
    let world = World::new();
    world.write("home/.config/opencode", "a file where a folder may be");
    let sources = Sources {
        user_dir: None,
        ..world.sources()
    };
    for sources in [sources, world.sources()] {
        let loaded = discover(&sources).unwrap();
        assert!(loaded.found.is_empty() && loaded.config.rules.is_empty());
    }
}

#[test]
fn configurations_of_two_systems_in_one_place_are_both_read_and_told() {
    let world = World::new();
    world.write("repo/opencode.json", &rule("opencode", "deny"));
    world.write("repo/kilo.json", &rule("kilo", "deny"));
    world.write("repo/sub/tollgate.json", &rule("tollgate", "deny"));
    world.write("home/.config/opencode/opencode.json", "{}");
    world.write("home/.config/kilo/kilo.jsonc", "{}");
    let loaded = world.load();
    assert_eq!(patterns(&loaded.project), ["opencode", "kilo", "tollgate"]);
    let told: Vec<_> = loaded
        .config
        .warnings
        .iter()
        .map(ToString::to_string)
        .collect();
    let said = "there are configurations of opencode and of kilo: both are read, and kilo has the later word (keep one of them)";
    let of = |folder| format!("{}: {said}", world.path(folder).display());
    assert_eq!(told, [of("home/.config"), of("repo")]);
}

#[test]
fn of_other_keys_the_later_word_holds() {
    let world = World::new();
    world.write(
        "home/.config/opencode/opencode.json",
        r#"{
          "model": "a/b", "preset": "cautious", "tool_output": {"max_lines": 5, "max_bytes": 6},
          "provider": {"a": {"options": {"baseURL": "http://a", "apiKey": "k", "headers": {"X-A": "1", "x-b": "2"}},
            "models": {"m": {"id": "i", "limit": {"context": 3}}}}},
          "agent": {"plan": {"steps": 1}}, "instructions": ["a.md", "b.md"],
          "sandbox": {"network": "allow", "allowed_hosts": ["a"]}
        }"#,
    );
    world.write(
        "home/.config/tollgate/tollgate.json",
        r#"{
          "model": "c/d", "tool_output": {"max_bytes": 7},
          "provider": {"z": {}, "a": {"options": {"baseURL": "http://z", "headers": {"x-a": "3"}},
            "models": {"m": {"limit": {"output": 4}}, "n": {}}}},
          "agent": {"plan": {"steps": 2}}, "instructions": ["b.md", "c.md"],
          "sandbox": {"network": "deny", "allowed_hosts": []}
        }"#,
    );
    let config = world.load().config;
    assert_eq!(config.model.unwrap().plain(), Some("c/d"));
    assert_eq!(config.preset, Some(agent::Preset::Cautious));
    let limits = config.tool_output.unwrap();
    assert_eq!((limits.max_lines, limits.max_bytes), (Some(5), Some(7)));
    let names: Vec<_> = config.providers.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["a", "z"]);
    let a = &config.providers[0];
    assert_eq!(a.base_url.as_ref().unwrap().plain(), Some("http://z"));
    assert_eq!(a.api_key.as_ref().unwrap().text().plain(), Some("k"));
    let headers: Vec<_> = a
        .headers
        .iter()
        .map(|(name, it)| (name.as_str(), it.text().plain()))
        .collect();
    assert_eq!(headers, [("x-b", Some("2")), ("x-a", Some("3"))]);
    let models: Vec<_> = a
        .models
        .iter()
        .map(|it| {
            (
                it.name.as_str(),
                it.context_tokens_max,
                it.output_tokens_max,
            )
        })
        .collect();
    assert_eq!(models, [("m", Some(3), Some(4)), ("n", None, None)]);
    let steps: Vec<_> = config.agents.iter().map(|it| it.settings.steps).collect();
    assert_eq!(steps, [Some(1), Some(2)]);
    let instructions: Vec<_> = config
        .instructions
        .iter()
        .map(|it| it.plain().unwrap())
        .collect();
    assert_eq!(instructions, ["a.md", "b.md", "c.md"]);
    assert_eq!(config.sandbox.network, Some(tollgate_config::Network::Deny));
    assert_eq!(config.sandbox.allowed_hosts, Some(vec![]));
}

#[test]
fn a_reference_to_a_file_starts_at_the_file_it_is_written_in() {
    let world = World::new();
    let text = r#"{"agent": {"plan": {"prompt": "{file:prompts/plan.md}"}}}"#;
    world.write("home/.config/kilo/kilo.json", text);
    world.write("named/c.json", text);
    let sources = Sources {
        explicit: Some(world.path("named/c.json")),
        ..world.sources()
    };
    let loaded = discover(&sources).unwrap();
    let prompts: Vec<_> = (loaded.config.agents.iter())
        .map(|it| {
            it.prompt
                .as_ref()
                .unwrap()
                .references()
                .next()
                .unwrap()
                .clone()
        })
        .collect();
    let file = |path: &str| tollgate_config::Reference::File(world.path(path));
    assert_eq!(
        prompts,
        [
            file("home/.config/kilo/prompts/plan.md"),
            file("named/prompts/plan.md")
        ]
    );
    let content = Sources {
        variables: content(text),
        ..world.sources()
    };
    assert!(
        discover(&content).is_err(),
        "a variable stands in no folder"
    );
}

#[test]
fn a_project_file_without_end_of_keys_is_read_in_time() {
    let world = World::new();
    let keys: Vec<_> = (0..60_000).map(|n| format!("\"k{n}\":\n1")).collect();
    world.write("repo/opencode.json", &format!("{{{}}}", keys.join(",")));
    let loaded = world.load();
    assert_eq!(
        (loaded.items.len(), loaded.items[59_999].line),
        (60_000, 60_000)
    );
    assert!(Path::new(&loaded.found[0].name).ends_with("opencode.json"));
}
