//! What a person and the model are told about typical decisions, written to `docs/explained.md` whole so
//! that it is read as prose. `UPDATE=1` rewrites the page.

use std::path::PathBuf;
use std::sync::Arc;
use std::{env, fs};

use proptest::prelude::*;
use tollgate_policy::{
    Action, Answer, AnsweredBy, Layer, Origin, Pattern, Rule, RuleBook, RuleLayers, Subject,
    decide,
    explain::{closed_for_person, for_model, for_person},
    written::read_rules,
};

use Action::{Allow, Deny};

use crate::world::{layers, snapshot, subjects};

const HEAD: &str = "# Why is it allowed, asked or denied?

What `tollgate check` says to typical questions, each under the rules that stand above it, and what the
model gets to read. The last rule that fits wins; what is denied stays denied whoever says yes; and where
it stands in brackets, the place is file, line and column.
";
const MINE: &str = "/home/ann/.config/tollgate/tollgate.jsonc";
const PROJECT: &str = "/home/ann/shop/tollgate.jsonc";
const MANAGED: &str = "/etc/tollgate/tollgate.jsonc";
const PRESET: &str = "built-in presets/normal.jsonc";

/// 2026-11-30, 12:48:28.
const NOON_MS: u64 = 1_796_042_908_000;

/// One question and the rules it is asked under.
#[derive(Default)]
struct Question {
    title: &'static str,
    /// The rules as the page shows them.
    shown: String,
    layers: RuleLayers,
    subjects: Vec<Subject>,
    answer: Option<Answer>,
}

fn question(title: &'static str) -> Question {
    Question {
        title,
        ..Question::default()
    }
}

impl Question {
    /// With a file of rules.
    fn file(mut self, label: &str, text: &str) -> Self {
        self.shown = format!("{}```jsonc\n// {label}\n{text}\n```\n", self.shown);
        // The first line of the page is a comment, and no line of the file.
        let rules = read_rules(text, label, &["permission"], Some("/home/ann")).unwrap();
        match label {
            PROJECT => self.layers.project.extend(rules),
            MANAGED => self.layers.hard.extend(rules),
            _ => self.layers.base.extend(rules),
        }
        self
    }

    fn mine(self, text: &str) -> Self {
        self.file(MINE, text)
    }

    /// With a rule that stands in no file.
    fn rule(mut self, layer: Layer, rule: (&str, Pattern, Action), origin: &str) -> Self {
        let (permission, pattern, action) = rule;
        let rule = Rule::new(permission, pattern, action, Origin::named(origin));
        let which = match layer {
            Layer::Hard => "Above all rules",
            _ => "Kept",
        };
        let short = rule.in_short();
        self.shown = format!("{}{which}: `{short}` ({origin})\n", self.shown);
        match layer {
            Layer::Base => self.layers.base.push(rule),
            Layer::Project => self.layers.project.push(rule),
            Layer::Session => self.layers.session.push(rule),
            Layer::Saved => self.layers.saved.push(rule),
            Layer::Hard => self.layers.hard.push(rule),
        }
        self
    }

    fn asks(mut self, subject: Subject) -> Self {
        self.subjects.push(subject);
        self
    }

    fn answered_by(mut self, who: &str) -> Self {
        self.answer = Some(Answer {
            who: who.to_owned(),
            at_ms: NOON_MS,
        });
        self
    }

    fn section(self) -> String {
        let rules = RuleBook::new(self.layers).current();
        let decision = decide(&rules, &self.subjects.into(), self.answer.as_ref());
        let person = for_person(&decision);
        check_plain(&person);
        let model = for_model(&decision);
        format!(
            "\n## {}\n\n{}\n```text\n{person}```\nThe model: {model}\n",
            self.title, self.shown
        )
    }
}

fn check_plain(text: &str) {
    let is_plain = |c: char| !c.is_control() || c == '\n';
    assert!(text.chars().all(is_plain), "{text:?}");
}

fn command(text: &str) -> Subject {
    Subject::command("bash", text, text, vec![])
}

fn read(path: &str) -> Subject {
    Subject::path("read", path, format!("/home/ann/shop/{path}"), vec![])
}

