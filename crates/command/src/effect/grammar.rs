//! The grammars of programs as data: what `data/programs` says, ready to be looked up. It must not look at a command.

use std::sync::{Arc, LazyLock, OnceLock};

use super::{Place, load};
use crate::line::Class;
use crate::spelling::{base_name, plain_name};
use crate::table;

/// One file of grammars. It is read when one of its programs is first asked for: all of them take
/// milliseconds, and a line needs few.
#[derive(Debug)]
struct File {
    text: &'static str,
    table: OnceLock<Table>,
}

impl File {
    const fn new(text: &'static str) -> Self {
        let table = OnceLock::new();
        Self { text, table }
    }

    fn table(&self) -> &Table {
        self.table.get_or_init(|| Table::read(self.text))
    }
}

/// The files, in no order that matters. `data/programs/README.md` tells the format.
static FILES: [File; 15] = [
    File::new(include_str!("../../data/programs/build.txt")),
    File::new(include_str!("../../data/programs/code.txt")),
    File::new(include_str!("../../data/programs/container.txt")),
    File::new(include_str!("../../data/programs/files.txt")),
    File::new(include_str!("../../data/programs/git.txt")),
    File::new(include_str!("../../data/programs/network.txt")),
    File::new(include_str!("../../data/programs/package.txt")),
    File::new(include_str!("../../data/programs/shell.txt")),
    File::new(include_str!("../../data/programs/system.txt")),
    File::new(include_str!("../../data/programs/text.txt")),
    File::new(include_str!("../../data/programs/database.txt")),
    File::new(include_str!("../../data/programs/machine.txt")),
    File::new(include_str!("../../data/programs/release.txt")),
    File::new(include_str!("../../data/programs/vcs.txt")),
    File::new(include_str!("../../data/programs/wrapper.txt")),
];

/// A program that a file tells of.
#[derive(Debug)]
struct Program {
    name: &'static str,
    file: &'static File,
    grammar: OnceLock<Option<&'static Grammar>>,
}

impl Program {
    fn grammar(&'static self) -> Option<&'static Grammar> {
        *self
            .grammar
            .get_or_init(|| self.file.table().grammars.get(self.name))
    }
}

static PROGRAMS: LazyLock<table::Table<Program>> = LazyLock::new(|| {
    let named = FILES
        .iter()
        .flat_map(|file| load::names(file.text).map(move |name| (name, file)));
    let programs = named.filter(|(name, _)| !name.contains(' '));
    let program = |(name, file)| {
        let grammar = OnceLock::new();
        let program = Program {
            name,
            file,
            grammar,
        };
        (name, program)
    };
    programs.map(program).collect()
});

/// What a value or an operand is to its program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slot {
    /// A number, a pattern, a name: nothing is done with it outside the program.
    Text,
    /// A file of which no more is seen than that it is there, and of a directory the names in it.
    Seen,
    /// A file that is read.
    Read,
    /// A file that is written.
    Write,
    /// A file that is read, or behind `+` a command of a pager.
    Paged,
    /// A file that is taken away; of many that are not named it is not known what is lost.
    Removed,
    /// Lines of a file, which stands behind the last colon: read.
    Lines,
    /// A task of a build, with its project before it: some of them publish.
    Task,
    /// A module of Python that is run.
    Module,
    /// The commit to which `git reset` goes, or a file.
    Reset,
    /// The URL of a git remote that is only noted.
    Noted,
    /// A file that is written, in whose name `#1` stands for a part of a URL.
    Saved,
    /// A file that is written, also where its name is `-`.
    Out,
    /// A file that is read and written.
    Both,
    /// A file that is written, or a directory in which each of the other operands gets a name.
    Into,
    /// A file that is taken away for one with another ending, or the other way round.
    Packed,
    /// What a link will lead to.
    Linked,
    /// A file of the working tree, which an option with the mark `mild` leaves as it is.
    Tree,
    /// A file that the shell itself runs.
    Sourced,
    /// A pattern for the names of files that are searched, hidden ones too.
    Glob,
    /// What is shown of each thing: it may show the environment, or have a signature checked.
    Format,
    /// An option of a shell: a few change nothing in how it reads a line.
    Setting,
    /// A file that is read, or written where an option with the mark `packs` stands beside it.
    Archive,
    /// A directory in which the command works.
    Directory,
    /// A revision or a file: it may be read.
    Revision,
    /// Files of a repository that are written, as git finds them by a pattern.
    Changed,
    /// A branch, or files whose changes are thrown away.
    Branch,
    /// It may be a file.
    Maybe,
    /// Something that is made, so the command is more than a look.
    Made,
    /// `+FORMAT` is harmless, anything else sets the clock.
    Clock,
    /// `NAME=value` for what is run, or for the shell.
    Assignment,
    /// A host name, with a user before it or a port behind it.
    Host,
    /// A URL.
    Url,
    /// `host:path`, a URL, or a file here: read.
    RemoteRead,
    /// `host:path`, a URL, or a file here: written.
    RemoteWrite,
    /// The name of a git remote, or its URL.
    GitRemote,
    /// A setting of git.
    GitSetting,
    /// The name of a setting of git that is kept, whose value is the next operand.
    GitKey,
    /// A setting of wget.
    WgetSetting,
    /// A text that is sent; what stands behind `@` is a file.
    Data,
    /// The same, in which a name may stand before the `@`.
    Encoded,
    /// A field of a form; what stands behind `=@` and `=<` are files, with what they are behind `;`.
    Form,
    /// `NAME=value`, or a file.
    Cookie,
    /// A setting whose value may be a file that is read, or code that is loaded.
    Defined,
    /// The ending of packed files.
    Ending,
    /// A directory or file for a container: `HERE:THERE`, or `src=HERE,dst=THERE`.
    Mount,
    /// An HTTP method.
    Method,
    /// One program that is run with arguments of its own.
    Program,
    /// The rest of the words is a command.
    Command,
    /// A shell text; as the last operand, the rest of the words joined by blanks.
    Script,
    /// A target of `make`, or a variable that it expands.
    Target,
    /// Words for the program itself, in the spelling of `env -S`.
    Split,
    /// A file that is written, or behind `|` or `!` a shell text.
    Piped,
    /// A shell text that runs later, `-` or nothing.
    Trap,
    /// A command up to `;` or `+`.
    Exec,
    /// What stands in the command for words that are not known: `xargs -I`.
    Stand,
    /// A file of shell code or other code that is run.
    File,
    /// Code of a language that is not read here.
    Code,
    /// A sed script.
    Sed,
    /// An awk program.
    Awk,
    /// A jq filter.
    Jq,
    /// SQL, or another language of a database.
    Sql,
    /// A word of a command for Redis.
    Redis,
}

