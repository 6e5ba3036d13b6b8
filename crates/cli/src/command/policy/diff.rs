//! `tollgate policy diff`: past questions that the rules of now answer otherwise. Nothing is decided anew,
//! and nothing kept.
//!
//! Must not count what a person said: a question that was asked and answered was an ask.

use crate::{
    Exit,
    args::{PolicyDiffArgs, Scene},
    error::CliError,
    own::own_output,
    print,
    workbench::{State, Workbench, open_store, state_dir},
};
use gate::{g2_admit::Scope, host::Host};
use policy::{
    Action, AnsweredBy, Decision, RuleBook, RuleLayers, Ruleset, decide, explain::named_for_model,
};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::Arc,
};
use store::{Filter, Ruling, Store};
use text::escape::visible_line;

pub(crate) fn diff(args: &PolicyDiffArgs) -> Result<Exit, CliError> {
    let state_dir = state_dir()?;
    let store = open_store(&state_dir)?;
    let mut rules = Rules::of(&args.scene, &store, state_dir)?;
    let past = Past::of(&store, &rules, args)?;
    let mut report = Report {
        question_count: past.questions.len(),
        older_count: past.older_count,
        lost_agents: BTreeSet::new(),
        differences: Vec::new(),
    };
    for question in past.questions {
        let Some(rules) = rules.now(&question)? else {
            report.lost_agents.insert(question.agent);
            continue;
        };
        let now = decide(&rules, &question.subjects, None);
        if now.action() != question.action() {
            report.differences.push(Difference { question, now });
        }
    }
    print(&if args.json {
        format!("{:#}\n", report.as_json())
    } else {
        report.as_text()
    });
    Ok(if report.differences.is_empty() {
        Exit::Ok
    } else {
        Exit::Failed
    })
}

/// What was asked and how it was answered, in one session or for one agent.
struct Question {
    agent: String,
    /// Where it was last asked.
    session: String,
    record: i64,
    count: usize,
    subjects: Arc<[policy::Subject]>,
    ruling: Ruling,
}

impl Question {
    /// What the rules said before anybody was asked.
    fn action(&self) -> Action {
        action(&self.ruling)
    }
}

fn action(ruling: &Ruling) -> Action {
    if ruling.is_by_approver() {
        Action::Ask
    } else {
        ruling.action
    }
}

/// Whether it rests, or may rest, on something that was approved before or on what a session may do by
/// itself. What is noted is what decided one thing; of several that were allowed, any may rest on it.
fn is_kept(ruling: &Ruling) -> bool {
    let is_allowed = action(ruling) == Action::Allow;
    let has_several = || ruling.subjects().is_some_and(|it| it.len() > 1);
    ruling.decided_by.starts_with("session ")
        || ruling.decided_by.starts_with("saved ")
        || (is_allowed && has_several())
}

/// What the journal tells of this workspace.
struct Past {
    /// Each question once, in the order in which they were last asked.
    questions: Vec<Question>,
    /// Records of decisions that do not tell what was asked.
    older_count: usize,
}

impl Past {
    fn of(store: &Store, rules: &Rules<'_>, args: &PolicyDiffArgs) -> Result<Self, CliError> {
        let sessions = store.sessions().map_err(|error| CliError::fault(&error))?;
        let here = sessions
            .into_iter()
            .filter(|it| it.workspace == rules.workspace);
        let agents: BTreeMap<String, String> = here.map(|it| (it.id, it.agent)).collect();
        if let Some(id) = &args.session
            && !agents.contains_key(id)
        {
            let id = visible_line(id);
            return Err(CliError::usage(format!(
                "no session `{id}` of this workspace"
            )));
        }
        let filter = args.session.as_deref().map_or(Filter::All, Filter::Session);
        let records = store
            .journal(filter)
            .map_err(|error| CliError::fault(&error))?;
        let mut older_count = 0;
        let mut questions: BTreeMap<_, Question> = BTreeMap::new();
        for record in records {
            let (Some(ruling), Some(agent)) = (record.event.ruling(), agents.get(&record.session))
            else {
                continue;
            };
            let Some(subjects) = ruling.subjects() else {
                older_count += 1;
                continue;
            };
            let agent = args.scene.agent.as_ref().unwrap_or(agent);
            // What was approved in one session says nothing of others.
            let session = is_kept(ruling).then(|| record.session.clone());
            let key = (session, agent.clone(), ruling.asked.clone(), action(ruling));
            let question = questions.entry(key).or_insert_with(|| Question {
                agent: agent.clone(),
                session: String::new(),
                record: 0,
                count: 0,
                subjects: subjects.into(),
                ruling: ruling.clone(),
            });
            question.count += 1;
            question.record = record.id;
            question.session.clone_from(&record.session);
            question.ruling.clone_from(ruling);
        }
        let mut questions: Vec<Question> = questions.into_values().collect();
        questions.sort_by_key(|it| it.record);
        Ok(Self {
            questions,
            older_count,
        })
    }
}

