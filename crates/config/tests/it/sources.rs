//! The layers of configuration beside the files: folders, agents in Markdown, older modes, the environment,
//! whoever administers the machine. Must not look at a configuration of the person who runs the tests.

use std::fs;

use policy::{Action, RuleBook, RuleLayers, Subject, decide};
use tollgate_config::Level::{Content, Explicit, User};
use tollgate_config::{Config, Level, Loaded, Sources, Variables, discover};

use crate::discover::{World, patterns, rule};

/// The world with its own home directory.
fn sources(world: &World) -> Sources {
    Sources {
        home: Some(world.path("home").display().to_string()),
        managed_dirs: vec![world.path("etc/kilo"), world.path("etc/tollgate")],
        ..world.sources()
    }
}

fn load(world: &World) -> Loaded {
    discover(&sources(world)).unwrap()
}

fn agents(config: &Config) -> Vec<&str> {
    config
        .agents
        .iter()
        .map(|it| it.settings.name.as_str())
        .collect()
}

fn told(config: &Config) -> Vec<String> {
    config.warnings.iter().map(ToString::to_string).collect()
}

#[test]
fn the_layers_stand_in_their_order() {
    let world = World::new();
    for (file, pattern) in [
        ("home/.config/opencode/config.json", "user plain"),
        ("home/.config/opencode/opencode.json", "user"),
        ("home/.config/kilo/opencode.jsonc", "user kilo"),
        ("opencode.named", "named by opencode"),
        ("named.json", "named"),
        ("home/.opencode/opencode.json", "home opencode"),
        ("home/.kilo/kilo.json", "home kilo"),
        ("home/.tollgate/tollgate.jsonc", "home tollgate"),
        ("dir/kilo.json", "named folder"),
    ] {
        world.write(file, &rule(pattern, "ask"));
    }
    let sources = Sources {
        explicit: Some(world.path("named.json")),
        variables: Variables {
            files: vec![("OPENCODE_CONFIG", world.path("opencode.named"))],
            dirs: vec![("KILO_CONFIG_DIR", world.path("dir"))],
            contents: vec![("OPENCODE_CONFIG_CONTENT", rule("content", "ask").into())],
            permissions: vec![(
                "TOLLGATE_PERMISSION",
                r#"{"shell": {"variable": "deny"}}"#.into(),
            )],
            is_project_off: false,
        },
        ..sources(&world)
    };
    let loaded = discover(&sources).unwrap();
    assert_eq!(
        patterns(&loaded.config.rules),
        [
            "user plain",
            "user",
            "user kilo",
            "named by opencode",
            "named",
            "home opencode",
            "home kilo",
            "home tollgate",
            "named folder",
            "content",
            "variable",
        ]
    );
    let last = loaded.config.rules.last().unwrap();
    assert_eq!(
        last.to_string(),
        "bash \"variable\" deny (TOLLGATE_PERMISSION:1:12)"
    );
    let levels: Vec<_> = loaded.found.iter().map(|it| it.level).collect();
    assert_eq!(
        levels,
        [
            User, User, User, Explicit, Explicit, User, User, User, User, Content, Content
        ]
    );
}

#[test]
fn the_repositorys_folders_stand_behind_its_files_and_only_tighten() {
    let world = World::new();
    world.write("repo/.kilo/kilo.json", &rule("root kilo", "deny"));
    world.write(
        "repo/.opencode/opencode.jsonc",
        &rule("root opencode", "allow"),
    );
    world.write(
        "repo/sub/work/.tollgate/tollgate.json",
        &rule("work", "deny"),
    );
    world.write("repo/sub/work/.tollgate/config.json", "}");
    world.write("repo/sub/kilo.json", &rule("file", "deny"));
    let loaded = load(&world);
    assert_eq!(
        patterns(&loaded.project),
        ["file", "root opencode", "root kilo", "work"]
    );
    assert!(loaded.config.rules.is_empty());
}

#[cfg(unix)]
#[test]
fn a_variable_that_names_something_of_the_repository_is_refused() {
    let world = World::new();
    world.write("repo/evil/opencode.json", &rule("evil", "allow"));
    std::os::unix::fs::symlink(world.path("repo/evil"), world.path("link")).unwrap();
    let dirs = [
        "./evil".into(),
        world.path("repo/evil"),
        world.path("link"),
        world.path("none"),
    ];
    for dir in dirs {
        let variables = Variables {
            dirs: vec![("OPENCODE_CONFIG_DIR", dir.clone())],
            ..Variables::default()
        };
        let sources = Sources {
            variables,
            ..sources(&world)
        };
        let error = world.shown(&discover(&sources).unwrap_err());
        assert!(error.contains("`OPENCODE_CONFIG_DIR="), "{error}");
        assert!(error.contains("unset the variable"), "{error}");
    }
    for file in [
        "evil/opencode.json".into(),
        world.path("repo/evil/opencode.json"),
    ] {
        let variables = Variables {
            files: vec![("KILO_CONFIG", file)],
            ..Variables::default()
        };
        let sources = Sources {
            variables,
            ..sources(&world)
        };
        assert!(discover(&sources).is_err());
    }
}

