//! Asks at the terminal, and only there: standard input may be a script.

use super::{
    choice::{Choice, ESCAPE, WARNING, menu, read_escape},
    question::{render, render_inquiry, render_level, render_rule},
    sheet::folded,
};
use gate::{
    BoxFuture,
    access::{AskUser, Inquiry},
    g2_admit::{Answers, Approver, Keepable, Question, Reply, Scope},
    g3_confine::Order,
};
use policy::{Pattern, Rule};
use rustix::termios::{QueueSelector, tcflush, tcgetwinsize};
use std::{
    fs::{File, OpenOptions},
    io::{self, BufRead, BufReader, Write},
    sync::Arc,
};
use tokio::sync::Mutex;

/// The controlling terminal. One question at a time.
#[derive(Debug)]
pub(crate) struct Terminal {
    file: Arc<File>,
    turn: Mutex<()>,
}

impl Terminal {
    /// # Errors
    /// There is none.
    pub(crate) fn open() -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open("/dev/tty")?;
        Ok(Self {
            file: Arc::new(file),
            turn: Mutex::new(()),
        })
    }

    /// Asks one thing, for a command that waits for nothing else. What was typed before does not count.
    ///
    /// # Errors
    /// The terminal went away.
    pub(crate) fn ask_now(&self, prompt: &str) -> io::Result<String> {
        read_line(&self.file, prompt)
    }

    /// How wide it is now; a usual width where it does not say.
    fn columns(&self) -> usize {
        match tcgetwinsize(&*self.file).map(|size| size.ws_col) {
            Ok(0) | Err(_) => COLUMNS_DEFAULT,
            Ok(columns) => columns.into(),
        }
    }

    async fn line(&self, prompt: String) -> io::Result<String> {
        let file = self.file.clone();
        let read = tokio::task::spawn_blocking(move || read_line(&file, &prompt));
        read.await
            .unwrap_or_else(|error| Err(io::Error::other(error)))
    }

    async fn reply(&self, question: String, keepable: &Keepable) -> Reply {
        let _turn = self.turn.lock().await;
        let reply = self.choose(question, keepable).await;
        reply.unwrap_or_else(|_| gone())
    }

    /// Asks what only a person may say yes to.
    async fn reply_in_person(&self, question: String) -> Reply {
        let _turn = self.turn.lock().await;
        let reply = self.choose_in_person(question).await;
        reply.unwrap_or_else(|_| gone())
    }

    async fn choose_in_person(&self, question: String) -> io::Result<Reply> {
        let mut prompt = format!("{question}  [{ESCAPE}] ");
        loop {
            let line = self.line(prompt).await?;
            let who = WHO.to_owned();
            match read_escape(&line) {
                Some(Choice::Once) => return Ok(Reply::Once { who }),
                Some(Choice::Reject) => return Ok(Reply::Reject { who, word: None }),
                Some(Choice::RejectWithWord) => return Ok(self.reject_with_word(who).await),
                Some(Choice::Keep(..) | Choice::Edit(_) | Choice::Everything) | None => {}
            }
            prompt = format!("  please type `yes` or one letter [{ESCAPE}] ");
        }
    }

    async fn choose(&self, question: String, keepable: &Keepable) -> io::Result<Reply> {
        let count = keepable.levels.len();
        let menu = menu(count);
        let mut prompt = format!("{question}  [{menu}] ");
        loop {
            let line = self.line(prompt).await?;
            let who = WHO.to_owned();
            let said = match Choice::read(&line, count) {
                Some(Choice::Once) => return Ok(Reply::Once { who }),
                Some(Choice::Keep(scope, level)) => {
                    let rules = keepable.levels.get(level).cloned();
                    return Ok(Reply::Always { who, scope, rules });
                }
                Some(Choice::Edit(level)) => match self.edit(keepable, level).await? {
                    Ok((scope, rules)) => {
                        let rules = Some(rules);
                        return Ok(Reply::Always { who, scope, rules });
                    }
                    Err(why) => folded("not kept: ", &why, self.columns()),
                },
                Some(Choice::Everything) => {
                    if self.line(WARNING.to_owned()).await?.trim() == "everything" {
                        let scope = Scope::Session;
                        return Ok(Reply::Everything { who, scope });
                    }
                    "not everything".to_owned()
                }
                Some(Choice::Reject) => return Ok(Reply::Reject { who, word: None }),
                Some(Choice::RejectWithWord) => return Ok(self.reject_with_word(who).await),
                None => "please answer with one letter".to_owned(),
            };
            prompt = format!("  {said} [{menu}] ");
        }
    }

    /// Lets the person write what is kept. The inner error is for them.
    async fn edit(
        &self,
        keepable: &Keepable,
        level: usize,
    ) -> io::Result<Result<(Scope, Vec<Rule>), String>> {
        let mut rules = keepable.levels.get(level).cloned().unwrap_or_default();
        for rule in &mut rules {
            let shown = render_rule(rule);
            let shown = folded("  ", &format!("{shown}, or else: "), self.columns());
            let typed = self.line(shown).await?;
            if typed.trim().is_empty() {
                continue;
            }
            match Pattern::read(typed.trim()) {
                Ok(pattern) => rule.pattern = pattern,
                Err(fault) => return Ok(Err(fault.to_string())),
            }
        }
        if let Err(why) = keepable.accepts(&rules) {
            return Ok(Err(why));
        }
        let kept = folded("  keep ", &render_level(&rules), self.columns());
        let where_to = format!("{kept}: s in this session, p in this project, g everywhere ");
        let line = self.line(where_to).await?;
        Ok(match Choice::read(&line, 1) {
            Some(Choice::Keep(scope, 0)) => Ok((scope, rules)),
            _ => Err("no place was named".to_owned()),
        })
    }

    async fn reject_with_word(&self, who: String) -> Reply {
        match self.line("  what should it do instead? ".to_owned()).await {
            Ok(word) if !word.trim().is_empty() => Reply::Reject {
                who,
                word: Some(word.trim().to_owned()),
            },
            Ok(_) | Err(_) => Reply::Reject { who, word: None },
        }
    }

    async fn answers(&self, inquiries: &[Inquiry]) -> Answers {
        let _turn = self.turn.lock().await;
        let mut answers = Vec::new();
        for inquiry in inquiries {
            match self.answer(inquiry).await {
                Some(answer) => answers.push(answer),
                None => return Answers::Nobody,
            }
        }
        if answers.iter().all(Vec::is_empty) {
            return Answers::Dismissed;
        }
        Answers::Given(answers)
    }

    /// `None`: the terminal went away.
    async fn answer(&self, inquiry: &Inquiry) -> Option<Vec<String>> {
        let how = match (inquiry.takes_several, inquiry.takes_own_words) {
            (true, true) => "numbers with commas, or your own words",
            (true, false) => "numbers with commas",
            (false, true) => "a number, or your own words",
            (false, false) => "a number",
        };
        let mut prompt = format!(
            "\n{}  [{how}; empty to leave it open] ",
            render_inquiry(inquiry, self.columns())
        );
        loop {
            let line = self.line(prompt).await.ok()?;
            if let Some(answer) = chosen(inquiry, &line) {
                return Some(answer);
            }
            prompt = format!("  please answer with {how} ");
        }
    }
}

