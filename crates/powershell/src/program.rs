//! Programs of the machine: handed to the grammars of `command`, but for the shells that are read here. It must not read the text of a command.

use command::{Class, Directory, Line, Mode, Setting, Shell, Touch, TouchedPath, Word, WordKind};

use crate::apply::Scene;
use crate::data;
use crate::lex::Argument;
use crate::path::slashed;

/// What is run by a shell that is called as a program.
#[derive(Debug)]
pub(crate) enum Inner {
    /// A text of PowerShell.
    PowerShell(Word),
    /// A text of cmd.
    Cmd(Word),
    /// A script.
    File(Word),
    /// Something that is not written out, and why.
    Opaque(Word, &'static str),
    /// Nothing.
    Nothing,
}

/// The name of a program as rules are written for it: with `/`, and by itself in lower case and without
/// the ending that Windows adds.
pub(crate) fn name(text: &str) -> String {
    let path = slashed(text);
    let (head, base) = path
        .rsplit_once('/')
        .map_or(("", path.as_str()), |(head, base)| (head, base));
    let lower = base.to_ascii_lowercase();
    let ending = [".exe", ".cmd", ".bat", ".com"];
    let bare = ending.iter().find_map(|it| lower.strip_suffix(it));
    let base = match bare {
        Some(bare) if !bare.is_empty() => bare.to_owned(),
        _ if head.is_empty() && !path.starts_with('/') => lower,
        _ => base.to_owned(),
    };
    match path.rfind('/') {
        Some(at) => format!("{}{base}", path.get(..=at).unwrap_or_default()),
        None => base,
    }
}

/// A word as a program of the machine gets it.
pub(crate) fn word(argument: &Argument, home: Option<&str>) -> Word {
    let source = |it: &Word| Word {
        kind: WordKind::Dynamic,
        is_single: false,
        ..it.clone()
    };
    match argument.values.as_slice() {
        [only] => {
            let word = &only.word;
            // Old versions hand over quotes without escaping them and leave empty words out, and a dash
            // with a dot behind it makes two words.
            let is_split = word.text.contains('"')
                || word.text.is_empty()
                || only.is_bare
                    && word.text.starts_with('-')
                    && !word.text.starts_with("--")
                    && word.text.contains('.');
            let below_home = word
                .text
                .strip_prefix('~')
                .filter(|rest| only.is_bare && (rest.is_empty() || rest.starts_with(['/', '\\'])));
            match (below_home, home) {
                _ if is_split || only.is_block => source(word),
                (Some(rest), Some(home)) => Word {
                    text: format!("{home}{rest}"),
                    kind: WordKind::Known,
                    ..word.clone()
                },
                (Some(_), None) => source(word),
                (None, _) => word.clone(),
            }
        }
        values => Word {
            range: argument.range.clone(),
            text: values
                .iter()
                .map(|it| it.word.text.as_str())
                .collect::<Vec<_>>()
                .join(","),
            kind: WordKind::Dynamic,
            is_single: false,
        },
    }
}

/// Tells what the program does that `words` run. The ranges of the words are places in `text`.
pub(crate) fn read(text: &str, words: &[Word], scene: Scene<'_>) -> Line {
    let mut line = read_at(text, words, first_place(scene), scene.home);
    if scene.places.is_none_or(|it| it.len() > 1) {
        for place in scene.places.unwrap_or_default().iter().skip(1) {
            let other = read_at(
                text,
                words,
                Directory::Known(place.as_str().into()),
                scene.home,
            );
            for mut touch in other.touches {
                touch.is_certain = false;
                let is_there = |it: &Touch| it.path == touch.path && it.mode == touch.mode;
                if touch.by == Some(0) && !line.touches.iter().any(is_there) {
                    line.touches.push(touch);
                }
            }
        }
    }
    line
}

fn first_place(scene: Scene<'_>) -> Directory {
    let first = scene.places.and_then(<[String]>::first);
    first.map_or(Directory::Unknown, |it| {
        Directory::Known(it.as_str().into())
    })
}

fn read_at(text: &str, words: &[Word], at: Directory, home: Option<&str>) -> Line {
    let rooted = |path: &str| {
        if path.starts_with('/') {
            path.to_owned()
        } else {
            format!("/{path}")
        }
    };
    let home = home.map(|it| rooted(&slashed(it)));
    let at = match at {
        Directory::Known(path) => Directory::Known(rooted(&slashed(&path)).into()),
        Directory::Unknown => Directory::Unknown,
    };
    let setting = Setting {
        directory: match &at {
            Directory::Known(path) => path,
            Directory::Unknown => "/",
        },
        home: home.as_deref(),
        shell: Shell::Bash,
    };
    let mut line = command::read_words(text, words.to_vec(), &at, &setting);
    // The grammars know no path but those with `/`: the words are read a second time with it, and what
    // files the command itself touches is told by that reading.
    let turned: Vec<Word> = words.iter().map(turned).collect();
    if turned.iter().zip(words).any(|(a, b)| a.text != b.text) {
        let other = command::read_words(text, turned, &at, &setting);
        line.touches.retain(|it| it.by != Some(0));
        line.touches
            .extend(other.touches.into_iter().filter(|it| it.by == Some(0)));
        let class = other
            .commands
            .first()
            .map_or(Class::Ordinary, |it| it.class);
        let opaque = other.commands.into_iter().next().and_then(|it| it.opaque);
        if let Some(own) = line.commands.first_mut() {
            own.class = own.class.max(class);
            own.opaque = own.opaque.take().or(opaque);
        }
    }
    for touch in &mut line.touches {
        by_name(&mut touch.path);
        unroot(&mut touch.path);
        if touch.mode == Mode::Look {
            touch.mode = Mode::Read;
        }
    }
    for command in &mut line.commands {
        if let Directory::Known(path) = &mut command.directory {
            let mut text = path.to_string();
            unroot_text(&mut text);
            *path = text.into();
        }
    }
    line
}

/// A word with `/` for `\`, and with its drive as a first segment.
fn turned(word: &Word) -> Word {
    let slashed_text = word.text.replace('\\', "/");
    let (option, value) = match slashed_text.split_once('=') {
        Some((option, value)) if option.starts_with('-') => (format!("{option}="), value),
        _ => (String::new(), slashed_text.as_str()),
    };
    let bytes = value.as_bytes();
    let has_drive = matches!(bytes, [letter, b':', b'/', ..] if letter.is_ascii_alphabetic());
    let is_url = value.contains("://");
    let value = match (has_drive && !is_url, value.split_once(':')) {
        (true, Some((letter, rest))) => format!("/{}:{rest}", letter.to_ascii_uppercase()),
        _ => value.to_owned(),
    };
    Word {
        text: format!("{option}{value}"),
        ..word.clone()
    }
}

/// Windows takes `..` by name, whatever is a link.
fn by_name(path: &mut TouchedPath) {
    match path {
        TouchedPath::Exact(path) => *path = command::by_name(path),
        TouchedPath::Below { directory, pattern } => {
            *directory = command::by_name(directory);
            *pattern = command::by_name(pattern);
        }
        TouchedPath::Unknown(_) => {}
    }
}

fn unroot(path: &mut TouchedPath) {
    match path {
        TouchedPath::Exact(path) => unroot_text(path),
        TouchedPath::Below { directory, pattern } => {
            unroot_text(directory);
            unroot_text(pattern);
        }
        TouchedPath::Unknown(_) => {}
    }
}

fn unroot_text(path: &mut String) {
    let is_drive =
        matches!(path.as_bytes(), [b'/', letter, b':', ..] if letter.is_ascii_alphabetic());
    if is_drive {
        path.remove(0);
    }
}

/// The file a program is started from, where its name says so.
pub(crate) fn own_file(name: &Word, scene: Scene<'_>) -> Vec<(TouchedPath, Mode)> {
    if !name.text.contains(['/', '\\']) {
        return Vec::new();
    }
    let paths = scene.paths(&name.text, false).into_iter();
    paths.map(|(path, _)| (path, Mode::Read)).collect()
}

/// What a shell that is read here runs, by its name in lower case.
pub(crate) fn inner(name: &str, words: &[Word]) -> Option<Inner> {
    let base = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
    match base.as_str() {
        "powershell" | "pwsh" | "pwsh-preview" => Some(powershell(words, base == "powershell")),
        "cmd" => Some(cmd(words)),
        _ => None,
    }
}

/// The rest of the words as one text.
fn joined(words: &[Word]) -> Option<Word> {
    let (first, last) = (words.first()?, words.last()?);
    let texts: Vec<&str> = words.iter().map(|it| it.text.as_str()).collect();
    let is_known = words.iter().all(Word::is_known);
    Some(Word {
        range: first.range.start..last.range.end.max(first.range.end),
        text: texts.join(" "),
        kind: if is_known {
            WordKind::Known
        } else {
            WordKind::Dynamic
        },
        is_single: true,
    })
}

/// Options of PowerShell that take a value, and those that take none.
const VALUES: [&str; 11] = [
    "executionpolicy",
    "ep",
    "workingdirectory",
    "wd",
    "windowstyle",
    "inputformat",
    "if",
    "outputformat",
    "of",
    "configurationname",
    "custompipename",
];
const SWITCHES: [&str; 9] = [
    "noprofile",
    "nologo",
    "noninteractive",
    "noexit",
    "interactive",
    "login",
    "sta",
    "mta",
    "noprofileloadtime",
];

fn powershell(words: &[Word], is_old: bool) -> Inner {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let rest = words.get(at + 1..).unwrap_or_default();
        let option = word.text.strip_prefix(['-', '/']);
        let Some(option) = option.filter(|_| word.is_known() && !word.text.contains(['.', '\\']))
        else {
            let is_file = !is_old || word.text.to_ascii_lowercase().ends_with(".ps1");
            return match (is_file, joined(words.get(at..).unwrap_or_default())) {
                (true, _) => Inner::File(word.clone()),
                (false, Some(text)) => Inner::PowerShell(text),
                (false, None) => Inner::Nothing,
            };
        };
        let option = option.trim_start_matches('-').to_ascii_lowercase();
        let is = |name: &str| !option.is_empty() && name.starts_with(&option);
        let is_of = |names: &[&str]| names.iter().any(|name| is(name));
        if is("command") {
            return match joined(rest) {
                Some(text) if text.text == "-" => Inner::Opaque(word.clone(), "it runs its input"),
                Some(text) => Inner::PowerShell(text),
                None => Inner::Nothing,
            };
        }
        if is("file") {
            return rest
                .first()
                .map_or(Inner::Nothing, |it| Inner::File(it.clone()));
        }
        if is("encodedcommand") || option == "ec" {
            return Inner::Opaque(word.clone(), "the text that is run is encoded");
        }
        if matches!(option.as_str(), "version" | "v" | "help" | "h" | "?") && !is_old {
            return Inner::Nothing;
        }
        if is_of(&SWITCHES) {
            at += 1;
        } else if is_of(&VALUES) {
            at += 2;
        } else {
            return Inner::Opaque(word.clone(), "this option is not known");
        }
    }
    match words {
        [] => Inner::Nothing,
        [first, ..] => Inner::Opaque(first.clone(), "it runs its input"),
    }
}

