//! Reads spec/calls and holds every tool against its cases. Must not hold a case of its own.

#![expect(clippy::disallowed_methods, reason = "the cases are files")]

use conform::testkit::{Bench, MemoryHost, no, yes};
use gate::{
    call::NotRun,
    g1_decode::RawArguments,
    g2_admit::{Gate, Question},
    output::CallOutput,
};
use serde::Deserialize;
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};
use tollgate_tools::builtins;

/// One line of a file of cases; the keys are those of spec/calls/README.md.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    #[serde(default)]
    files: BTreeMap<String, Content>,
    #[serde(default)]
    first: Vec<Value>,
    args: Value,
    answer: Option<Answer>,
    #[serde(default)]
    output: Vec<String>,
    #[serde(default)]
    lacks: Vec<String>,
    error: Option<Vec<String>>,
    gate: Option<u8>,
    #[serde(default)]
    metadata: BTreeMap<String, Value>,
    #[serde(default)]
    after: BTreeMap<String, Option<Content>>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Answer {
    Yes,
    No,
}

#[derive(Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Content {
    Text(String),
    Hex {
        hex: String,
    },
    Repeat {
        repeat: String,
        times: usize,
    },
    Lines {
        lines: String,
        from: usize,
        to: usize,
    },
}

impl Content {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Text(text) => text.clone().into_bytes(),
            Self::Hex { hex } => {
                let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
                (0..hex.len()).step_by(2).map(byte).collect()
            }
            Self::Repeat { repeat, times } => repeat.repeat(*times).into_bytes(),
            Self::Lines { lines, from, to } => {
                let line = |number| format!("{lines}{number}\n");
                (*from..=*to).map(line).collect::<String>().into_bytes()
            }
        }
    }
}

fn cases(tool: &str) -> Vec<Case> {
    let path = format!(
        "{}/../../spec/calls/{tool}.jsonl",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = fs::read_to_string(path).unwrap();
    let case = |line| {
        let case: Result<Case, _> = serde_json::from_str(line);
        case.unwrap_or_else(|error| panic!("{error}: {line}"))
    };
    text.lines().map(case).collect()
}

/// The call itself, behind those that come first, whatever became of them.
fn run(tool: &str, case: &Case, bench: &Bench) -> Result<CallOutput, NotRun> {
    let answer = |question: &Question<'_>| match case.answer {
        Some(Answer::Yes) => yes(),
        Some(Answer::No) => no(),
        None => panic!("{}: asked {question:?}", case.name),
    };
    let call = |arguments: &Value| {
        let arguments = match arguments {
            Value::String(text) => RawArguments::Text(text.clone()),
            value => RawArguments::Json(value.clone()),
        };
        bench.run_on(&bench.host, &builtins(), tool, arguments, answer)
    };
    for arguments in &case.first {
        drop(call(arguments));
    }
    let result = call(&case.args);
    let is_asked = !bench.asked().is_empty();
    assert_eq!(is_asked, case.answer.is_some(), "{}", case.name);
    result
}

fn check(tool: &str, case: &Case) {
    let host = MemoryHost::with(&[]);
    let mut expected = BTreeMap::new();
    for (path, content) in &case.files {
        host.put(path, content.bytes());
        expected.insert(path.clone(), Some(content.bytes()));
    }
    for (path, content) in &case.after {
        expected.insert(path.clone(), content.as_ref().map(Content::bytes));
    }
    let bench = Bench::free(host);
    let name = format!("{tool}: {}", case.name);

    let text = match (run(tool, case, &bench), &case.error) {
        (Ok(output), None) => {
            for (pointer, value) in &case.metadata {
                assert_eq!(
                    output.metadata.pointer(pointer),
                    Some(value),
                    "{name}: {pointer}"
                );
            }
            holds(&name, &output.output, &case.output);
            output.output
        }
        (Err(why), Some(pieces)) => {
            assert_eq!(why.gate().map(Gate::number), case.gate, "{name}: {why}");
            holds(&name, &why.to_string(), pieces);
            why.to_string()
        }
        (result, _) => panic!("{name}: {result:?}"),
    };
    for piece in &case.lacks {
        assert!(!text.contains(piece), "{name}: {piece:?} in {text:?}");
    }
    for (path, bytes) in &expected {
        assert_eq!(bench.host.bytes(path), *bytes, "{name}: {path}");
    }
    let left = expected.values().filter(|bytes| bytes.is_some()).count();
    assert_eq!(
        bench.host.all().len(),
        left,
        "{name}: {:?}",
        bench.host.all()
    );
}

fn holds(name: &str, text: &str, pieces: &[String]) {
    for piece in pieces {
        assert!(text.contains(piece), "{name}: no {piece:?} in {text:?}");
    }
}

fn check_all(tool: &str, least: usize) {
    let cases = cases(tool);
    assert!(cases.len() >= least, "only {} cases of {tool}", cases.len());
    let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names.len(), cases.len(), "a name stands there twice");
    for case in &cases {
        check(tool, case);
    }
}

#[test]
fn bash_does_what_its_cases_say() {
    check_all("bash", 21);
}

#[test]
fn edit_does_what_its_cases_say() {
    check_all("edit", 45);
}

#[test]
fn glob_does_what_its_cases_say() {
    check_all("glob", 27);
}

#[test]
fn grep_does_what_its_cases_say() {
    check_all("grep", 39);
}

#[test]
fn question_does_what_its_cases_say() {
    check_all("question", 10);
}

#[test]
fn todowrite_does_what_its_cases_say() {
    check_all("todowrite", 8);
}

#[test]
fn read_does_what_its_cases_say() {
    check_all("read", 42);
}

#[test]
fn write_does_what_its_cases_say() {
    check_all("write", 17);
}

#[test]
fn every_file_of_cases_is_about_a_tool_and_every_tool_has_one() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/calls");
    let paths = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let data = paths.filter(|path| path.extension().is_some_and(|it| it == "jsonl"));
    let stem = |path: std::path::PathBuf| path.file_stem().unwrap().to_string_lossy().into_owned();
    let found: BTreeSet<String> = data.map(stem).collect();
    let tools: BTreeSet<String> = builtins()
        .iter()
        .map(|tool| tool.name().to_owned())
        .collect();
    assert_eq!(found, tools);
}
