//! The tree of a shell text. It must not hold what a word means, only how it is written.

use std::ops::{Deref, Range};
use std::rc::Rc;

use crate::line::{RedirectOp, Unknown};

/// A text and what stands in it. All ranges are ranges of this text.
#[derive(Debug)]
pub(crate) struct Script {
    pub text: Rc<str>,
    pub list: List,
    pub heredocs: Rc<[Heredoc]>,
    /// How many simple commands are written in it.
    pub command_count: usize,
    pub unknown: Vec<Unknown>,
}

/// Commands one after another.
pub(crate) type List = Vec<AndOr>;

/// Pipelines joined by `&&` and `||`.
#[derive(Debug)]
pub(crate) struct AndOr {
    pub first: Pipeline,
    pub rest: Vec<(Join, Pipeline)>,
    /// Ended by `&`.
    pub is_background: bool,
}

impl AndOr {
    pub(crate) fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        std::iter::once(&self.first).chain(self.rest.iter().map(|(_, it)| it))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Join {
    /// `&&`
    And,
    /// `||`
    Or,
}

/// Commands joined by `|`.
#[derive(Debug)]
pub(crate) struct Pipeline {
    pub commands: Vec<Command>,
    /// Behind an odd number of `!`: success and failure change places.
    pub is_negated: bool,
}

/// One command with the redirects on it as a whole.
#[derive(Debug)]
pub(crate) struct Command {
    pub range: Range<usize>,
    pub kind: CommandKind,
    pub redirects: Vec<Redirect>,
}

#[derive(Debug)]
pub(crate) enum CommandKind {
    Simple(Simple),
    /// `{ }`
    Group(List),
    /// `( )`
    Subshell(List),
    If {
        /// Conditions and what they lead to.
        branches: Vec<(List, List)>,
        otherwise: Option<List>,
    },
    /// `while` and `until`
    While {
        condition: List,
        body: List,
    },
    /// `for` and `select`
    For(ForLoop),
    /// `for (( ))`
    Count {
        arithmetic: Vec<Part>,
        body: List,
    },
    Case {
        subject: Word,
        arms: Vec<Arm>,
    },
    /// `[[ ]]`
    Test(Vec<Operand>),
    /// `(( ))`
    Arithmetic(Vec<Part>),
    Function {
        name: Word,
        body: Rc<Command>,
    },
    Coprocess {
        name: Option<String>,
        body: Box<Command>,
    },
}

#[derive(Debug)]
pub(crate) struct ForLoop {
    pub name: String,
    /// `None`: the positional parameters.
    pub words: Option<Vec<Word>>,
    pub is_select: bool,
    pub body: List,
}

/// One alternative of a `case`.
#[derive(Debug)]
pub(crate) struct Arm {
    pub patterns: Vec<Word>,
    pub body: List,
    /// Ended by `;&` or `;;&`: another arm may run after it.
    pub falls_through: bool,
}

/// One operand of `[[ ]]`.
#[derive(Debug)]
pub(crate) struct Operand {
    pub word: Word,
    /// It is read as an arithmetic expression or a variable.
    pub is_arithmetic: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Simple {
    pub assignments: Vec<Assignment>,
    pub words: Vec<Word>,
}

#[derive(Debug)]
pub(crate) struct Assignment {
    pub range: Range<usize>,
    pub name: String,
    /// The subscript, which is arithmetic.
    pub subscript: Option<Vec<Part>>,
    /// `+=`
    is_append: bool,
    pub value: Word,
}

impl Assignment {
    /// Takes a word apart if it is an assignment.
    pub(super) fn of(text: &str, word: Word) -> Result<Self, Word> {
        let has_sign = |it: &str| it.bytes().any(|byte| byte == b'=');
        if !text.get(word.range.clone()).is_some_and(has_sign) {
            return Err(word);
        }
        let mut name = String::new();
        let mut subscript = None;
        let mut is_append = false;
        let mut found = None;
        for (index, part) in word.parts.iter().enumerate() {
            match (&part.kind, part.is_quoted) {
                (PartKind::Text, false) => {
                    let piece = text.get(part.range.clone()).unwrap_or_default();
                    let head = piece.split('=').next().unwrap_or_default();
                    let head_length = head.len();
                    let is_end = head_length < piece.len();
                    let head = if is_append && !head.is_empty() {
                        return Err(word);
                    } else if let Some(head) = head.strip_suffix('+') {
                        is_append = true;
                        head
                    } else {
                        head
                    };
                    if subscript.is_some() && !head.is_empty() {
                        return Err(word);
                    }
                    name.push_str(head);
                    if is_end {
                        found = Some((index, part.range.start + head_length + 1));
                        break;
                    }
                }
                (PartKind::Subscript(_), _) if subscript.is_none() && !is_append => {
                    subscript = Some(index);
                }
                _ => return Err(word),
            }
        }
        let Some((index, at)) = found else {
            return Err(word);
        };
        if !is_name(&name) {
            return Err(word);
        }
        let range = word.range;
        let mut taken = None;
        let cut = |part: Part| {
            let range = at..part.range.end;
            (!range.is_empty()).then_some(Part { range, ..part })
        };
        let value = match word.parts {
            Parts::One(part) => cut(part).map_or_else(|| Parts::Many(Vec::new()), Parts::One),
            Parts::Many(parts) => {
                let mut parts = parts.into_iter();
                for (place, part) in parts.by_ref().take(index).enumerate() {
                    if let (true, PartKind::Subscript(inner)) =
                        (subscript == Some(place), part.kind)
                    {
                        taken = Some(inner);
                    }
                }
                let first = parts.next().and_then(cut);
                Parts::drained(&mut first.into_iter().chain(parts).collect())
            }
        };
        Ok(Self {
            name,
            subscript: taken,
            is_append,
            value: Word {
                range: at..range.end,
                parts: value,
            },
            range,
        })
    }

