//! Rules and what they decide, written into the prose that explains them: `spec/permissions/*.md`, and
//! the cases that users write about their own rules. Must not open a file, print, or know an answer.

use agent::{Agents, Preset, Tier};
use gate::{
    Problem,
    access::{Declare, ReadFile, Spawn, WriteFile},
    call::RawCall,
    check::Checked,
    g1_decode::{Asks, Scout},
    g2_admit::Grants,
    g3_confine::CallContext,
    output::ToolOutput,
    tool::{AnyTool, Tool},
};
use policy::{
    Action, Decision, Rule, RuleBook, RuleLayers, Ruleset, Subject, explain::for_person,
    written::at_home,
};
use schema::{ArgumentFault, RawArguments};
use serde_json::{Map, Value};
use std::{fmt::Write, sync::Arc};
use text::escape::visible_line;

use crate::ops::HOME;
use crate::testkit::{Bench, MemoryHost};

/// A text that does not have the form of a page.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct PageFault {
    /// Where, from 1.
    pub line: u32,
    /// What is wrong.
    pub message: String,
}

/// The cases of one text, in order.
#[derive(Clone, Debug)]
pub struct Page {
    cases: Vec<Case>,
}

/// One line of a block of decisions.
#[derive(Clone, Debug)]
pub struct Case {
    /// Where it stands, from 1.
    pub line: u32,
    /// The permission that is asked for.
    pub permission: String,
    /// What it is asked for: a command, a path, a name, or the arguments of a call as JSON.
    pub text: String,
    /// What the rules have to say.
    pub expected: Action,
    /// The rules that stand above it on the page, if any do.
    rules: Option<Arc<Ruleset>>,
}

/// Checks a call of one of some tools in a room, whatever the rules say to it.
pub type Check<'a> = dyn Fn(&[AnyTool], RawCall) -> Result<Checked, String> + 'a;

/// What cases are put to that stand below no rules of their own.
#[expect(missing_debug_implementations, reason = "it holds a function")]
pub struct InForce<'a> {
    /// The rules.
    pub rules: Arc<Ruleset>,
    /// What `~` stands for.
    pub home: Option<String>,
    /// The room.
    pub check: &'a Check<'a>,
}

/// How the cases of a page came out.
#[derive(Debug, Default)]
pub struct Report {
    /// How many came out as written.
    pub passed: usize,
    /// The others, in order.
    pub failed: Vec<Failure>,
}

/// A case that came out otherwise.
#[derive(Debug)]
pub struct Failure {
    /// The case.
    pub case: Case,
    /// What was decided, or why the case could not be put.
    pub got: Result<Decision, String>,
}

impl Page {
    /// Reads a page. `label` is its name in the places of its rules.
    ///
    /// # Errors
    /// Every block and every line in one that cannot be understood.
    pub fn read(text: &str, label: &str) -> Result<Self, Vec<PageFault>> {
        let mut reader = Reader {
            label,
            layers: None,
            rules: None,
            cases: Vec::new(),
            faults: Vec::new(),
        };
        for block in blocks(text, &mut reader.faults) {
            reader.block(&block);
        }
        if reader.faults.is_empty() {
            Ok(Self {
                cases: reader.cases,
            })
        } else {
            Err(reader.faults)
        }
    }

    /// Its cases.
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }

    /// Whether each case stands below rules of the page.
    pub fn is_complete(&self) -> bool {
        self.cases.iter().all(|case| case.rules.is_some())
    }

    /// Puts every case to the engine: to the rules that stand above it on the page, on an imaginary
    /// machine, or else to those in force.
    pub fn run(&self, in_force: Option<&InForce<'_>>) -> Report {
        let mut report = Report::default();
        for case in &self.cases {
            match case.put(in_force) {
                Ok(decision) if decision.action() == case.expected => report.passed += 1,
                got => report.failed.push(Failure {
                    case: case.clone(),
                    got,
                }),
            }
        }
        report
    }
}

impl Failure {
    /// What came in place of what was expected.
    pub fn got(&self) -> String {
        match &self.got {
            Ok(decision) => decision.action().to_string(),
            Err(why) => format!("no answer: {why}"),
        }
    }

    /// Several lines: the place with the case, what was expected and what came, and below it why.
    pub fn for_person(&self, label: &str) -> String {
        let case = &self.case;
        let mut text = visible_line(&format!(
            "{label}:{}: {} {}: expected {}, got {}",
            case.line,
            case.permission,
            case.text,
            case.expected,
            self.got()
        ));
        text.push('\n');
        if let Ok(decision) = &self.got {
            for line in for_person(decision).lines() {
                _ = writeln!(text, "    {line}");
            }
        }
        text
    }
}

/// A fenced block.
struct Block<'t> {
    /// What stands behind the opening fence.
    words: Vec<&'t str>,
    /// The line of the fence, from 1.
    line: u32,
    /// The lines between the fences.
    lines: Vec<&'t str>,
}

