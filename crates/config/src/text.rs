//! A string of a configuration that may refer to the environment or to a file.
//! Must not look anything up: whoever resolves it says what a reference stands for.

use std::fmt;
use std::path::{Path, PathBuf};

use policy::Origin;

/// What a `{env:NAME}` or `{file:PATH}` in a string stands for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Reference {
    /// A variable of the environment.
    Env(String),
    /// The text of a file, without white space at its ends; the path is absolute.
    File(PathBuf),
}

/// A string, with references that nobody has followed yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    parts: Vec<Part>,
    origin: Origin,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Plain(String),
    Reference(Reference),
}

/// A string that must not be shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Text);

/// A reference that stands for nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{origin}: {reference} stands for nothing: {}",
    what_is_missing(reference)
)]
pub struct Unresolved {
    /// The reference.
    pub reference: Reference,
    /// Where the string it is part of is written.
    pub origin: Origin,
}

fn what_is_missing(reference: &Reference) -> &'static str {
    match reference {
        Reference::Env(_) => "the variable is not set",
        Reference::File(_) => "the file cannot be read",
    }
}

/// Where a file stands, for the paths that are written in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bearings<'a> {
    /// The folder of the file, if it is one.
    pub(crate) folder: Option<&'a Path>,
    /// What `~` stands for.
    pub(crate) home: Option<&'a str>,
}

impl Text {
    /// Takes a string apart.
    ///
    /// # Errors
    /// What is wrong with a reference in it, for a person.
    pub(crate) fn read(
        written: &str,
        origin: Origin,
        bearings: Bearings<'_>,
    ) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = written;
        while let Some((before, kind, behind)) = next_reference(rest) {
            let Some((target, after)) = behind.split_once('}') else {
                return Err(format!("`{{{kind}:` is not closed"));
            };
            if target.is_empty() {
                return Err(format!("`{{{kind}:}}` names nothing"));
            }
            if !before.is_empty() {
                parts.push(Part::Plain(before.to_owned()));
            }
            parts.push(Part::Reference(match kind {
                "env" => Reference::Env(target.to_owned()),
                _ => Reference::File(absolute(target, bearings)?),
            }));
            rest = after;
        }
        if !rest.is_empty() || parts.is_empty() {
            parts.push(Part::Plain(rest.to_owned()));
        }
        Ok(Self { parts, origin })
    }

    /// Where it is written.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The whole string, if it refers to nothing.
    pub fn plain(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Plain(text)] => Some(text),
            _ => None,
        }
    }

    /// Whether it says the same, wherever it is written.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.parts == other.parts
    }

    /// What it refers to, in order.
    pub fn references(&self) -> impl Iterator<Item = &Reference> {
        self.parts.iter().filter_map(|part| match part {
            Part::Plain(_) => None,
            Part::Reference(reference) => Some(reference),
        })
    }

    /// The string with its references replaced by what `look_up` says they stand for. What is put in
    /// is not looked at again.
    ///
    /// # Errors
    /// [`Unresolved`] for the first that stands for nothing.
    pub fn resolve(
        &self,
        look_up: &dyn Fn(&Reference) -> Option<String>,
    ) -> Result<String, Unresolved> {
        let mut whole = String::new();
        for part in &self.parts {
            match part {
                Part::Plain(text) => whole.push_str(text),
                Part::Reference(reference) => {
                    let found = look_up(reference).ok_or_else(|| Unresolved {
                        reference: reference.clone(),
                        origin: self.origin.clone(),
                    })?;
                    match reference {
                        Reference::Env(_) => whole.push_str(&found),
                        Reference::File(_) => whole.push_str(found.trim()),
                    }
                }
            }
        }
        Ok(whole)
    }
}

impl Secret {
    pub(crate) fn new(text: Text) -> Self {
        Self(text)
    }

    /// The string behind it. Its `Debug` shows it, so keep it short.
    pub fn text(&self) -> &Text {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl fmt::Display for Reference {
    /// As it would be written; characters that could deceive a terminal are escaped.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Env(name) => write!(f, "{{env:{}}}", name.escape_debug()),
            Self::File(path) => {
                let path = path.display().to_string();
                write!(f, "{{file:{}}}", path.escape_debug())
            }
        }
    }
}

