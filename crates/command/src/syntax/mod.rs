//! Shell text to its tree. It must not judge what a command does, and must never take for understood what it merely got past.

use std::rc::Rc;

pub(crate) use list::is_keyword;
pub(crate) use tree::*;

use crate::line::{Shell, Unknown};
use cursor::Parser;

mod compound;
mod cursor;
mod escape;
mod expansion;
mod heredoc;
mod list;
mod redirect;
mod simple;
mod test;
mod tree;
mod word;

/// Longest text that is read, in bytes; a longer one is "cannot tell" as a whole.
pub const TEXT_BYTES_MAX: usize = 64 * 1024;

/// Deepest nesting of groups and substitutions that is read; what lies deeper is "cannot tell".
pub const DEPTH_MAX: usize = 40;

/// Reads `text`. It is total: any text has a tree, and what is not understood is listed in it.
pub(crate) fn parse(text: &str, shell: Shell) -> Script {
    if text.len() > TEXT_BYTES_MAX {
        return Script {
            text: text.into(),
            list: List::new(),
            heredocs: Rc::new([]),
            command_count: 0,
            unknown: vec![Unknown {
                range: 0..text.len(),
                what: "text that is too long".into(),
            }],
        };
    }
    parse_nested(text, shell, 0)
}

/// Reads a text that stands `depth` deep in another.
fn parse_nested(text: &str, shell: Shell, depth: usize) -> Script {
    let mut parser = Parser::new(text, shell, depth);
    let list = parser.script();
    Script {
        text: text.into(),
        list,
        heredocs: parser.heredocs.into(),
        command_count: parser.command_count,
        unknown: parser.unknown,
    }
}
