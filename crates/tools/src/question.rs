//! Puts questions of the model to a person and brings the answers.

use gate::{
    Problem,
    access::{AskUser, Choice, Inquiry},
    g1_decode::{ArgumentFault, Asks, Scout, Want},
    g2_admit::{Answers, Grants},
    g3_confine::CallContext,
    output::ToolOutput,
    tool::Tool,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// The tool `question`.
#[derive(Debug)]
pub struct Question;

/// What the model writes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// The questions, put together
    #[schemars(length(min = 1))]
    questions: Vec<Asked>,
}

/// One question.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
    /// The whole question
    question: String,
    /// A short name for it (30 characters at most)
    header: String,
    /// What can be chosen
    options: Vec<Offered>,
    /// Whether more than one can be chosen (false if not given)
    multiple: Option<bool>,
    /// Whether the person may answer in other words (true if not given)
    custom: Option<bool>,
}

// COMPAT: other keys are passed over.
/// One answer that is offered.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Offered {
    /// The answer, in one to five words
    label: String,
    /// What it means
    description: String,
}

/// The questions once more, for the result.
#[derive(Debug)]
pub struct Plan {
    questions: Vec<String>,
    ask: Want<AskUser>,
}

impl Tool for Question {
    type Kinds = (AskUser,);
    type Arguments = Arguments;
    type Plan = Plan;

    fn name(&self) -> &'static str {
        "question"
    }
    fn permission(&self) -> &'static str {
        "question"
    }
    fn describe(&self) -> &'static str {
        include_str!("question.md")
    }

    fn prepare(
        &self,
        arguments: Arguments,
        _: &Scout<'_>,
        asks: &mut Asks<'_, Self::Kinds>,
    ) -> Result<Plan, ArgumentFault> {
        let mut inquiries = Vec::new();
        for (at, asked) in arguments.questions.into_iter().enumerate() {
            let fault = |key: &str, why| ArgumentFault::at(format!("questions[{at}].{key}"), why);
            if asked.question.trim().is_empty() {
                return Err(fault("question", "may not be empty"));
            }
            let takes_own_words = asked.custom != Some(false);
            if asked.options.is_empty() && !takes_own_words {
                return Err(fault(
                    "options",
                    "may not be empty where `custom` is false: there would be no answer",
                ));
            }
            let choices = asked.options.into_iter().map(|it| Choice {
                label: it.label,
                description: it.description,
            });
            inquiries.push(Inquiry {
                question: asked.question,
                header: asked.header,
                choices: choices.collect(),
                takes_several: asked.multiple == Some(true),
                takes_own_words,
            });
        }
        let questions = inquiries.iter().map(|it| it.question.clone()).collect();
        let ask = asks.want(AskUser::new(inquiries));
        Ok(Plan { questions, ask })
    }

    async fn run<'call>(
        &self,
        plan: Plan,
        mut grants: Grants<'call, Self::Kinds>,
        cx: CallContext<'call>,
    ) -> Result<ToolOutput, Problem> {
        let count = plan.questions.len();
        let title = format!(
            "Asked {count} question{}",
            if count == 1 { "" } else { "s" }
        );
        cx.progress(&title);
        let answers = match cx.effects.ask_user(grants.take(&plan.ask)?).await? {
            Answers::Given(answers) => answers,
            Answers::Dismissed => {
                return Ok(ToolOutput {
                    title,
                    output: "User dismissed the question.".to_owned(),
                    metadata: json!({ "dismissed": true }),
                    ..ToolOutput::default()
                });
            }
            Answers::Nobody => {
                return Err(Problem::failed(
                    "Nobody is there to answer. Go on with what you think best, and say what you assumed.",
                ));
            }
        };
        let answer = |(at, question): (usize, &String)| {
            let said = answers.get(at).map(|it| it.join(", "));
            let said = said.filter(|it| !it.is_empty());
            format!(
                "\"{question}\"=\"{}\"",
                said.as_deref().unwrap_or("Unanswered")
            )
        };
        let said: Vec<String> = plan.questions.iter().enumerate().map(answer).collect();
        Ok(ToolOutput {
            title,
            output: format!(
                "User has answered your questions: {}. You can now continue with the user's answers in mind.",
                said.join(", ")
            ),
            metadata: json!({ "answers": answers }),
            ..ToolOutput::default()
        })
    }
}
