//! The guide for those who come from other systems lists every deviation, as the suite has them.
//! `UPDATE=1` rewrites the table.

use std::{collections::HashMap, env, fmt::Write, fs, path::PathBuf};

const START: &str = "<!-- deviations -->\n";
const END: &str = "<!-- end of deviations -->";

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(name)
}

fn rows(name: &str) -> Vec<HashMap<String, String>> {
    let text = fs::read_to_string(path(name)).unwrap();
    let mut lines = text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let header: Vec<&str> = lines.next().unwrap().split('\t').collect();
    let row = |line: &str| {
        let cells = line.split('\t').map(str::to_owned);
        header
            .iter()
            .map(|name| (*name).to_owned())
            .zip(cells)
            .collect()
    };
    lines.map(row).collect()
}

/// As code in a cell of a table.
fn code(text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!("`` {} ``", text.replace('|', "\\|"))
    }
}

fn table() -> String {
    let tables = ["permissions", "layers", "hardening", "sequences", "shell"];
    let all = tables.map(|name| rows(&format!("spec/vectors/{name}.tsv")));
    let vectors: HashMap<String, HashMap<String, String>> = all
        .into_iter()
        .flatten()
        .map(|row| (row["id"].clone(), row))
        .collect();
    let mut out = String::from(
        "| row | question | asked | there | here | why |\n|---|---|---|---|---|---|\n",
    );
    for deviation in rows("spec/deviations.tsv") {
        let id = &deviation["row"];
        let empty = HashMap::new();
        let row = vectors.get(id).unwrap_or(&empty);
        let cell = |name: &str| row.get(name).map(String::as_str).unwrap_or_default();
        // A row of the arity table is named by its words.
        let (op, words) = match id.strip_prefix("arity:") {
            Some(words) => ("arity", words),
            None => (cell("op"), ""),
        };
        let asked = [words, cell("ruleset"), cell("saved"), cell("request")]
            .iter()
            .map(|it| code(it))
            .collect::<Vec<_>>();
        writeln!(
            out,
            "| {id} | {op} | {} | {} | {} | {} |",
            asked.join(" ").trim(),
            code(cell("expected")),
            code(&deviation["answer"]),
            deviation["why"].replace('|', "\\|"),
        )
        .unwrap();
    }
    out
}

#[test]
fn the_guide_lists_every_deviation() {
    let guide = path("docs/coming-from.md");
    let text = fs::read_to_string(&guide).unwrap();
    let (head, rest) = text.split_once(START).unwrap();
    let (_, tail) = rest.split_once(END).unwrap();
    let fresh = format!("{head}{START}{}{END}{tail}", table());
    if env::var_os("UPDATE").is_some() {
        fs::write(&guide, &fresh).unwrap();
    }
    assert!(
        fs::read_to_string(&guide).unwrap() == fresh,
        "docs/coming-from.md is stale: UPDATE=1 cargo test -p tollgate-conform guide"
    );
}