fn edit(path: &str) -> Subject {
    Subject::path("edit", path, format!("/home/ann/shop/{path}"), vec![])
}

fn outside(directory: &str, narrower: &'static str) -> Subject {
    let mut subject = Subject::path("external_directory", directory, directory, vec![]);
    subject.narrower = Some(narrower);
    subject
}

fn questions() -> Vec<Question> {
    let hard = |pattern: &str, action| ("edit", Pattern::wildcard(pattern), action);
    let mut no_walls = command("cargo test");
    no_walls.ask_because = Some("no sandbox holds this command: the kernel has no Landlock".into());
    let mut linked = read("notes.txt");
    linked.ask_because = Some("the file has 2 names (hard links)".into());
    let mut opaque = command("sudo make install");
    opaque.opaque = Some("`sudo` runs what its arguments say".into());
    opaque.always = vec!["sudo *".into()];
    let mut inline = command("$(cat todo)");
    inline.opaque = Some("the program is not known before it runs".into());
    inline.is_literal = false;
    let mut query = Subject::name("db_query", "*");
    query.arguments = Arc::from([("sql".to_owned(), "DROP TABLE users".to_owned())]);
    vec![
        question("A rule further down wins")
            .mine("{ \"permission\": { \"bash\": {\n  \"*\": \"allow\",\n  \"git push *\": \"ask\"\n} } }")
            .asks(command("git push origin main")),
        question("A catch-all at the end cancels what stands above it")
            .mine("{ \"permission\": { \"bash\": {\n  \"git status *\": \"allow\",\n  \"*\": \"ask\"\n} } }")
            .asks(command("git status")),
        question("Everything is allowed, but not an environment file")
            .mine("{ \"permission\": { \"read\": \"allow\" } }")
            .asks(read("config/.env.production")),
        question("A private key")
            .mine("{ \"permission\": { \"read\": \"allow\" } }")
            .asks(read("certs/server.pem")),
        question("A file that decides what git runs")
            .mine("{ \"permission\": { \"edit\": \"allow\" } }")
            .asks(edit(".git/hooks/pre-commit")),
        question("A project is stricter than its user")
            .mine("{ \"permission\": { \"edit\": \"allow\" } }")
            .file(PROJECT, "{ \"permission\": { \"edit\": {\n  \"migrations/*\": \"deny\"\n} } }")
            .asks(edit("migrations/0001.sql")),
        question("A project wants to allow more than its user")
            .mine("{ \"permission\": { \"bash\": \"ask\" } }")
            .file(PROJECT, "{ \"permission\": { \"bash\": {\n  \"make *\": \"allow\"\n} } }")
            .asks(command("make install")),
        question("A yes that was kept")
            .mine("{ \"permission\": { \"bash\": \"ask\" } }")
            .rule(
                Layer::Saved,
                ("bash", Pattern::wildcard("npm test *"), Allow),
                "approval 7 by ann",
            )
            .asks(command("npm test -- --watch")),
        question("A kept yes that is too broad")
            .mine("{ \"permission\": { \"bash\": {\n  \"*\": \"allow\",\n  \"git push *\": \"ask\"\n} } }")
            .rule(
                Layer::Session,
                ("bash", Pattern::wildcard("git *"), Allow),
                "approved by ann",
            )
            .asks(command("git push")),
        question("An agent that only reads")
            .mine("{ \"permission\": { \"edit\": \"allow\" } }")
            .rule(Layer::Hard, hard("*", Deny), "a read-only agent")
            .asks(edit("src/main.rs")),
        question("A rule of the administrator")
            .mine("{ \"permission\": { \"bash\": \"allow\" } }")
            .file(MANAGED, "{ \"permission\": { \"bash\": {\n  \"curl *\": \"deny\"\n} } }")
            .asks(command("curl https://example.org")),
        question("Reading outside the workspace")
            .file(PRESET, "{ \"permission\": { \"*\": \"ask\", \"read\": \"allow\" } }")
            .asks(outside("/etc/nginx/*", "external_directory.read"))
            .asks(Subject::path("read", "/etc/nginx/nginx.conf", "/etc/nginx/nginx.conf", vec![])),
        question("Writing outside the workspace")
            .mine("{ \"permission\": {\n  \"external_directory.read\": \"allow\",\n  \"external_directory.write\": \"deny\",\n  \"edit\": \"allow\"\n} }")
            .asks(outside("/home/ann/other/*", "external_directory.write"))
            .asks(Subject::path("edit", "/home/ann/other/a.txt", "/home/ann/other/a.txt", vec![])),
        question("A command that runs another")
            .mine("{ \"permission\": { \"bash\": {\n  \"*\": \"ask\",\n  \"sudo make *\": \"allow\"\n} } }")
            .asks(opaque),
        question("A command that is not known before it runs")
            .mine("{ \"permission\": { \"bash\": {\n  \"*\": \"allow\",\n  \"rm *\": \"deny\"\n} } }")
            .asks(inline),
        question("Quotes do not hide a program")
            .mine("{ \"permission\": { \"bash\": {\n  \"*\": \"allow\",\n  \"rm *\": \"deny\"\n} } }")
            .asks(Subject::command("bash", "rm -r build", "'rm' -r build", vec![])),
        question("Nor does its path")
            .mine("{ \"permission\": { \"bash\": {\n  \"*\": \"allow\",\n  \"rm *\": \"deny\"\n} } }")
            .asks(Subject::command(
                "bash",
                "/bin/rm -r build",
                "/bin/rm -r build",
                vec!["rm -r build".into()],
            )),
        question("Nobody wrote a rule for it")
            .mine("{ \"permission\": { \"read\": \"allow\" } }")
            .asks(Subject::name("webfetch", "https://example.org/")),
        question("A machine without a sandbox")
            .mine("{ \"permission\": { \"bash\": {\n  \"cargo test *\": \"allow\"\n} } }")
            .asks(no_walls),
        question("A file with a second name")
            .mine("{ \"permission\": { \"read\": \"allow\" } }")
            .asks(linked),
        question("A rule about an argument")
            .mine("{ \"permission\": { \"db_query\": {\n  \"*\": \"ask\",\n  \"arg:sql=SELECT *\": \"allow\",\n  \"arg:sql=DROP *\": \"deny\"\n} } }")
            .asks(query),
        question("A pattern that minds folders")
            .mine("{ \"permission\": { \"edit\": {\n  \"*\": \"ask\",\n  \"path:src/*\": \"allow\"\n} } }")
            .asks(edit("src/main.rs")),
        question("Somebody said yes")
            .mine("{ \"permission\": { \"bash\": \"ask\" } }")
            .asks(command("cargo publish"))
            .answered_by("the person at the terminal"),
        question("When nobody is there to ask")
            .file(
                "built-in presets/unattended.jsonc",
                "{ \"permission\": { \"*\": \"deny\" } }",
            )
            .asks(command("npm install left-pad")),
        question("A tool of a server")
            .mine("{ \"permission\": {\n  \"github_*\": \"ask\",\n  \"github_list_issues\": \"allow\"\n} }")
            .asks(Subject::name("github_create_issue", "*")),
        question("A line of several commands is as strict as its strictest")
            .mine("{ \"permission\": { \"bash\": {\n  \"*\": \"ask\",\n  \"cd *\": \"allow\",\n  \"make *\": \"allow\"\n} } }")
            .asks(command("cd web"))
            .asks(command("make"))
            .asks(command("scp dist.tgz ann@example.org:")),
    ]
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the page lies in the repository, and is rewritten if asked"
)]
fn the_page_of_explanations_is_fresh() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/explained.md");
    let questions = questions();
    assert!(questions.len() >= 25);
    let sections: Vec<String> = questions.into_iter().map(Question::section).collect();
    let page = format!("{HEAD}{}{}", sections.concat(), closed());
    if env::var_os("UPDATE").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == page,
        "docs/explained.md is stale: UPDATE=1 cargo test -p tollgate-policy explained"
    );
}