/// The fenced blocks of a text, in order.
fn blocks<'t>(text: &'t str, faults: &mut Vec<PageFault>) -> Vec<Block<'t>> {
    let fence = |line: &str| line.len() - line.trim_start_matches('`').len();
    let mut done = Vec::new();
    let mut open: Option<(usize, Block<'_>)> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let ticks = fence(line);
        match open.take() {
            None if ticks >= 3 => {
                let words = line.split_at(ticks).1.split_whitespace().collect();
                let block = Block {
                    words,
                    line: number,
                    lines: Vec::new(),
                };
                open = Some((ticks, block));
            }
            None => {}
            Some((opened_by, block)) if ticks >= opened_by && line.trim_end().len() == ticks => {
                done.push(block);
            }
            Some((opened_by, mut block)) => {
                block.lines.push(line);
                open = Some((opened_by, block));
            }
        }
    }
    if let Some((_, block)) = open {
        faults.push(PageFault {
            line: block.line,
            message: "this block does not end".to_owned(),
        });
    }
    done
}

/// What is read so far.
struct Reader<'l> {
    label: &'l str,
    layers: Option<RuleLayers>,
    /// The same, ready for decisions.
    rules: Option<Arc<Ruleset>>,
    cases: Vec<Case>,
    faults: Vec<PageFault>,
}

impl Reader<'_> {
    fn block(&mut self, block: &Block<'_>) {
        match block.words.as_slice() {
            ["rules", which @ ..] => self.rules(block, which),
            ["decisions"] => self.decisions(block),
            ["decisions", ..] => self.fault(block.line, "nothing stands behind `decisions`"),
            _ => {}
        }
    }

    fn fault(&mut self, line: u32, message: impl Into<String>) {
        let message = message.into();
        self.faults.push(PageFault { line, message });
    }

    fn rules(&mut self, block: &Block<'_>, which: &[&str]) {
        let Some(rules) = self.written(block) else {
            return;
        };
        let mut layers = self.layers.take().unwrap_or_default();
        match which {
            [] => {
                layers = RuleLayers {
                    base: rules,
                    ..RuleLayers::default()
                }
            }
            ["agent", name] => match of_agent(name, rules) {
                Some(of_agent) => layers = of_agent,
                None => self.fault(block.line, format!("there is no agent `{name}`")),
            },
            ["project"] => layers.project = rules,
            ["session"] => layers.session = rules,
            ["saved"] => layers.saved = rules,
            ["hard"] => layers.hard = rules,
            _ => self.fault(
                block.line,
                "expected nothing behind `rules`, or `agent NAME`, `project`, `session`, `saved`, `hard`",
            ),
        }
        self.rules = Some(RuleBook::new(layers.clone()).current());
        self.layers = Some(layers);
    }

    /// The rules of a block, each with its place on the page.
    fn written(&mut self, block: &Block<'_>) -> Option<Vec<Rule>> {
        let above = "\n".repeat(block.line.saturating_sub(1) as usize);
        let body = block.lines.join("\n");
        let text = format!("{above}{{\"permission\":\n{body}\n}}");
        let place = ["permission"];
        match policy::written::read_rules(&text, self.label, &place, Some(HOME)) {
            Ok(rules) if rules.iter().any(|rule| rule.permission == "permission") => {
                let message = "write what stands behind `permission`, without the key itself";
                self.fault(block.line, message);
                None
            }
            Ok(rules) => Some(rules),
            Err(faults) => {
                for fault in faults {
                    self.fault(fault.line, fault.message);
                }
                None
            }
        }
    }

    fn decisions(&mut self, block: &Block<'_>) {
        for (line, text) in (block.line + 1..).zip(&block.lines) {
            // What stands behind is for people.
            let case = text.split_once("  # ").map_or(*text, |(case, _)| case);
            let case = case.trim();
            if case.is_empty() || case.starts_with('#') {
                continue;
            }
            match self.case(line, case) {
                Some(case) => self.cases.push(case),
                None => self.fault(
                    line,
                    "expected `ACTION PERMISSION TEXT`, the action being `allow`, `ask` or `deny`",
                ),
            }
        }
    }

    fn case(&self, line: u32, text: &str) -> Option<Case> {
        let (action, rest) = text.split_once(char::is_whitespace)?;
        let (permission, text) = rest.trim_start().split_once(char::is_whitespace)?;
        Some(Case {
            line,
            permission: permission.to_owned(),
            text: text.trim_start().to_owned(),
            expected: action.parse().ok()?,
            rules: self.rules.clone(),
        })
    }
}

/// These rules of a user, for a built-in agent that starts from the preset `normal`.
fn of_agent(name: &str, user: Vec<Rule>) -> Option<RuleLayers> {
    let agents = Agents::with(Vec::new()).ok()?;
    let agent = agents.get(name)?;
    let layers = agent::layers(agent, Preset::Normal, Tier::Full, user, Some(HOME));
    Some(layers)
}

