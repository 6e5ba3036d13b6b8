//! Putting questions to a person.

use std::fmt;

/// Leave is asked to put these questions.
#[derive(Debug)]
pub struct AskUser {
    inquiries: Vec<Inquiry>,
}

/// One question of the model. All of it is the model's own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inquiry {
    /// The question.
    pub question: String,
    /// A short name for it.
    pub header: String,
    /// What may be chosen.
    pub choices: Vec<Choice>,
    /// Whether more than one may be.
    pub takes_several: bool,
    /// Whether words of one's own are an answer too.
    pub takes_own_words: bool,
}

/// One answer that is offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The answer.
    pub label: String,
    /// What it means.
    pub description: String,
}

impl AskUser {
    /// Puts these, together.
    pub fn new(inquiries: Vec<Inquiry>) -> Self {
        Self { inquiries }
    }

    /// The questions, in order.
    pub fn inquiries(&self) -> &[Inquiry] {
        &self.inquiries
    }
}

impl Inquiry {
    /// A question that is answered in one's own words.
    pub fn open(question: impl Into<String>) -> Self {
        Self {
            question: question.into(),
            header: String::new(),
            choices: Vec::new(),
            takes_several: false,
            takes_own_words: true,
        }
    }
}

/// The line the journal keeps.
impl fmt::Display for AskUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ask")?;
        let mut between = " ";
        for inquiry in &self.inquiries {
            write!(f, "{between}`{}`", inquiry.question)?;
            between = ", ";
        }
        Ok(())
    }
}
