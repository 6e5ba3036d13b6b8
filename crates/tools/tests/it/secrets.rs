//! Searching shows nothing that the tool reading single files would have to ask for.

use conform::testkit::{
    Action::{self, Allow, Ask, Deny},
    Bench, MemoryHost, nobody, yes,
};
use gate::{
    g2_admit::{Question, Reply},
    output::CallOutput,
};
use serde_json::{Value, json};
use tollgate_tools::{Glob, Grep};

const FILES: [(&str, &str); 5] = [
    ("a.txt", "SECRET=0\n"),
    (".env", "SECRET=1\n"),
    ("sub/.env", "SECRET=2\n"),
    ("vault/key", "SECRET=3\n"),
    ("/out/b.txt", "SECRET=4\n"),
];

fn bench(rules: &[(&str, &str, Action)]) -> Bench {
    let mut all = vec![
        ("*", "*", Allow),
        ("external_directory", "*", Ask),
        ("read", "*.env", Ask),
        ("read", "vault/*", Deny),
    ];
    all.extend(rules);
    Bench::on(MemoryHost::with(&FILES), &all)
}

fn unasked(question: &Question<'_>) -> Reply {
    panic!("asked {question:?}")
}

fn grep(bench: &Bench, arguments: Value) -> CallOutput {
    bench.run(Grep, arguments, unasked).unwrap()
}

#[test]
fn a_search_for_a_secret_does_not_show_it() {
    let found = grep(&bench(&[]), json!({ "pattern": "SECRET" }));
    insta::assert_snapshot!(found.output, @r#"
    Found 1 matches
    /w/a.txt:
      Line 1: SECRET=0

    (2 paths are left out: reading them needs an approval.)

    (1 path is left out: a rule denies reading it.)
    "#);
}

#[test]
fn a_search_in_the_very_file_does_not_show_it_either() {
    let bench = bench(&[]);
    for path in [".env", "sub/.env", "vault/key"] {
        let found = grep(&bench, json!({ "pattern": "SECRET", "path": path }));
        let lines: Vec<_> = found.output.lines().collect();
        assert_eq!(lines[0], "No files found", "{path}");
        assert!(
            lines[2].starts_with("(1 path is left out: "),
            "{path}: {lines:?}"
        );
    }
}

#[test]
fn a_list_of_files_leaves_out_what_may_not_be_read() {
    let found = bench(&[])
        .run(Glob, json!({ "pattern": "*" }), unasked)
        .unwrap();
    insta::assert_snapshot!(found.output, @r#"
    /w/a.txt

    (1 path is left out: a rule denies reading it.)
    "#);
    let named = bench(&[])
        .run(Glob, json!({ "pattern": ".env" }), unasked)
        .unwrap();
    insta::assert_snapshot!(named.output, @r#"
    No files found

    (2 paths are left out: reading them needs an approval.)
    "#);
}

#[test]
fn leave_to_search_is_asked_with_the_pattern_and_no_more() {
    let bench = bench(&[("grep", "*", Ask), ("glob", "*", Ask)]);
    bench
        .run(Grep, json!({ "pattern": "SECRET" }), |_| yes())
        .unwrap();
    bench
        .run(Glob, json!({ "pattern": "*" }), |_| yes())
        .unwrap();
    assert_eq!(bench.asked(), ["grep SECRET", "glob *"]);
    let found = bench
        .run(Grep, json!({ "pattern": "SECRET" }), |_| yes())
        .unwrap();
    assert!(
        !found.output.contains("SECRET=1"),
        "a yes to the pattern is none to the file"
    );
}

#[test]
fn outside_the_workspace_the_directory_is_asked_first() {
    let bench = bench(&[]);
    let look = json!({ "pattern": "SECRET", "path": "/out" });
    bench.run(Grep, look.clone(), |_| nobody()).unwrap_err();
    let found = bench.run(Grep, look, |_| yes()).unwrap();
    assert!(found.output.contains("/out/b.txt:\n  Line 1: SECRET=4"));
    assert_eq!(bench.asked(), ["external_directory /out/*"; 2]);
    bench
        .run(Glob, json!({ "pattern": "/out/*" }), |_| yes())
        .unwrap();
    assert_eq!(bench.asked().len(), 3);
}

#[test]
fn a_file_of_two_names_is_not_looked_into() {
    let bench = bench(&[]);
    bench.host.link("a.txt");
    let found = grep(&bench, json!({ "pattern": "SECRET" }));
    assert!(!found.output.contains("SECRET=0"), "{}", found.output);
    assert!(
        found
            .output
            .contains("(3 paths are left out: reading them needs an approval.)")
    );
}
