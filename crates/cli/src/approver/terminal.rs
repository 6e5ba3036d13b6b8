//! Asks at the terminal, and only there: standard input may be a script.

use super::render;
use gate::{
    BoxFuture,
    access::AskUser,
    g2_admit::{Approver, Question, Reply},
    g3_confine::Order,
};
use rustix::termios::{QueueSelector, tcflush};
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

    async fn line(&self, prompt: String) -> io::Result<String> {
        let _turn = self.turn.lock().await;
        let file = self.file.clone();
        let read = tokio::task::spawn_blocking(move || read_line(&file, &prompt));
        read.await
            .unwrap_or_else(|error| Err(io::Error::other(error)))
    }

    async fn reply(&self, question: String, is_session_offered: bool) -> Reply {
        let choices = if is_session_offered {
            "o once, s for this session (exactly this), r reject, w reject with a word"
        } else {
            "o once, r reject, w reject with a word"
        };
        let mut prompt = format!("{question}  [{choices}] ");
        loop {
            let Ok(line) = self.line(prompt).await else {
                return Reply::Nobody {
                    why: "the terminal went away".to_owned(),
                };
            };
            let who = "the person at the terminal".to_owned();
            match line.trim() {
                "o" | "once" => return Reply::Once { who },
                "s" | "session" if is_session_offered => return Reply::Session { who },
                "r" | "reject" => return Reply::Reject { who, word: None },
                "w" => return self.reject_with_word(who).await,
                _ => prompt = format!("  please answer with one letter [{choices}] "),
            }
        }
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
        let (text, is_session_offered) = (render(&question), question.is_session_offered);
        Box::pin(self.reply(text, is_session_offered))
    }

    fn put<'a>(&'a self, question: &'a Order<AskUser>) -> BoxFuture<'a, Option<String>> {
        let words = text::escape::visible(question.access().question());
        Box::pin(async move {
            let prompt = format!("\n? the model asks, in its own words:\n    {words}\n  > ");
            self.line(prompt)
                .await
                .ok()
                .map(|line| line.trim_end().to_owned())
        })
    }
}
