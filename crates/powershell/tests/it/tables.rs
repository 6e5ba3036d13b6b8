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
            Mode::Look | Mode::Read => "r",
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
    let rows = conform::rows(table).unwrap();
    let count = rows.len();
    let mut wrong = Vec::new();
    for row in rows {
        let line = read(&row[0]);
        let found = [
            row[0].clone(),
            commands(&line),
            touches(&line),
            marks(&line),
        ];
        if found.as_slice() != row {
            wrong.push(found.join(" <tab> "));
        }
    }
    assert!(count >= least, "{count} rows");
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn powershell_is_told_as_the_table_says() {
    check(POWERSHELL, 90, |text| powershell::read(text, &SETTING));
}

#[test]
fn cmd_is_told_as_the_table_says() {
    check(CMD, 25, |text| powershell::cmd::read(text, &SETTING));
}
