//! Lists the files below a directory whose path fits a pattern.

use crate::{mismatched, resolve, search::notes};
use gate::{
    Problem,
    access::{GlobQuery, Handle, ReadTree},
    g1_decode::{ArgumentFault, Asks, Scout, Want},
    g2_admit::Grants,
    g3_confine::CallContext,
    host::{Paths, Tree},
    output::ToolOutput,
    tool::Tool,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// Paths shown (as the compatible systems).
const LIMIT: usize = 100;

/// The tool `glob`.
#[derive(Debug)]
pub struct Glob;

/// What the model writes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// The pattern that paths have to fit
    pattern: String,
    /// The directory to look in (the workspace if not given)
    path: Option<String>,
}

/// Where to look.
#[derive(Debug)]
pub struct Plan {
    directory: Handle,
    look: Want<ReadTree>,
}

impl Tool for Glob {
    type Kinds = (ReadTree,);
    type Arguments = Arguments;
    type Plan = Plan;

    fn name(&self) -> &'static str {
        "glob"
    }
    fn permission(&self) -> &'static str {
        "glob"
    }
    fn describe(&self) -> &'static str {
        include_str!("glob.md")
    }

    fn prepare(
        &self,
        arguments: Arguments,
        scout: &Scout<'_>,
        asks: &mut Asks<'_, Self::Kinds>,
    ) -> Result<Plan, ArgumentFault> {
        let Arguments { pattern, path } = arguments;
        if pattern.is_empty() {
            return Err(ArgumentFault::at("pattern", "may not be empty"));
        }
        let (directory, pattern) = match (split(&pattern), path) {
            (Some((directory, rest)), _) => {
                let directory = resolve(scout, "pattern", directory)?;
                (directory, rest.to_owned())
            }
            (None, Some(path)) => (resolve(scout, "path", &path)?, pattern),
            (None, None) => (resolve(scout, "path", ".")?, pattern),
        };
        let limit = LIMIT;
        let look = asks.want(ReadTree::glob(
            directory.clone(),
            GlobQuery { pattern, limit },
        ));
        Ok(Plan { directory, look })
    }

    async fn run<'call>(
        &self,
        plan: Plan,
        mut grants: Grants<'call, Self::Kinds>,
        cx: CallContext<'call>,
    ) -> Result<ToolOutput, Problem> {
        cx.progress(plan.directory.path());
        match cx.effects.read_tree(grants.take(&plan.look)?).await? {
            Tree::Paths(paths) => Ok(shown(&plan, &paths)),
            Tree::Listing(_) | Tree::Matches(_) => Err(mismatched()),
        }
    }
}

/// An absolute pattern as a directory and what has to fit below it.
fn split(pattern: &str) -> Option<(&str, &str)> {
    if !pattern.starts_with('/') {
        return None;
    }
    let Some(magic) = pattern.find(['*', '?', '{', '[']) else {
        return Some((pattern, "*"));
    };
    let (plain, _) = pattern.split_at(magic);
    let slash = plain.rfind('/')?;
    let (directory, rest) = pattern.split_at(slash + 1);
    Some((directory, rest))
}

fn shown(plan: &Plan, found: &Paths) -> ToolOutput {
    let paths = found
        .paths
        .iter()
        .map(|path| text::escape::visible_line(path));
    let paths: Vec<String> = paths.collect();
    let list = if paths.is_empty() {
        "No files found".to_owned()
    } else {
        paths.join("\n")
    };
    let cut = (found.omitted > 0).then(|| {
        format!(
            "(Results are truncated: showing first {LIMIT} results. {} more are not shown. Consider using a more \
             specific path or pattern.)",
            found.omitted
        )
    });
    let parts = [list].into_iter().chain(cut).chain(notes(found.left_out));
    let output = parts.collect::<Vec<_>>().join("\n\n");
    ToolOutput {
        title: plan.directory.path().to_owned(),
        output,
        metadata: json!({ "count": paths.len(), "truncated": found.omitted > 0 }),
        ..ToolOutput::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absolute_pattern_is_split_before_its_first_wildcard() {
        for (pattern, want) in [
            ("*.rs", None),
            ("src/*.rs", None),
            ("/w/src/*.rs", Some(("/w/src/", "*.rs"))),
            ("/w/src/a*/b", Some(("/w/src/", "a*/b"))),
            ("/w/**/*.{a,b}", Some(("/w/", "**/*.{a,b}"))),
            ("/*", Some(("/", "*"))),
            ("/w/src", Some(("/w/src", "*"))),
        ] {
            assert_eq!(split(pattern), want, "{pattern}");
        }
    }
}
