//! The tables: names, parameters, types and methods, ready to be looked up. It must not look at a command.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use command::Class;

/// What the value of a parameter is to its command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slot {
    /// Nothing is done with it outside the command.
    Text,
    /// Files; `is_pattern` where wildcards hold, quoted ones too.
    File {
        reads: bool,
        writes: bool,
        is_pattern: bool,
    },
    /// A directory that is written; by default the current one.
    Here,
    /// A name below the path.
    Below,
    /// A name beside the path.
    Beside,
    /// Where the shell goes.
    Directory,
    /// A script block, and no other value.
    Block,
    /// A script block, or a name.
    Filter,
    /// Text that is run.
    Code,
    /// A script that is run.
    Script,
    /// A program.
    Program,
    /// The words of the program.
    Arguments,
    Url,
    Host,
    /// An HTTP method.
    Method,
    /// A type of which an object is made.
    Type,
    /// A variable that is set.
    Variable,
    /// It cannot be told what it does.
    Opaque,
}

/// One parameter.
#[derive(Debug, Clone)]
pub(crate) struct Parameter {
    /// Its names in lower case, the proper one first.
    pub names: Vec<String>,
    /// What its value is; `None` where it takes none.
    pub slot: Option<Slot>,
    /// The least class of a command that has it.
    pub class: Class,
}

/// What is done with paths that come through the pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piped {
    Nothing,
    Read,
    Write,
    Both,
    /// They are removed.
    Remove,
    /// They are looked at and passed on.
    List,
    /// They are passed on.
    Pass,
    /// The shell goes there.
    Directory,
}

/// What a command is by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nature {
    Plain,
    /// It reaches machines that no word names.
    Network,
    /// It cannot be told what it does.
    Opaque,
}

/// One command of the table.
#[derive(Debug, Clone)]
pub(crate) struct Cmdlet {
    pub name: &'static str,
    pub class: Class,
    pub nature: Nature,
    /// The places in `parameters` of those that words without a name are given to.
    pub positions: Vec<usize>,
    pub parameters: Vec<Parameter>,
    pub piped: Piped,
}

impl Cmdlet {
    /// Whether its parameters are known.
    pub(crate) fn is_listed(&self) -> bool {
        !self.parameters.is_empty()
    }
}

/// A short name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Alias {
    pub command: &'static str,
    /// Whether a program is run under the name on other systems than Windows.
    pub is_program: bool,
}

/// Parameters of every command.
const COMMON: &str = "Verbose/vb Debug/db ErrorAction/ea=text WarningAction/wa=text InformationAction/infa=text \
    ProgressAction/proga=text ErrorVariable/ev=var WarningVariable/wv=var InformationVariable/iv=var \
    OutVariable/ov=var OutBuffer/ob=text PipelineVariable/pv=var WhatIf/wi Confirm/cf";

static CMDLETS: LazyLock<BTreeMap<String, Cmdlet>> = LazyLock::new(|| {
    let rows = rows(include_str!("../data/cmdlets.tsv"));
    rows.filter_map(|cells| cmdlet(&cells))
        .map(|it| (it.name.to_ascii_lowercase(), it))
        .collect()
});

static ALIASES: LazyLock<BTreeMap<&'static str, Alias>> = LazyLock::new(|| {
    let rows = rows(include_str!("../data/aliases.tsv"));
    rows.filter_map(|cells| match *cells.as_slice() {
        [name, command, unix] => Some((
            name,
            Alias {
                command,
                is_program: unix == "program",
            },
        )),
        _ => None,
    })
    .collect()
});

static TYPES: LazyLock<BTreeSet<&'static str>> =
    LazyLock::new(|| lines(include_str!("../data/types.txt")).collect());

static METHODS: LazyLock<BTreeSet<&'static str>> =
    LazyLock::new(|| lines(include_str!("../data/methods.txt")).collect());

