//! Lines of PowerShell and cmd, and what is right for each. It must not judge a line.

use tollgate_powershell as powershell;

use command::{Class, Line, Mode, Setting, Shell, Simple, TouchedPath};

const POWERSHELL: &str = include_str!("../../../../spec/shell/powershell.tsv");
const CMD: &str = include_str!("../../../../spec/shell/cmd.tsv");

pub(crate) const SETTING: Setting<'_> = Setting {
    directory: "/w",
    home: Some("/home/u"),
    shell: Shell::Bash,
};

/// A cell as it is meant, without its escapes.
fn unescaped(cell: &str) -> String {
    let mut text = String::new();
    let mut chars = cell.chars();
    while let Some(c) = chars.next() {
        text.push(match c {
            '\\' => match chars.next().unwrap() {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                other => {
                    assert_eq!(other, '\\', "{cell:?}");
                    other
                }
            },
            c => c,
        });
    }
    text
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('\n', "\\n")
        .replace('\t', "\\t")
}

fn commands(line: &Line) -> String {
    let all = line.commands.iter().map(|it| {
        if it.words.is_empty() {
            it.source.clone()
        } else {
            Simple::canonical(it)
        }
    });
    all.collect::<Vec<_>>().join(" ;; ")
}

fn touches(line: &Line) -> String {
    let touched = line.touches.iter().map(|it| {
        let mode = match it.mode {
            Mode::Read => "r",
            Mode::Write => "w",
        };
        let path = match &it.path {
            TouchedPath::Exact(path) => path.as_str(),
            TouchedPath::Below { pattern, .. } => pattern.as_str(),
            TouchedPath::Unknown(_) => "?",
        };
        let doubt = if it.is_certain { "" } else { "?" };
        format!("{mode}{doubt}:{path}")
    });
    let hosts = line.hosts.iter().map(|it| {
        let doubt = if it.is_known { "" } else { "?" };
        format!("h{doubt}:{}", it.name)
    });
    let mut all: Vec<String> = touched.chain(hosts).collect();
    all.sort();
    all.dedup();
    all.join(" ")
}

fn marks(line: &Line) -> String {
    let gravest = line.commands.iter().map(|it| it.class).max();
    let class = match gravest.unwrap_or(Class::ReadOnly) {
        Class::ReadOnly => "read",
        Class::Ordinary => "ordinary",
        Class::Irreversible => "irreversible",
        Class::Publish => "publish",
    };
    let is_opaque = line.commands.iter().any(|it| it.opaque.is_some());
    let opaque = if is_opaque { " opaque" } else { "" };
    let unknown = if line.unknown.is_empty() {
        ""
    } else {
        " unknown"
    };
    format!("{class}{opaque}{unknown}")
}

#[track_caller]
fn check(table: &str, least: usize, read: impl Fn(&str) -> Line) {
    let rows = table
        .lines()
        .skip(1)
        .filter(|it| !it.is_empty() && !it.starts_with('#'));
    let mut count = 0;
    let mut wrong = Vec::new();
    for row in rows {
        count += 1;
        let cells: Vec<&str> = row.split('\t').collect();
        let text = unescaped(cells[0]);
        let line = read(&text);
        let found = [
            cells[0].to_owned(),
            escaped(&commands(&line)),
            touches(&line),
            marks(&line),
        ]
        .join("\t");
        if found != row {
            wrong.push(found);
        }
    }
    assert!(count >= least, "{count} rows");
    let wrong = wrong.join("\n").replace('\t', " <tab> ");
    assert!(wrong.is_empty(), "\n{wrong}\n");
}

#[test]
fn powershell_is_told_as_the_table_says() {
    check(POWERSHELL, 90, |text| powershell::read(text, &SETTING));
}

#[test]
fn cmd_is_told_as_the_table_says() {
    check(CMD, 25, |text| powershell::cmd::read(text, &SETTING));
}
