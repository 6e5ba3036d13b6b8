//! Shows the lines below a directory, or in one file, that fit a pattern.

use crate::{mismatched, resolve, search::notes};
use gate::{
    Problem,
    access::{GrepQuery, ReadTree},
    g1_decode::{ArgumentFault, Asks, Scout, Want},
    g2_admit::Grants,
    g3_confine::CallContext,
    host::{FileMatches, Line, Matches, Tree},
    output::ToolOutput,
    tool::Tool,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// Lines shown where no limit is given (as the compatible systems).
const LIMIT_DEFAULT: usize = 100;

/// The most lines that can be asked for: more than a result can hold.
const LIMIT_MAX: usize = 10_000;

/// The tool `grep`.
#[derive(Debug)]
pub struct Grep;

/// What the model writes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Arguments {
    /// The regular expression that lines have to fit
    pattern: String,
    /// The directory or file to look in (the workspace if not given)
    path: Option<String>,
    /// Look only in files whose path fits this, such as "*.{ts,tsx}"
    include: Option<String>,
    /// How many lines to show before and after each one that fits (0 if not given)
    #[schemars(range(max = 1_000))]
    context: Option<usize>,
    /// How many lines that fit at most (100 if not given)
    #[schemars(range(min = 1, max = LIMIT_MAX))]
    limit: Option<usize>,
    /// Take the pattern as plain text
    literal: Option<bool>,
    /// Take upper and lower case as the same
    ignore_case: Option<bool>,
}

/// What to look for.
#[derive(Debug)]
pub struct Plan {
    pattern: String,
    limit: usize,
    has_context: bool,
    look: Want<ReadTree>,
}

impl Tool for Grep {
    type Kinds = (ReadTree,);
    type Arguments = Arguments;
    type Plan = Plan;

    fn name(&self) -> &'static str {
        "grep"
    }
    fn permission(&self) -> &'static str {
        "grep"
    }
    fn describe(&self) -> &'static str {
        include_str!("grep.md")
    }

    fn prepare(
        &self,
        arguments: Arguments,
        scout: &Scout<'_>,
        asks: &mut Asks<'_, Self::Kinds>,
    ) -> Result<Plan, ArgumentFault> {
        let pattern = arguments.pattern;
        if pattern.is_empty() {
            return Err(ArgumentFault::at("pattern", "pattern is required"));
        }
        let path = arguments.path.as_deref().unwrap_or(".");
        let top = resolve(scout, "path", path)?;
        let limit = arguments.limit.unwrap_or(LIMIT_DEFAULT);
        let context = arguments.context.unwrap_or(0);
        let query = GrepQuery {
            pattern: pattern.clone(),
            include: arguments.include,
            context,
            limit,
            is_literal: arguments.literal == Some(true),
            ignores_case: arguments.ignore_case == Some(true),
        };
        Ok(Plan {
            pattern,
            limit,
            has_context: context > 0,
            look: asks.want(ReadTree::grep(top, query)),
        })
    }

    async fn run<'call>(
        &self,
        plan: Plan,
        mut grants: Grants<'call, Self::Kinds>,
        cx: CallContext<'call>,
    ) -> Result<ToolOutput, Problem> {
        cx.progress(&plan.pattern);
        match cx.effects.read_tree(grants.take(&plan.look)?).await? {
            Tree::Matches(matches) => Ok(shown(plan, &matches)),
            Tree::Listing(_) | Tree::Paths(_) => Err(mismatched()),
        }
    }
}

fn shown(plan: Plan, matches: &Matches) -> ToolOutput {
    let lines = matches.files.iter().flat_map(|file| &file.lines);
    let count = lines.filter(|line| line.fits).count();
    let files = matches.files.iter().map(|it| file(it, plan.has_context));
    let files = files.collect::<Vec<_>>().join("\n\n");
    let list = match (count, matches.has_more) {
        (0, _) => "No files found".to_owned(),
        (_, false) => format!("Found {count} matches\n{files}"),
        (_, true) => format!("Found {count} matches (more matches available)\n{files}"),
    };
    let cut = matches.has_more.then(|| {
        let twice = plan.limit.saturating_mul(2).min(LIMIT_MAX);
        if twice == plan.limit {
            return format!("({} matches limit reached. Refine pattern.)", plan.limit);
        }
        format!(
            "({} matches limit reached. Use limit={twice} for more, or refine pattern.)",
            plan.limit
        )
    });
    let parts = [list].into_iter().chain(cut).chain(notes(matches.left_out));
    let output = parts.collect::<Vec<_>>().join("\n\n");
    ToolOutput {
        title: plan.pattern,
        output,
        metadata: json!({ "matches": count, "truncated": matches.has_more }),
        ..ToolOutput::default()
    }
}

/// One file with its lines; where lines are left out between two that are shown, `--` says so.
fn file(file: &FileMatches, has_context: bool) -> String {
    let mut before = None;
    let line = |line: &Line| {
        let is_gap = has_context && before.is_some_and(|before| line.number > before + 1);
        before = Some(line.number);
        let gap = if is_gap { "\n  --" } else { "" };
        let mark = match (has_context, line.fits) {
            (false, _) => "",
            (true, true) => "[match] ",
            (true, false) => "[context] ",
        };
        format!("{gap}\n  {mark}Line {}: {}", line.number, line.text)
    };
    let lines: String = file.lines.iter().map(line).collect();
    format!("{}:{lines}", text::escape::visible_line(&file.path))
}