/// What an option says beside its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// The command does more than look.
    Writes,
    /// The command may destroy what cannot be brought back.
    Irreversible,
    /// The command may change what others see.
    Publish,
    /// The command is no more than ordinary work, whatever it would be without this option.
    Mild,
    /// What the command does stands in its words.
    Told,
    /// What the command does no longer stands in its words.
    Untold,
    /// Links are made that name what they lead to.
    Soft,
    /// It cannot be told what runs.
    Opaque,
    /// The command only looks: its operands are names, and nothing is done to them.
    Looks,
    /// The last operand is like the others: the target is given by this option.
    Target,
    /// The first operand is left out: this option stands for it.
    Given,
    /// Files that are read are written too.
    InPlace,
    /// The archive is written and the operands are read.
    Packs,
    /// Files are made in the working directory.
    Here,
    /// A machine is reached that no word names.
    Reaches,
    /// Where no operand says where, the files below the working directory are read.
    Below,
    /// Below directories only files are read whose names fit its value.
    Only,
    /// The file names other files, which are read.
    Names,
    /// What git keeps as its settings is shown.
    Settings,
    /// The first operand is shell text, not a file: `sh -c`.
    Inline,
    /// The input is run, and the operands are its arguments: `sh -s`.
    Input,
    /// No option follows.
    Last,
    /// It takes two words, and the first is its value.
    Pair,
    /// It takes two words, and the second is its value.
    Named,
}

/// When all that a program does stands in its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    /// Only with an option that says so.
    Never,
    /// Where no option takes it back.
    Always,
    /// Where it has an argument: alone it shows the environment.
    WithArguments,
    /// Where it has an operand: without one it shows the environment.
    WithOperands,
}

/// One option of a program.
#[derive(Debug, Clone)]
pub(crate) struct Switch {
    /// What its value is; `None` where it takes none.
    pub slot: Option<Slot>,
    /// Whether the value may be left out, and so is never a word of its own.
    pub is_optional: bool,
    pub marks: Vec<Mark>,
}

impl Switch {
    pub(crate) fn has(&self, mark: Mark) -> bool {
        self.marks.contains(&mark)
    }

