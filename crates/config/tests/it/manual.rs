//! The schema for editors and the manual against the table, the reader and the files in the repository.
//! Must not rewrite a file unless it is told to.

use std::fs;
use std::path::PathBuf;

use jsonschema::Validator;
use serde_json::{Value, json};
use tollgate_config::{parse, reference, schema};

fn docs(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs")
        .join(name)
}

fn validator() -> Validator {
    jsonschema::validator_for(&schema()).unwrap()
}

/// Holds a generated file against what would be generated; `UPDATE=1` rewrites it.
fn check_fresh(name: &str, text: &str) {
    let path = docs(name);
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, text).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == text,
        "docs/{name} is stale: run this test with UPDATE=1"
    );
}

#[test]
fn the_generated_files_in_the_repository_are_fresh() {
    check_fresh("tollgate.schema.json", &format!("{:#}\n", schema()));
    check_fresh("configuration.md", &reference());
}

/// Configurations as people write them, without comments.
fn samples() -> Vec<Value> {
    vec![
        json!({}),
        json!({"permission": "ask"}),
        json!({"permission": {"edit": "deny", "bash": {"*": "ask", "rm *": null}, "mcp_*": "ask", "lsp": null}}),
        json!({
            "$schema": "https://example.org/s.json", "preset": "unattended", "theme": "dark",
            "tools": {"webfetch": false}, "default_agent": "plan", "instructions": ["a.md"],
            "model": "local/m", "tool_output": {"max_lines": 1}, "mode": {"x": {"prompt": "p"}},
            "agent": {"x": {"mode": "all", "temperature": 0.5, "steps": 3, "readonly": true, "permission": {"edit": "ask"}, "color": "#fff"}},
            "provider": {"local": {"npm": "x", "options": {"baseURL": "u", "timeout": false, "headers": {"a": "b"}}, "models": {"m": {"limit": {"context": 1}}}}},
            "sandbox": {"enabled": true, "network": "deny", "writable_paths": [], "allowed_hosts": ["a"]},
        }),
    ]
}

#[test]
fn what_the_reader_takes_the_schema_takes() {
    let validator = validator();
    for sample in samples() {
        let read = parse(&sample.to_string(), "t.json", None);
        assert!(read.is_ok(), "{sample}: {read:?}");
        let errors: Vec<_> = validator
            .iter_errors(&sample)
            .map(|it| it.to_string())
            .collect();
        assert_eq!(errors, [""; 0], "{sample}");
    }
}

#[test]
fn what_is_of_the_wrong_kind_neither_takes() {
    let validator = validator();
    for wrong in [
        json!([]),
        json!({"permission": "may"}),
        json!({"permission": {"edit": {"a": "may"}}}),
        json!({"permission": ["edit"]}),
        json!({"preset": "yolo"}),
        json!({"tools": {"a": "off"}}),
        json!({"agent": {"x": 1}}),
        json!({"agent": {"x": {"mode": "main"}}}),
        json!({"agent": {"x": {"temperature": 3}}}),
        json!({"agent": {"x": {"steps": 0}}}),
        json!({"agent": {"x": {"permission": {"edit": 1}}}}),
        json!({"mode": {"x": {"hidden": "yes"}}}),
        json!({"model": 1}),
        json!({"provider": {"p": {"options": {"apiKey": 1}}}}),
        json!({"provider": {"p": {"options": {"headers": {"a": 1}}}}}),
        json!({"provider": {"p": {"options": {"timeout": true}}}}),
        json!({"provider": {"p": {"models": {"m": {"limit": {"context": "1k"}}}}}}),
        json!({"instructions": "a.md"}),
        json!({"instructions": [1]}),
        json!({"sandbox": {"network": "off"}}),
        json!({"tool_output": {"max_bytes": -1}}),
    ] {
        assert!(!validator.is_valid(&wrong), "{wrong}");
        assert!(
            parse(&wrong.to_string(), "t.json", None).is_err(),
            "{wrong}"
        );
    }
}

/// Every example of the schema, put where its key stands.
#[test]
fn every_example_of_the_manual_is_taken() {
    let mut example_count = 0;
    let whole = schema();
    let mut open = vec![(whole.clone(), Vec::<String>::new())];
    while let Some((part, path)) = open.pop() {
        for example in part["examples"].as_array().into_iter().flatten() {
            let wrap = |inner: Value, name: &String| json!({ name.as_str(): inner });
            let config = path.iter().rev().fold(example.clone(), wrap);
            let text = config.to_string().replace("{file:", "{file:/");
            let read = parse(&text, "t.json", Some("/home/u"));
            assert!(
                read.is_ok_and(|config| config.warnings.is_empty()),
                "{text}"
            );
            assert!(validator().is_valid(&config), "{text}");
            example_count += 1;
        }
        for (name, below) in part["properties"].as_object().into_iter().flatten() {
            open.push((below.clone(), [path.clone(), vec![name.clone()]].concat()));
        }
        if part["additionalProperties"]["properties"].is_object() {
            let below = part["additionalProperties"].clone();
            open.push((below, [path, vec!["x".to_owned()]].concat()));
        }
    }
    assert!(example_count >= 40, "{example_count}");
}

#[test]
fn the_manual_names_every_key() {
    let manual = reference();
    for key in [
        "`permission`",
        "`agent.NAME.readonly`",
        "`provider.NAME.models.NAME.limit.context`",
        "`mcp`",
    ] {
        assert!(manual.contains(key), "{key}");
    }
    assert!(manual.lines().all(|line| line.trim_end() == line));
}