    /// Whether the value replaces the old one.
    pub(crate) fn replaces(&self) -> bool {
        !self.is_append && self.subscript.is_none()
    }
}

/// Whether `text` can name a variable.
pub(crate) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[derive(Debug)]
pub(crate) struct Redirect {
    pub range: Range<usize>,
    pub fd: Option<u32>,
    /// `{name}>`: the variable that takes the descriptor.
    pub variable: Option<String>,
    /// `>&` and `<&` are [`RedirectOp::Duplicate`] whatever their target is.
    pub op: RedirectOp,
    pub target: Target,
}

#[derive(Debug)]
pub(crate) enum Target {
    Word(Word),
    /// The place of the here-document in [`Script::heredocs`], and its delimiter.
    Heredoc(usize, Word),
}

#[derive(Debug, Default)]
pub(crate) struct Heredoc {
    pub range: Range<usize>,
    /// The body; one piece of quoted text where nothing in it is expanded.
    pub parts: Vec<Part>,
}

#[derive(Debug)]
pub(crate) struct Word {
    pub range: Range<usize>,
    pub parts: Parts,
}

/// The pieces of a word. Most words have one, which takes no room of its own.
#[derive(Debug)]
pub(crate) enum Parts {
    One(Part),
    Many(Vec<Part>),
}

impl Parts {
    /// Takes all out of `list`.
    pub(super) fn drained(list: &mut Vec<Part>) -> Self {
        match list.pop() {
            Some(part) if list.is_empty() => Self::One(part),
            last => {
                list.extend(last);
                Self::Many(std::mem::take(list))
            }
        }
    }
}

impl Deref for Parts {
    type Target = [Part];

    fn deref(&self) -> &[Part] {
        match self {
            Self::One(part) => std::slice::from_ref(part),
            Self::Many(parts) => parts,
        }
    }
}

impl Word {
    /// The text of a word without quotes and expansions.
    pub(crate) fn plain<'t>(&self, text: &'t str) -> Option<std::borrow::Cow<'t, str>> {
        let piece = |part: &Part| match part.kind {
            PartKind::Text if !part.is_quoted => text.get(part.range.clone()),
            _ => None,
        };
        match &*self.parts {
            [part] => piece(part).map(Into::into),
            parts => parts
                .iter()
                .map(piece)
                .collect::<Option<String>>()
                .map(Into::into),
        }
    }
}

/// A piece of a word.
#[derive(Debug)]
pub(crate) struct Part {
    /// Where it is, without the quotes around it.
    pub range: Range<usize>,
    pub is_quoted: bool,
    pub kind: PartKind,
}

#[derive(Debug)]
pub(crate) enum PartKind {
    /// Exactly the text at the range.
    Text,
    /// Another text: `$'\n'`.
    Decoded(String),
    Parameter(Box<Parameter>),
    /// `$( )`, backquotes and `${ ; }`
    Substitution(Box<Substitution>),
    /// `<( )` and `>( )`
    Process(List),
    /// `$(( ))` and `$[ ]`
    Arithmetic(Vec<Part>),
    /// `name[ ]=` at the start of an assignment
    Subscript(Vec<Part>),
    /// `name=( )`
    Array(Vec<Word>),
    /// `@( )` and its kin
    ExtendedGlob(Vec<Part>),
}

/// `$x` or `${x...}`.
#[derive(Debug)]
pub(crate) struct Parameter {
    pub name: String,
    pub form: Form,
}

#[derive(Debug)]
pub(crate) enum Form {
    /// The value.
    Value,
    /// `:-`, `-`, `:=`, `=`: the operand if there is no value.
    Default { assigns: bool, operand: Vec<Part> },
    /// Anything else. The parts may be run and are not the value.
    Other { parts: Vec<Part>, danger: Danger },
}

/// What evaluating an expansion may run beyond what stands in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Danger {
    None,
    /// Its parts are arithmetic.
    Arithmetic,
    /// What the variable holds is expanded again.
    Value,
}

#[derive(Debug)]
pub(crate) struct Substitution {
    pub body: Body,
    /// `${ ; }`: it runs in the shell itself.
    pub is_here: bool,
}

#[derive(Debug)]
pub(crate) enum Body {
    List(List),
    /// A text that is not written in one piece, as in nested backquotes.
    Script(Script),
}