    /// Whether a word that became this option would change more than what is read or shown.
    pub(super) fn is_dangerous(&self, class: Class) -> bool {
        let grave = [
            Mark::Irreversible,
            Mark::Publish,
            Mark::Opaque,
            Mark::InPlace,
            Mark::Inline,
            Mark::Input,
        ];
        let runs = matches!(
            self.slot,
            Some(
                Slot::Program
                    | Slot::Script
                    | Slot::Exec
                    | Slot::File
                    | Slot::Code
                    | Slot::Sed
                    | Slot::Awk
                    | Slot::Sql
                    | Slot::GitSetting
                    | Slot::WgetSetting
                    | Slot::Split
                    | Slot::Piped
                    | Slot::Defined
            )
        );
        let writes = matches!(
            self.slot,
            Some(Slot::Write | Slot::Saved | Slot::Out | Slot::Both | Slot::Made)
        ) || self.has(Mark::Writes);
        runs || grave.iter().any(|mark| self.has(*mark)) || class == Class::ReadOnly && writes
    }
}

/// How options are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// `-x`, clusters, `--long`, `--long=value`, shortened names.
    Gnu,
    /// `-name` and other words, each whole: `find`, `go`.
    Words,
    /// As `Gnu`, and the first operand is a cluster without its dash: `tar xf`, `ps aux`.
    Bundle,
}

/// The grammar of one program, or of one of its sub-commands.
#[derive(Debug, Clone)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a line of the format"
)]
pub(crate) struct Grammar {
    /// The words that name it.
    pub name: &'static str,
    /// Its class where no option says otherwise.
    pub class: Class,
    /// Why it cannot be told what it runs, however it is called.
    pub opaque: Option<&'static str>,
    pub style: Style,
    pub switches: Arc<table::Table<Switch>>,
    /// Its operands in order, with whether it takes any number there. `None`: nothing is known of them.
    pub operands: Option<Vec<(Slot, bool)>>,
    /// Whether options end at the first operand.
    pub is_strict: bool,
    /// Whether the first operand is a sub-command.
    pub(crate) has_subs: bool,
    /// The grammars of its sub-commands.
    pub subs: table::Table<Grammar>,
    /// The program whose sub-commands are its own too.
    pub subs_of: Option<&'static str>,
    /// Whether the options stand before and behind the sub-command.
    pub is_everywhere: bool,
    /// Whether it does something also when it has no operand, which is then worth this class.
    pub bare: Option<Class>,
    /// Whether it makes files in the directory in which it works.
    pub is_here: bool,
    /// Whether nobody else sees what it sends to this machine.
    pub is_near: bool,
    /// Whether it reads the files below its directory where no operand says where.
    pub is_below: bool,
    /// Whether no rule for it is to be offered.
    pub is_loose: bool,
    /// When all it does stands in its words, where it does more than look.
    pub told: Told,
    /// Whether it shows nothing of its words, errors included.
    pub is_silent: bool,
    /// Whether it runs code of the project whatever its words are.
    pub runs_project: bool,
    /// Where what it runs is run.
    pub place: Place,
    /// Whether words that are not known are added to what it runs.
    pub adds_operands: bool,
    /// Whether it runs its input as a shell script, or as other code, where it has no operand.
    pub input: super::Input,
    /// The files it reads whatever its words are.
    pub reads: Vec<&'static str>,
    /// The hosts it reaches whatever its words are; `?` is one that is not known.
    pub reaches: Vec<&'static str>,
    /// Whether an option that has no place on the list may change what is run or how grave it is.
    pub is_sensitive: bool,
}

impl Grammar {
    pub(super) fn new(name: &'static str) -> Self {
        Self {
            name,
            class: Class::Ordinary,
            opaque: None,
            style: Style::Gnu,
            switches: Arc::default(),
            operands: None,
            is_strict: false,
            has_subs: false,
            subs: table::Table::default(),
            subs_of: None,
            is_everywhere: false,
            bare: None,
            is_here: false,
            is_near: false,
            is_below: false,
            is_loose: false,
            told: Told::Never,
            is_silent: false,
            runs_project: false,
            place: Place::Child,
            adds_operands: false,
            input: super::Input::Data,
            reads: Vec::new(),
            reaches: Vec::new(),
            is_sensitive: false,
        }
    }