/// The width of a terminal that has none.
const COLUMNS_DEFAULT: usize = 80;

/// Who says yes here, for the record.
const WHO: &str = "the person at the terminal";

fn gone() -> Reply {
    let why = "the terminal went away".to_owned();
    Reply::Nobody { why }
}

/// What was typed before the question was seen is no answer to it.
fn read_line(file: &File, prompt: &str) -> io::Result<String> {
    let mut out = file;
    out.write_all(prompt.as_bytes())?;
    out.flush()?;
    tcflush(file, QueueSelector::IFlush)?;
    let mut line = String::new();
    let count = BufReader::new(file).read_line(&mut line)?;
    if count == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(line)
}

impl Approver for Terminal {
    fn ask<'a>(&'a self, question: Question<'a>) -> BoxFuture<'a, Reply> {
        Box::pin(self.reply(render(&question, self.columns()), question.keepable))
    }

    fn ask_person<'a>(&'a self, question: Question<'a>) -> BoxFuture<'a, Reply> {
        Box::pin(self.reply_in_person(render(&question, self.columns())))
    }

    fn put<'a>(&'a self, inquiries: &'a Order<AskUser>) -> BoxFuture<'a, Answers> {
        Box::pin(self.answers(inquiries.access().inquiries()))
    }
}

/// What a typed line answers; `None`: nothing that was offered.
fn chosen(inquiry: &Inquiry, line: &str) -> Option<Vec<String>> {
    let line = line.trim();
    if line.is_empty() {
        return Some(Vec::new());
    }
    let label = |number: &str| {
        let at = number.trim().parse::<usize>().ok()?.checked_sub(1)?;
        Some(inquiry.choices.get(at)?.label.clone())
    };
    let labels: Option<Vec<String>> = line.split(',').map(label).collect();
    match labels {
        Some(labels) if labels.len() == 1 || inquiry.takes_several => Some(labels),
        _ => inquiry.takes_own_words.then(|| vec![line.to_owned()]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gate::access::Choice;

    fn inquiry(takes_several: bool, takes_own_words: bool) -> Inquiry {
        let choice = |label: &str| Choice {
            label: label.into(),
            description: String::new(),
        };
        Inquiry {
            choices: vec![choice("red"), choice("blue")],
            takes_several,
            takes_own_words,
            ..Inquiry::open("which?")
        }
    }

    #[test]
    fn a_line_chooses_by_number_or_says_it_in_its_own_words() {
        let check = |several, own, line: &str, want: Option<&[&str]>| {
            let got = chosen(&inquiry(several, own), line);
            let want = want.map(|want| want.iter().map(|&it| it.to_owned()).collect());
            assert_eq!(got, want, "{several} {own} {line:?}");
        };
        check(false, false, " 2\n", Some(&["blue"]));
        check(false, false, "", Some(&[]));
        check(false, false, "1,2", None);
        check(false, false, "green", None);
        check(false, false, "0", None);
        check(false, false, "3", None);
        check(false, true, "3", Some(&["3"]));
        check(false, true, "1, 2", Some(&["1, 2"]));
        check(true, false, "1, 2", Some(&["red", "blue"]));
        check(true, true, "green", Some(&["green"]));
    }
}
