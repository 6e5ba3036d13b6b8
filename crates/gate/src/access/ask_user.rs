//! Putting a question to a person.

/// Leave is asked to put this question.
#[derive(Debug)]
pub struct AskUser {
    question: String,
}

impl AskUser {
    /// The question, in the model's own words.
    pub fn new(question: impl Into<String>) -> Self {
        Self {
            question: question.into(),
        }
    }

    /// The question.
    pub fn question(&self) -> &str {
        &self.question
    }
}