    /// The option that is one letter behind a dash.
    pub(super) fn letter(&self, letter: char) -> Option<&Switch> {
        let name = [b'-', u8::try_from(letter).ok()?];
        // No option is a letter beyond ASCII: that is no text.
        self.switches.get(std::str::from_utf8(&name).ok()?)
    }

    /// Whether a rule for all its uses would cover any program: its operands are code, or a command.
    pub(crate) fn hides(&self) -> bool {
        let is_code = |slot: &Slot| {
            matches!(
                slot,
                Slot::Command
                    | Slot::Script
                    | Slot::Trap
                    | Slot::File
                    | Slot::Code
                    | Slot::Sed
                    | Slot::Awk
                    | Slot::Sql
                    | Slot::Redis
                    | Slot::Assignment
            )
        };
        self.is_loose
            || self.opaque.is_some()
            || self
                .operands
                .iter()
                .flatten()
                .any(|(slot, _)| is_code(slot))
    }

    /// Whether the rest of its words is run.
    pub(crate) fn is_wrapper(&self) -> bool {
        self.operands
            .iter()
            .flatten()
            .any(|(slot, _)| matches!(slot, Slot::Command | Slot::Script))
    }
}

/// The grammars of a file by the words that name them.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// Those of programs, with their sub-commands in them once all is read.
    pub(super) grammars: table::Table<Grammar>,
    /// What could not be read. Empty, which a test holds.
    pub(super) faults: Vec<String>,
}

/// The grammar of the program of this name.
fn named(program: &str) -> Option<&'static Grammar> {
    PROGRAMS.get(program)?.grammar()
}

/// The grammar of a program, and whether it is surely this program that would be found under the name:
/// not `./cat`, `CAT` or `python3.12`.
pub(crate) fn program(word: &str) -> Option<(&'static Grammar, bool)> {
    const PLACES: &[&str] = &[
        "/bin/",
        "/sbin/",
        "/usr/bin/",
        "/usr/sbin/",
        "/usr/local/bin/",
        "/opt/homebrew/bin/",
    ];
    let base = base_name(word);
    if let Some(grammar) = named(base) {
        let is_placed = |place: &&str| word.strip_prefix(*place) == Some(base);
        return Some((grammar, base == word || PLACES.iter().any(is_placed)));
    }
    let lower = plain_name(base);
    let lower = lower.as_deref().unwrap_or(base);
    let unversioned = lower.trim_end_matches(|c: char| c.is_ascii_digit() || "._-".contains(c));
    let found = named(lower).or_else(|| named(unversioned));
    found.map(|grammar| (grammar, false))
}

/// The grammar of a sub-command.
pub(crate) fn sub(of: &'static Grammar, word: &str) -> Option<&'static Grammar> {
    of.subs.get(word)
}

/// The names of all grammars.
#[cfg(test)]
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().flat_map(|file| load::names(file.text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_grammars_is_understood() {
        for file in &FILES {
            assert_eq!(file.table().faults, Vec::<String>::new());
        }
    }

    #[test]
    fn every_grammar_is_found_and_stands_in_one_file_alone() {
        let mut names: Vec<&str> = names().collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        for name in names {
            let mut words = name.split(' ');
            let program = named(words.next().unwrap()).unwrap();
            let found = words.try_fold(program, sub);
            assert_eq!(found.map(|it| it.name), Some(name));
        }
    }

    #[test]
    fn there_are_grammars_for_many_programs() {
        let programs = names().filter(|name| !name.contains(' ')).count();
        assert!(programs >= 80, "{programs}");
        let subs = names().filter(|name| name.starts_with("git ")).count();
        assert!(subs >= 30, "{subs}");
    }

    #[test]
    fn a_program_is_surely_meant_only_by_its_own_name_and_a_place_of_the_system() {
        assert_eq!(program("cat").map(|found| found.1), Some(true));
        assert_eq!(program("/usr/bin/cat").map(|found| found.1), Some(true));
        for other in [
            "./cat",
            "/tmp/cat",
            "CAT",
            "cat.exe",
            "/usr/bin/../../tmp/cat",
        ] {
            assert_eq!(program(other).map(|found| found.1), Some(false), "{other}");
        }
        assert!(program("no-such-program").is_none());
    }

    /// A command that is proven to write nothing has no option that it takes to be harmless and that
    /// stands for code.
    #[test]
    fn a_sub_command_is_named_by_plain_words() {
        for name in names() {
            assert!(
                name.split(' ')
                    .all(|word| !word.is_empty() && !word.starts_with('-')),
                "{name}"
            );
        }
    }
}