fn lines(file: &'static str) -> impl Iterator<Item = &'static str> {
    file.lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// The rows of a table, without the names of its columns.
pub(crate) fn rows(file: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    lines(file).skip(1).map(|line| line.split('\t').collect())
}

fn cmdlet(cells: &[&'static str]) -> Option<Cmdlet> {
    let &[name, class, positions, own, piped] = cells else {
        return None;
    };
    let mut parameters: Vec<Parameter> = own.split(' ').filter_map(parameter).collect();
    let place = |name: &str| {
        let name = name.to_ascii_lowercase();
        parameters
            .iter()
            .position(|it| it.names.first() == Some(&name))
    };
    let positions = positions.split(',').filter(|it| *it != "-");
    let positions = positions.map(place).collect::<Option<Vec<usize>>>()?;
    let is_listed = !parameters.is_empty();
    if is_listed {
        parameters.extend(COMMON.split_whitespace().filter_map(parameter));
    }
    let (class, nature) = match class {
        "read" => (Class::ReadOnly, Nature::Plain),
        "ordinary" => (Class::Ordinary, Nature::Plain),
        "irreversible" => (Class::Irreversible, Nature::Plain),
        "publish" => (Class::Publish, Nature::Plain),
        "network" => (Class::Ordinary, Nature::Network),
        "opaque" => (Class::Ordinary, Nature::Opaque),
        _ => return None,
    };
    let piped = match piped {
        "-" => Piped::Nothing,
        "read" => Piped::Read,
        "write" => Piped::Write,
        "both" => Piped::Both,
        "remove" => Piped::Remove,
        "list" => Piped::List,
        "pass" => Piped::Pass,
        "dir" => Piped::Directory,
        _ => return None,
    };
    Some(Cmdlet {
        name,
        class,
        nature,
        positions,
        parameters,
        piped,
    })
}

fn parameter(text: &str) -> Option<Parameter> {
    if text.is_empty() {
        return None;
    }
    let (text, class) = match text.chars().last() {
        Some('!') => (text.trim_end_matches('!'), Class::Irreversible),
        Some('+') => (text.trim_end_matches('+'), Class::Publish),
        _ => (text, Class::ReadOnly),
    };
    let (names, slot) = match text.split_once('=') {
        Some((names, slot_name)) => (names, Some(slot(slot_name)?)),
        None => (text, None),
    };
    let names = names.split('/').map(str::to_ascii_lowercase).collect();
    Some(Parameter { names, slot, class })
}

fn slot(name: &str) -> Option<Slot> {
    let file = |reads, writes, is_pattern| Slot::File {
        reads,
        writes,
        is_pattern,
    };
    Some(match name {
        "text" => Slot::Text,
        "read" => file(true, false, true),
        "write" => file(false, true, true),
        "both" => file(true, true, true),
        "lread" => file(true, false, false),
        "lwrite" => file(false, true, false),
        "lboth" => file(true, true, false),
        "here" => Slot::Here,
        "below" => Slot::Below,
        "beside" => Slot::Beside,
        "dir" => Slot::Directory,
        "block" => Slot::Block,
        "filter" => Slot::Filter,
        "code" => Slot::Code,
        "file" => Slot::Script,
        "program" => Slot::Program,
        "arguments" => Slot::Arguments,
        "url" => Slot::Url,
        "host" => Slot::Host,
        "method" => Slot::Method,
        "type" => Slot::Type,
        "var" => Slot::Variable,
        "opaque" => Slot::Opaque,
        _ => return None,
    })
}

/// The alias of that name, in lower case.
pub(crate) fn alias(name: &str) -> Option<Alias> {
    ALIASES.get(name).copied()
}

/// The command of that name, in lower case: by its own row, or by the row of its verb.
pub(crate) fn command_of(name: &str) -> Option<&'static Cmdlet> {
    if let Some(found) = CMDLETS.get(name) {
        return Some(found);
    }
    let (verb, noun) = name.split_once('-')?;
    if noun.is_empty() {
        return None;
    }
    CMDLETS.get(&format!("{verb}-*"))
}

/// Whether turning a value into the type does nothing else. Its name is in lower case.
pub(crate) fn is_plain_type(name: &str) -> bool {
    let name = name.trim_end_matches("[]");
    TYPES.contains(name.split('[').next().unwrap_or(name))
}

/// Whether a method does nothing but give a value. A method of a type is written `[type]::name`.
pub(crate) fn is_plain_method(name: &str) -> bool {
    METHODS.contains(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_understood() {
        let count = rows(include_str!("../data/cmdlets.tsv")).count();
        assert_eq!(CMDLETS.len(), count);
        for cells in rows(include_str!("../data/cmdlets.tsv")) {
            let made = cmdlet(&cells).unwrap();
            let own = cells[3].split(' ').filter(|it| !it.is_empty()).count();
            let common = if own == 0 {
                0
            } else {
                COMMON.split_whitespace().count()
            };
            assert_eq!(made.parameters.len(), own + common, "{}", made.name);
        }
        assert_eq!(
            ALIASES.len(),
            rows(include_str!("../data/aliases.tsv")).count()
        );
    }

    #[test]
    fn no_name_of_a_parameter_is_there_twice() {
        for cmdlet in CMDLETS.values() {
            let names: Vec<&String> = cmdlet.parameters.iter().flat_map(|it| &it.names).collect();
            let set: BTreeSet<&&String> = names.iter().collect();
            assert_eq!(set.len(), names.len(), "{}", cmdlet.name);
        }
    }

    #[test]
    fn an_alias_leads_to_a_command_and_is_none_itself() {
        for (name, alias) in ALIASES.iter() {
            assert!(self::alias(&alias.command.to_ascii_lowercase()).is_none());
            assert_eq!(*name, name.to_ascii_lowercase());
        }
    }
}