/// The rules of now, for each agent that they are wanted for.
struct Rules<'a> {
    scene: &'a Scene,
    store: &'a Store,
    state_dir: PathBuf,
    workspace: String,
    /// `None`: there is no such agent any more.
    agents: BTreeMap<String, Option<Arc<Ruleset>>>,
}

impl<'a> Rules<'a> {
    fn of(scene: &'a Scene, store: &'a Store, state_dir: PathBuf) -> Result<Self, CliError> {
        let bench = Workbench::set_up(scene, &State::Untouched)?;
        bench.warn();
        let agents = [(bench.agent.name.clone(), Some(bench.rules.current()))];
        Ok(Self {
            scene,
            store,
            state_dir,
            workspace: bench.host.workspace().display().to_string(),
            agents: agents.into(),
        })
    }

    /// Those for a question. What was approved counts only where it counted then.
    fn now(&mut self, question: &Question) -> Result<Option<Arc<Ruleset>>, CliError> {
        let Some(rules) = self.of_agent(&question.agent) else {
            return Ok(None);
        };
        if !is_kept(&question.ruling) {
            return Ok(Some(rules));
        }
        let session = &question.session;
        let output = self.state_dir.join("output").join(session);
        let mut layers = RuleLayers {
            session: own_output(&output),
            ..rules.layers().clone()
        };
        let kept = self.store.approvals_for(session, &self.workspace);
        for approval in kept.map_err(|error| CliError::fault(&error))? {
            let layer = match approval.scope {
                Scope::Session => &mut layers.session,
                Scope::Project | Scope::Global => &mut layers.saved,
            };
            layer.push(approval.rule());
        }
        Ok(Some(RuleBook::new(layers).current()))
    }

    fn of_agent(&mut self, name: &str) -> Option<Arc<Ruleset>> {
        if let Some(known) = self.agents.get(name) {
            return known.clone();
        }
        let scene = Scene {
            agent: Some(name.to_owned()),
            ..self.scene.clone()
        };
        // The same configuration was read for another agent, so only the agent can be missing.
        let bench = Workbench::set_up(&scene, &State::Untouched).ok();
        let rules = bench.map(|bench| bench.rules.current());
        self.agents.insert(name.to_owned(), rules.clone());
        rules
    }
}

/// A question that is answered otherwise now.
struct Difference {
    question: Question,
    now: Decision,
}

impl Difference {
    fn now_by(&self) -> String {
        match (self.now.by(), self.now.rule()) {
            (AnsweredBy::Rule { rule, layer }, _) => format!("{layer} {rule}"),
            (AnsweredBy::Default | AnsweredBy::Approver(_), Some(rule)) => rule.to_string(),
            (AnsweredBy::Default | AnsweredBy::Approver(_), None) => "default".to_owned(),
        }
    }

    fn as_text(&self) -> String {
        let Self { question, now } = self;
        let Question {
            record,
            count,
            ruling,
            ..
        } = question;
        let times = match count {
            1 => "once".to_owned(),
            count => format!("{count} times"),
        };
        format!(
            "\n  {} -> {}  {} ({times}, last in record {record} of {})\n      then: {}\n      now:  {}\n",
            question.action(),
            now.action(),
            visible_line(&named_for_model(now.subject())),
            visible_line(&question.session),
            visible_line(&ruling.decided_by),
            visible_line(&self.now_by()),
        )
    }

    fn as_json(&self) -> Value {
        let Self { question, now } = self;
        let about =
            |it: &policy::Subject| json!({ "permission": it.permission, "pattern": it.canonical });
        json!({
            "asked": question.subjects.iter().map(about).collect::<Value>(),
            "agent": question.agent,
            "session": question.session,
            "record": question.record,
            "count": question.count,
            "then": { "action": question.action().to_string(), "decided_by": question.ruling.decided_by },
            "now": { "action": now.action().to_string(), "decided_by": self.now_by() },
        })
    }
}

/// What is printed.
struct Report {
    question_count: usize,
    older_count: usize,
    /// Agents of past sessions that are not there any more.
    lost_agents: BTreeSet<String>,
    differences: Vec<Difference>,
}

impl Report {
    fn as_text(&self) -> String {
        let Self {
            question_count,
            older_count,
            lost_agents,
            differences,
        } = self;
        let mut text = match differences.len() {
            0 => format!("none of {question_count} past questions would be decided otherwise\n"),
            count => {
                format!("{count} of {question_count} past questions would be decided otherwise\n")
            }
        };
        text.extend(differences.iter().map(Difference::as_text));
        if *older_count > 0 {
            let older = "records do not tell what was asked: they are older than that is kept";
            text.extend([older_count.to_string().as_str(), " ", older, "\n"]);
        }
        let lost = |agent: &String| {
            let agent = visible_line(agent);
            format!("not looked at: there is no agent `{agent}` any more\n")
        };
        text.extend(lost_agents.iter().map(lost));
        text
    }

    fn as_json(&self) -> Value {
        json!({
            "questions": self.question_count,
            "older_records": self.older_count,
            "lost_agents": self.lost_agents,
            "differences": self.differences.iter().map(Difference::as_json).collect::<Value>(),
        })
    }
}