/// Whether a string holds what would be a reference, well-formed or not.
pub(crate) fn refers(written: &str) -> bool {
    next_reference(written).is_some()
}

/// The text before the next reference, its kind, and what follows its colon.
fn next_reference(text: &str) -> Option<(&str, &'static str, &str)> {
    let find = |kind: &'static str, opening: &str| {
        let (before, behind) = text.split_once(opening)?;
        Some((before, kind, behind))
    };
    let found = [find("env", "{env:"), find("file", "{file:")];
    found
        .into_iter()
        .flatten()
        .min_by_key(|(before, ..)| before.len())
}

fn absolute(written: &str, bearings: Bearings<'_>) -> Result<PathBuf, String> {
    let path = Path::new(written);
    if path.is_absolute() {
        return Ok(path.to_owned());
    }
    if let Ok(below_home) = path.strip_prefix("~") {
        let home = bearings.home.filter(|home| Path::new(home).is_absolute());
        let home = home.ok_or("the home directory is not known: write the path out")?;
        return Ok(Path::new(home).join(below_home));
    }
    let folder = bearings.folder.filter(|folder| folder.is_absolute());
    let folder =
        folder.ok_or_else(|| format!("`{written}` is relative to no file: write the path out"))?;
    Ok(folder.join(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(written: &str) -> Result<Text, String> {
        let bearings = Bearings {
            folder: Some(Path::new("/etc/x")),
            home: Some("/home/u"),
        };
        Text::read(written, Origin::named("t"), bearings)
    }

    fn resolved(written: &str) -> String {
        let look_up = |reference: &Reference| match reference {
            Reference::Env(name) => Some(format!("<{name}>")),
            Reference::File(path) => Some(format!(" [{}]\n", path.display())),
        };
        read(written).unwrap().resolve(&look_up).unwrap()
    }

    #[test]
    fn references_are_put_in_where_they_stand() {
        for (written, want) in [
            ("", ""),
            ("plain {x} {env} }", "plain {x} {env} }"),
            ("{env:A}", "<A>"),
            ("a{env:A}b{file:/f}c", "a<A>b[/f]c"),
            ("{file:p.md}{env:A}", "[/etc/x/p.md]<A>"),
            ("{file:~/p.md}", "[/home/u/p.md]"),
            ("{file:../p}", "[/etc/x/../p]"),
        ] {
            assert_eq!(resolved(written), want, "{written}");
            let is_plain = read(written).unwrap().plain() == Some(written);
            assert_eq!(is_plain, !refers(written), "{written}");
        }
    }

    #[test]
    fn what_is_put_in_is_not_looked_at_again() {
        let text = read("{env:A}").unwrap();
        let found = text.resolve(&|_| Some("{env:B}".to_owned()));
        assert_eq!(found.as_deref(), Ok("{env:B}"));
    }

    #[test]
    fn a_reference_that_stands_for_nothing_is_an_error_with_its_place() {
        let error = read("x{env:A\u{1b}}")
            .unwrap()
            .resolve(&|_| None)
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "t: {env:A\\u{1b}} stands for nothing: the variable is not set"
        );
    }

    #[test]
    fn a_reference_that_cannot_be_read_is_an_error() {
        for written in ["{env:", "{env:}", "a {file:x", "{file:}"] {
            assert!(read(written).is_err(), "{written}");
        }
        let nowhere = Bearings {
            folder: None,
            home: None,
        };
        for written in ["{file:x}", "{file:~/x}"] {
            assert!(Text::read(written, Origin::named("t"), nowhere).is_err());
        }
        assert!(Text::read("{file:/x}", Origin::named("t"), nowhere).is_ok());
    }

    #[test]
    fn a_secret_does_not_show_itself() {
        let secret = Secret::new(read("sk-123").unwrap());
        assert_eq!(format!("{secret:?}"), "Secret(..)");
        assert_eq!(secret.text().plain(), Some("sk-123"));
    }
}