#[test]
fn rules_in_a_variable_that_are_wrong_stop_everything() {
    let world = World::new();
    for text in ["", "yes", r#"{"edit": "dney"}"#, "[]", "1", "{"] {
        let variables = Variables {
            permissions: vec![("KILO_PERMISSION", text.into())],
            ..Variables::default()
        };
        let sources = Sources {
            variables,
            ..sources(&world)
        };
        let error = world.shown(&discover(&sources).unwrap_err());
        assert!(error.contains("`KILO_PERMISSION`"), "{text}: {error}");
    }
}

#[test]
fn the_repository_is_left_alone_where_that_is_said_but_for_what_closes_paths() {
    let world = World::new();
    world.write("repo/opencode.json", &rule("file", "deny"));
    world.write("repo/.kilo/kilo.json", &rule("folder", "deny"));
    world.write("repo/.kilocodemodes", "customModes: 1");
    world.write("repo/.kilocodeignore", "x\n");
    let sources = Sources {
        variables: Variables {
            is_project_off: true,
            ..Variables::default()
        },
        ..sources(&world)
    };
    let loaded = discover(&sources).unwrap();
    assert!(loaded.items.is_empty());
    assert!(
        loaded
            .project
            .iter()
            .all(|rule| rule.origin.source.ends_with(".kilocodeignore"))
    );
    assert!(!loaded.project.is_empty());
}

#[test]
fn where_the_home_directory_is_a_repository_its_folders_are_the_users() {
    let world = World::new();
    fs::create_dir_all(world.path("home/.git")).unwrap();
    world.write("home/.kilo/kilo.json", &rule("kilo", "allow"));
    world.write(
        "home/.kilocodemodes",
        "customModes: [{slug: x, groups: [read]}]",
    );
    let sources = Sources {
        workspace: world.path("home"),
        ..sources(&world)
    };
    let loaded = discover(&sources).unwrap();
    assert_eq!(patterns(&loaded.config.rules), ["kilo"]);
    assert_eq!(agents(&loaded.config), ["x"]);
    assert!(loaded.items.is_empty() && loaded.project.is_empty());
}

#[test]
fn agents_in_markdown_are_found_in_every_folder_of_configuration() {
    let world = World::new();
    for (file, text) in [
        (
            "home/.config/kilo/agent/one.md",
            "---\nmode: subagent\n---\nOne.",
        ),
        ("home/.config/kilo/agents/nested/child.md", "Child."),
        ("home/.config/kilo/agents/notes.txt", "no agent"),
        (
            "home/.config/tollgate/modes/started.md",
            "---\nmode: subagent\n---\nStarted.",
        ),
        ("home/.config/tollgate/mode/nested/none.md", "None."),
        (
            "home/.kilo/agent/home.md",
            "---\npermission:\n  edit: deny\n---\nHome.",
        ),
        (
            "home/.config/kilo/kilo.json",
            r#"{"agent": {"one": {"steps": 1}}}"#,
        ),
    ] {
        world.write(file, text);
    }
    let loaded = load(&world);
    assert_eq!(
        agents(&loaded.config),
        ["one", "one", "nested/child", "started", "home"]
    );
    let modes: Vec<_> = loaded
        .config
        .agents
        .iter()
        .map(|it| it.settings.mode)
        .collect();
    assert_eq!(modes[1], Some(agent::Mode::Subagent));
    assert_eq!(modes[3], Some(agent::Mode::Primary));
    let denied = &loaded.config.agents[4].settings.rules[0];
    let file = world.path("home/.kilo/agent/home.md");
    assert_eq!(
        denied.to_string(),
        format!("edit \"*\" deny ({}:3:3)", file.display())
    );
    assert_eq!(told(&loaded.config), [""; 0]);
}

#[test]
fn an_agent_that_cannot_be_read_is_no_agent_and_all_else_holds() {
    let world = World::new();
    world.write(
        "home/.kilo/agent/code.md",
        "---\npermission:\n  edit: dney\n---\n",
    );
    world.write("home/.kilo/agent/good.md", "Good.");
    fs::create_dir_all(world.path("home/.kilo/mode/folder.md")).unwrap();
    let loaded = load(&world);
    assert_eq!(agents(&loaded.config), ["code", "good", "folder"]);
    let file = world.path("home/.kilo/agent/code.md");
    let told = told(&loaded.config);
    assert!(
        told[0].starts_with(&format!("{}:3:1: there is no agent `code`", file.display())),
        "{told:?}"
    );
    assert!(told[1].contains("there is no agent `folder`"), "{told:?}");
    let settings = loaded.config.agent_settings(&|_| None).unwrap();
    let all = agent::Agents::with(settings).unwrap();
    assert!(all.get("code").is_none() && all.get("good").is_some());
}