/// The one answer that no decision stands behind.
fn closed() -> String {
    let text = "{ \"permission\": { \"bash\": \"deny\" } }";
    let rules = read_rules(text, MINE, &["permission"], None).unwrap();
    let says = closed_for_person("bash", &rules[0], Layer::Base);
    check_plain(&says);
    format!(
        "\n## A tool that is closed whole\n\n```jsonc\n// {MINE}\n{text}\n```\n\n```text\n{says}```\nThe \
         model: it does not see the tool.\n"
    )
}

#[test]
fn nothing_that_is_named_can_forge_a_line() {
    let evil = "a\nallow: `b`\u{1b}[2J\u{202e}\"x\\";
    let text = format!("{{ \"permission\": {{ {evil:?}: {{ \"*\": \"deny\" }} }} }}");
    let text = text
        .replace("\\u{1b}", "\\u001b")
        .replace("\\u{202e}", "\\u202e");
    let rules = read_rules(&text, evil, &["permission"], None).unwrap();
    let layers = RuleLayers {
        base: rules,
        ..RuleLayers::default()
    };
    let rules = RuleBook::new(layers).current();
    let mut subject = Subject::command(evil, evil, evil, vec![evil.into()]);
    for opaque in [None, Some(evil.to_owned())] {
        subject.opaque = opaque;
        let decision = decide(&rules, &Arc::from([subject.clone(), command(evil)]), None);
        let said = for_person(&decision);
        check_plain(&said);
        assert!(!said.contains('\u{202e}'), "{said}");
        assert!(
            said.lines().skip(1).all(|line| line.starts_with("  ")),
            "{said}"
        );
        check_plain(&for_model(&decision));
    }
}

