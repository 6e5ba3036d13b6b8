//! Follows redirects. It must not open anything.

use std::rc::Rc;

use super::field::Use;
use super::state::{State, Stdin, Value};
use super::{Frame, Walker};
use crate::line::{Host, Mode, Redirect, RedirectOp, Touch, TouchedPath, Word, WordKind};
use crate::path::{before_wildcard, is_neutral, peer, reached};
use crate::syntax::{self, Target};

impl Walker<'_> {
    /// Follows the redirects of a command and what they put on standard input.
    pub(super) fn redirects(
        &mut self,
        frame: &Rc<Frame>,
        redirects: &[syntax::Redirect],
        state: &mut State,
    ) -> Vec<Redirect> {
        let mut made = Vec::with_capacity(redirects.len());
        for redirect in redirects {
            let redirect = self.redirect(frame, redirect, state);
            let reads = matches!(
                redirect.op,
                RedirectOp::Read | RedirectOp::Text | RedirectOp::ReadWrite
            );
            if redirect.fd == Some(0) || (redirect.fd.is_none() && reads) {
                state.stdin = match redirect.op {
                    RedirectOp::Text if redirect.target.is_known() => {
                        let text = redirect.target.text.as_str().into();
                        Stdin::Text(text, redirect.target.range.clone())
                    }
                    _ => Stdin::Unknown,
                };
            }
            made.push(redirect);
        }
        made
    }

    fn redirect(
        &mut self,
        frame: &Rc<Frame>,
        redirect: &syntax::Redirect,
        state: &mut State,
    ) -> Redirect {
        let range = frame.range(&redirect.range);
        let target = match &redirect.target {
            Target::Heredoc(index, delimiter) => self.heredoc(frame, *index, delimiter, state),
            Target::Word(word) if redirect.op == RedirectOp::Text => {
                let mut word = self.single(frame, word, state);
                word.text.push('\n');
                word
            }
            Target::Word(word) => {
                let mut words = Vec::with_capacity(1);
                self.word(frame, word, Use::Words, state, &mut words);
                let range = frame.range(&word.range);
                match words.pop() {
                    Some(value) if words.is_empty() => value,
                    _ => Word {
                        range,
                        text: frame.source(&word.range).to_owned(),
                        kind: WordKind::Dynamic,
                        is_single: false,
                    },
                }
            }
        };
        if let Some(name) = &redirect.variable {
            self.set(name, Value::Number, &range, state);
        }
        let op = match redirect.op {
            RedirectOp::Duplicate if target.is_known() && !is_descriptor(&target.text) => {
                RedirectOp::Both
            }
            op => op,
        };
        let made = Redirect {
            range,
            fd: redirect.fd,
            op,
            target,
        };
        self.touch(&made, state);
        made
    }

    /// Follows the body of a here-document.
    fn heredoc(
        &mut self,
        frame: &Rc<Frame>,
        index: usize,
        delimiter: &syntax::Word,
        state: &mut State,
    ) -> Word {
        let heredocs = Rc::clone(&frame.heredocs);
        let Some(heredoc) = heredocs.get(index) else {
            return Word::literal("", frame.range(&delimiter.range));
        };
        let range = frame.range(&heredoc.range);
        let text = self.text_of(frame, &heredoc.parts, state);
        let kind = if text.is_some() {
            WordKind::Literal
        } else {
            WordKind::Dynamic
        };
        let source = || frame.source(&heredoc.range).to_owned();
        let mut text = text.unwrap_or_else(source);
        if kind == WordKind::Literal {
            text = without_tabs(frame, delimiter, text);
        }
        Word {
            range,
            text,
            kind,
            is_single: true,
        }
    }

    /// Notes what a redirect reads or writes.
    fn touch(&mut self, redirect: &Redirect, state: &State) {
        let (reads, writes) = match redirect.op {
            RedirectOp::Text => return,
            RedirectOp::Duplicate if redirect.target.is_known() => return,
            RedirectOp::Read => (true, false),
            RedirectOp::ReadWrite => (true, true),
            RedirectOp::Write
            | RedirectOp::Append
            | RedirectOp::Clobber
            | RedirectOp::Both
            | RedirectOp::Duplicate => (false, true),
        };
        let target = &redirect.target;
        if !self.is_local || target.text.starts_with("<(") || target.text.starts_with(">(") {
            return;
        }
        let modes = [(reads, Mode::Read), (writes, Mode::Write)];
        let modes = modes
            .into_iter()
            .filter_map(|(is_so, mode)| is_so.then_some(mode));
        let mut paths = Vec::new();
        match target.kind {
            WordKind::Dynamic => {
                let why = format!("the value of `{}` is not known", target.text);
                paths.push(TouchedPath::Unknown(why));
            }
            WordKind::Literal | WordKind::Known | WordKind::Glob if target.text.is_empty() => {
                paths.push(TouchedPath::Unknown("the path is empty".to_owned()));
            }
            WordKind::Literal | WordKind::Known | WordKind::Glob => {
                if let Some((host, port)) = peer(&target.text) {
                    let is_known = target.is_known();
                    let name = host.to_ascii_lowercase();
                    let range = redirect.range.clone();
                    return self.line.hosts.push(Host {
                        is_of_program: false,
                        name,
                        port,
                        is_known,
                        range,
                        by: None,
                    });
                }
                paths = paths_of(&target.text, target.kind, state);
            }
        }
        for mode in modes {
            for path in &paths {
                self.line.touches.push(Touch {
                    path: path.clone(),
                    mode,
                    is_certain: true,
                    range: redirect.range.clone(),
                    by: None,
                });
            }
        }
    }
}

/// The files that a word may name: one for each directory the shell may be in.
fn paths_of(text: &str, kind: WordKind, state: &State) -> Vec<TouchedPath> {
    let is_absolute = text.starts_with('/');
    let places = match state.places.as_deref() {
        _ if is_absolute => vec!["/".into()],
        Some(places) => places.to_vec(),
        None => {
            let why = format!("`{text}` depends on a directory that is not known");
            return vec![TouchedPath::Unknown(why)];
        }
    };
    let mut paths = Vec::new();
    for place in places {
        if kind == WordKind::Glob {
            if text.split('/').any(|segment| segment == "..") {
                let why = format!("`{text}` may climb out of what it matches");
                return vec![TouchedPath::Unknown(why)];
            }
            let pattern = reached(&place, text);
            let directory = before_wildcard(&pattern);
            paths.push(TouchedPath::Below { directory, pattern });
            continue;
        }
        let path = reached(&place, text);
        if !is_neutral(&path) {
            paths.push(TouchedPath::Exact(path));
        }
    }
    paths
}

/// The body of a here-document without the tabs that `<<-` takes off.
fn without_tabs(frame: &Frame, delimiter: &syntax::Word, text: String) -> String {
    let before = frame.text.get(..delimiter.range.start).unwrap_or_default();
    if !before.trim_end().ends_with("<<-") {
        return text;
    }
    text.split_inclusive('\n')
        .map(|line| line.trim_start_matches('\t'))
        .collect()
}

/// Whether the target of `>&` is a descriptor, or closes one.
fn is_descriptor(text: &str) -> bool {
    let digits = text.strip_suffix('-').unwrap_or(text);
    digits.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty()
}