/// The names of the permission for directories outside, which no call asks for alone, with the narrower
/// name of each.
const OUTSIDE: [(&str, Option<&str>); 3] = [
    ("external_directory", None),
    ("external_directory.read", Some("external_directory.read")),
    ("external_directory.write", Some("external_directory.write")),
];

impl Case {
    fn put(&self, in_force: Option<&InForce<'_>>) -> Result<Decision, String> {
        if let Some(rules) = &self.rules {
            // What a call asks the rules is the same whatever they say.
            let bench = Bench::free(MemoryHost::with(&[]));
            let check = |tools: &[AnyTool], call: RawCall| {
                let checked = bench.check(tools, &call.tool, call.arguments);
                checked.map_err(|why| why.to_string())
            };
            return self.decide(rules, Some(HOME), &check);
        }
        let in_force = in_force.ok_or("no rules stand above it")?;
        self.decide(&in_force.rules, in_force.home.as_deref(), in_force.check)
    }

    /// The strictest of the decisions about it.
    fn decide(
        &self,
        rules: &Arc<Ruleset>,
        home: Option<&str>,
        check: &Check<'_>,
    ) -> Result<Decision, String> {
        let outside = OUTSIDE.iter().find(|(name, _)| *name == self.permission);
        let asked: Vec<_> = if let Some((_, narrower)) = outside {
            let path = self.at_home(home)?;
            let mut subject = Subject::path("external_directory", &path, &path, Vec::new());
            subject.narrower = *narrower;
            vec![Arc::from([subject])]
        } else {
            let (tools, call) = self.call(home)?;
            let checked = check(&tools, call)?;
            let asked = checked.decisions.iter().map(Decision::subjects);
            asked.cloned().collect()
        };
        let decided = asked.iter().map(|it| policy::decide(rules, it, None));
        // The first of the strictest, as the gate has it.
        decided
            .rev()
            .max_by_key(Decision::action)
            .ok_or_else(|| "the call needs nothing".to_owned())
    }

    fn at_home(&self, home: Option<&str>) -> Result<String, String> {
        at_home(&self.text, home).ok_or_else(|| "`~` stands for nothing here".to_owned())
    }

    /// A call that needs just this: of the built-in tool if there are arguments for one.
    fn call(&self, home: Option<&str>) -> Result<(Vec<AnyTool>, RawCall), String> {
        let arguments: Option<Map<String, Value>> = serde_json::from_str(&self.text).ok();
        let built_in = tools::builtins()
            .into_iter()
            .find(|tool| arguments.is_some() && tool.name() == self.permission);
        let need = match self.permission.as_str() {
            "bash" => Need::Command(self.text.clone()),
            "read" => Need::Read(self.at_home(home)?),
            "edit" => Need::Change(self.at_home(home)?),
            name if arguments.is_some() => Need::Name(name.to_owned(), "*".to_owned()),
            name => Need::Name(name.to_owned(), self.text.clone()),
        };
        let tool = built_in.unwrap_or_else(|| AnyTool::new(need));
        let call = RawCall {
            id: "case".to_owned(),
            tool: tool.name().to_owned(),
            arguments: RawArguments::Json(arguments.unwrap_or_default().into()),
            repeats: None,
        };
        Ok((vec![tool], call))
    }
}

/// A tool that needs one thing. It is on no model's table.
enum Need {
    Command(String),
    Read(String),
    Change(String),
    Name(String, String),
}

impl Tool for Need {
    type Kinds = (ReadFile, WriteFile, Spawn, Declare);
    type Arguments = Map<String, Value>;
    type Plan = ();

    fn name(&self) -> &'static str {
        "need"
    }
    fn permission(&self) -> &'static str {
        "need"
    }
    fn describe(&self) -> &'static str {
        "States one need, for a case."
    }

    fn prepare(
        &self,
        _arguments: Self::Arguments,
        scout: &Scout<'_>,
        asks: &mut Asks<'_, Self::Kinds>,
    ) -> Result<(), ArgumentFault> {
        let resolve = |path: &str| {
            let resolved = scout.resolve(path);
            resolved.map_err(|error| ArgumentFault::at("", error.to_string()))
        };
        match self {
            Self::Command(line) => drop(asks.want(Spawn::new(line))),
            Self::Read(path) => drop(asks.want(ReadFile::new(resolve(path)?))),
            Self::Change(path) => drop(asks.want(WriteFile::new(resolve(path)?))),
            Self::Name(permission, text) => drop(asks.want(Declare::new(permission, text))),
        }
        Ok(())
    }

    async fn run<'call>(
        &self,
        (): (),
        _grants: Grants<'call, Self::Kinds>,
        _cx: CallContext<'call>,
    ) -> Result<ToolOutput, Problem> {
        Err(Problem::failed("a case is only ever checked"))
    }
}