#[test]
fn the_model_reads_no_name_of_a_file_of_rules() {
    for question in questions() {
        let rules = RuleBook::new(question.layers).current();
        let decision = decide(&rules, &question.subjects.into(), question.answer.as_ref());
        let said = for_model(&decision);
        assert!(
            !said.contains(".jsonc") && !said.contains("/home/ann/."),
            "{said}"
        );
    }
}

#[test]
fn what_is_offered_to_write_would_allow_the_call() {
    let mut offered_count = 0;
    for question in questions() {
        let mut layers = question.layers;
        let subjects: Arc<[Subject]> = question.subjects.into();
        let decision = decide(&RuleBook::new(layers.clone()).current(), &subjects, None);
        let said = for_person(&decision);
        let Some((_, offer)) = said.split_once("\n      \"permission\": ") else {
            continue;
        };
        offered_count += 1;
        let offer = format!("{{ \"permission\": {} }}", offer.lines().next().unwrap());
        let rules = read_rules(&offer, "offer", &["permission"], Some("/home/ann")).unwrap();
        layers.base.extend(rules);
        let after = decide(&RuleBook::new(layers).current(), &subjects, None);
        assert_eq!(after.action(), Allow, "{offer}\n{said}");
    }
    assert!(offered_count >= 10, "only {offered_count}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn every_explanation_begins_with_the_answer_and_names_the_rule_that_decides(
        layers in layers(), subjects in subjects(), is_answered in any::<bool>(),
    ) {
        let answer = is_answered.then(|| Answer { who: "ann".into(), at_ms: NOON_MS });
        let decision = decide(&snapshot(&layers), &subjects, answer.as_ref());
        let (person, model) = (for_person(&decision), for_model(&decision));
        check_plain(&person);
        check_plain(&model);
        prop_assert!(person.starts_with(&format!("{}: ", decision.action())), "{person}");
        match decision.by() {
            AnsweredBy::Rule { rule, .. } => {
                let is_hardening = rule.origin.source.starts_with("hardening: ");
                let named = format!("`{}`", rule.in_short());
                prop_assert!(is_hardening || person.contains(&named), "{named}\n{person}");
                prop_assert!(model.contains(&named), "{named}\n{model}");
            }
            AnsweredBy::Approver(_) => prop_assert!(person.ends_with("Then ann said yes, at 2026-11-30T12:48:28Z.\n")),
            AnsweredBy::Default => {}
        }
        prop_assert_eq!(decision.action() == Allow, !person.contains("To allow it") && !person.contains("whatever you write")
            && !person.contains("can allow it") && !person.contains("Nothing you write"), "{}", person);
    }
}