fn cmd(words: &[Word]) -> Inner {
    for (index, word) in words.iter().enumerate() {
        let option = word.text.to_ascii_lowercase();
        match option.as_str() {
            "/c" | "/k" | "/r" if word.is_known() => {
                let rest = words.get(index + 1..).unwrap_or_default();
                // What follows is handed over as one text, in which a word with blanks is quoted again.
                let is_many = rest.len() > 1;
                let quoted = rest.iter().map(|it| Word {
                    text: if is_many && it.text.contains(' ') {
                        format!("\"{}\"", it.text)
                    } else {
                        it.text.clone()
                    },
                    ..it.clone()
                });
                let rest = joined(&quoted.collect::<Vec<_>>());
                return rest.map_or(Inner::Nothing, Inner::Cmd);
            }
            "/d" | "/s" | "/q" | "/a" | "/u" if word.is_known() => {}
            _ => return Inner::Opaque(word.clone(), "this option is not known"),
        }
    }
    Inner::Nothing
}

/// Whether a row of the table tells what a program of Windows does.
pub(crate) fn row(lower: &str) -> Option<&'static data::Cmdlet> {
    let bare = lower.strip_suffix(".exe").unwrap_or(lower);
    data::command_of(lower).or_else(|| data::command_of(bare))
}