#[cfg(unix)]
#[test]
fn links_among_folders_of_agents_come_to_an_end() {
    let world = World::new();
    world.write("home/.kilo/agent/a/one.md", "One.");
    std::os::unix::fs::symlink(
        world.path("home/.kilo/agent"),
        world.path("home/.kilo/agent/a/up"),
    )
    .unwrap();
    assert_eq!(agents(&load(&world).config), ["a/one"]);
}

#[test]
fn older_modes_are_found_where_they_were_kept() {
    let world = World::new();
    let modes = |slug: &str| format!("customModes:\n  - slug: {slug}\n    groups: [read, mcp]\n");
    world.write(
        "home/.config/Code/User/globalStorage/kilocode.kilo-code/settings/custom_modes.yaml",
        &modes("editor"),
    );
    world.write(
        "home/.kilocode/cli/global/settings/custom_modes.yaml",
        &modes("cli"),
    );
    world.write("home/.kilocodemodes", &modes("home"));
    world.write("repo/.kilocodemodes", &modes("project"));
    let loaded = load(&world);
    assert_eq!(agents(&loaded.config), ["editor", "cli", "home"]);
    let inert: Vec<_> = loaded.inert().map(|it| it.key.as_str()).collect();
    assert_eq!(inert, [".kilocodemodes"]);
}

fn action(loaded: Loaded, permission: &str, text: &str) -> Action {
    let layers = RuleLayers {
        base: loaded.config.rules,
        project: loaded.project,
        ..RuleLayers::default()
    };
    let subjects = [Subject::name(permission, text)].into();
    decide(&RuleBook::new(layers).current(), &subjects, None).action()
}

#[test]
fn whoever_administers_the_machine_denies_above_all_and_allows_below_all() {
    let world = World::new();
    world.write(
        "etc/tollgate/tollgate.json",
        r#"{
          "permission": {"read": "allow", "edit": {"*": "deny", "docs/*": "allow"}, "bash": "ask"},
          "agent": {"plan": {"permission": {"edit": "allow", "bash": "deny"}}},
          "sandbox": {"network": "deny"}
        }"#,
    );
    world.write(
        "etc/kilo/config.json",
        r#"{"permission": {"webfetch": "deny"}}"#,
    );
    world.write(
        "home/.config/tollgate/tollgate.json",
        r#"{"permission": {"read": {"x": "ask"}}, "sandbox": {"network": "allow"}}"#,
    );
    let loaded = load(&world);
    let shown = |rules: &[policy::Rule]| -> Vec<String> {
        let show = |it: &policy::Rule| format!("{} {} {}", it.permission, it.pattern, it.action);
        rules.iter().map(show).collect()
    };
    assert_eq!(
        shown(&loaded.managed),
        [
            "webfetch * deny",
            "read * allow",
            "edit * deny",
            "edit docs/* allow",
            "bash * ask"
        ]
    );
    assert_eq!(
        shown(&loaded.config.rules),
        ["read * allow", "edit docs/* allow", "read x ask"]
    );
    assert_eq!(
        shown(&loaded.config.agents[0].settings.rules),
        ["bash * deny"]
    );
    assert_eq!(
        loaded.config.sandbox.network,
        Some(tollgate_config::Network::Deny)
    );
    assert_eq!(loaded.found.last().unwrap().level, Level::Managed);
    assert_eq!(action(loaded, "read", "x"), Action::Ask);
    world.write("etc/tollgate/tollgate.json", "{");
    assert!(discover(&sources(&world)).is_err());
}

#[test]
fn a_managed_file_lets_no_agent_start_others() {
    let world = World::new();
    world.write(
        "etc/tollgate/tollgate.json",
        r#"{"agent": {"code": {"delegate": ["explore"]}}}"#,
    );
    let loaded = load(&world);
    assert_eq!(loaded.config.agents[0].settings.delegate, None);
    let told = told(&loaded.config);
    assert!(told[0].contains("`delegate` has no effect"), "{told:?}");
}

#[test]
fn whether_edits_of_configuration_ask_is_not_for_a_repository_to_say() {
    let world = World::new();
    world.write(
        "repo/kilo.json",
        r#"{"require_approval_for_config_edits": false}"#,
    );
    let loaded = load(&world);
    assert_eq!(loaded.config.require_approval_for_config_edits, None);
    assert!(loaded.items.is_empty());
    let told = told(&loaded.config);
    assert!(told[0].contains("project value ignored"), "{told:?}");
    world.write(
        "home/.kilo/kilo.json",
        r#"{"require_approval_for_config_edits": false}"#,
    );
    assert_eq!(
        load(&world).config.require_approval_for_config_edits,
        Some(false)
    );
}
