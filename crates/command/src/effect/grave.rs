//! What the words of a command say that it destroys, publishes or writes anew, where no option says so. It must
//! not read options.

use super::apply::Applied;
use super::grammar::Mark;
use super::place;
use crate::line::{Class, Host, Word};
use crate::spelling::base_name;

/// What a task does that shows others what is here.
const SHOWS: &[&str] = &["deploy", "publish", "push", "upload"];

/// What a task does that takes away more than a build made.
const TAKES: &[&str] = &[
    "destroy", "drop", "dropall", "nuke", "purge", "truncate", "wipe",
];

/// What takes away the data of a database, and is harmless for anything else.
const EMPTIES: &[&str] = &[
    "downgrade",
    "empty",
    "erase",
    "flush",
    "fresh",
    "recreate",
    "reset",
    "rollback",
    "undo",
];

/// What speaks of a database.
const DATABASE: &[&str] = &[
    "database",
    "databases",
    "db",
    "ecto",
    "migrate",
    "migration",
    "migrations",
    "prisma",
    "schema",
    "tables",
];

/// What makes the name of a task that of another kind of work.
const HARMLESS: &[&str] = &[
    "cache",
    "changelog",
    "dry",
    "list",
    "local",
    "notes",
    "plan",
    "status",
    "validate",
    "verify",
];

/// What makes a thing of the name that follows.
const MAKES: &[&str] = &[
    "add", "create", "g", "generate", "init", "make", "new", "revision",
];

/// What a name begins with that is built or looked at.
const LOOKS: &[&str] = &["build", "check", "lint", "test", "tests", "typecheck"];

/// The words of a name, lower case: `closeAndRelease`, `db:drop` and `db_drop` have several.
fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || c.is_uppercase() && was_lower {
            words.push(String::new());
        }
        was_lower = c.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// What a task of this name does, among `others`.
fn class_of(name: &str, others: &[&str]) -> Class {
    let words = words_of(name);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let is_look = !name.starts_with(':')
        && words
            .first()
            .is_some_and(|word| LOOKS.contains(&word.as_str()));
    if is_look || name.ends_with("_test") || has(HARMLESS) {
        return Class::Ordinary;
    }
    let is_begun = |part: &str| {
        let first = words_of(part).into_iter().next().unwrap_or_default();
        let starts = ["deploy", "publish", "release", "upload"];
        starts.iter().any(|it| first.starts_with(it))
    };
    let is_release = words.windows(2).any(|pair| match pair {
        [before, word] => word == "release" && ["and", "sonatype"].contains(&before.as_str()),
        _ => false,
    });
    if has(SHOWS) || is_release || name.split([':', '.', '/', '+']).any(is_begun) {
        return Class::Publish;
    }
    let of_database = ["database", "db", "migrate", "prisma", "schema"];
    let is_of_database = has(DATABASE) || others.iter().any(|it| of_database.contains(it));
    let cleans = has(&["clean"]) && has(&["flyway"]);
    if has(TAKES) || cleans || is_of_database && has(EMPTIES) {
        return Class::Irreversible;
    }
    Class::Ordinary
}

impl Applied<'_> {
    /// A task of a build or of the project, by its name.
    pub(super) fn task(&mut self, word: &Word) {
        let operands = self.reading.operands.iter().take(OPERANDS_MAX);
        let others: Vec<&str> = operands.map(|it| it.text.as_str()).collect();
        let before = self.reading.operands.iter().take(OPERANDS_MAX);
        let mut before = before.take_while(|it| it.range.start < word.range.start);
        let makes = |name: &str| {
            let words = words_of(name);
            words.iter().any(|it| MAKES.contains(&it.as_str()))
        };
        if !before.any(|it| makes(&it.text)) {
            self.raise(class_of(&word.text, &others));
        }
        self.suspect(word);
    }

    /// The words a script of the project is given: some of them are tasks.
    pub(super) fn tasks_of_script(&mut self, script: &Word, words: &[Word]) {
        // Those are known to keep a database.
        let keeps = ["artisan", "console", "manage.py", "rails"];
        let others: &[&str] = match base_name(&script.text) {
            name if keeps.contains(&name) => &["db"],
            _ => &[],
        };
        let names = words.iter().take(OPERANDS_MAX);
        for word in names.filter(|it| !it.text.starts_with('-')) {
            let words = words_of(&word.text);
            if words.iter().any(|it| MAKES.contains(&it.as_str())) {
                break;
            }
            self.raise(class_of(&word.text, others));
        }
    }

    /// The first operand of `git reset`: where it names another commit than the present one, history is left
    /// behind. With files behind it, only the index changes.
    pub(super) fn reset(&mut self, word: &Word) {
        self.revision(word);
        let text = word.text.as_str();
        let is_hash =
            (7..=64).contains(&text.len()) && text.bytes().all(|it| it.is_ascii_hexdigit());
        let names = [
            "FETCH_HEAD",
            "ORIG_HEAD",
            "develop",
            "main",
            "master",
            "trunk",
        ];
        let is_named = text.contains(['~', '^'])
            || text.contains("@{")
            || text.starts_with("origin/")
            || text.starts_with("upstream/")
            || is_hash
            || names.contains(&text);
        let is_present = matches!(text, "HEAD" | "@");
        // Those two take no files.
        let is_of_commits = self.has(Mark::Writes) && !is_present;
        if self.reading.operands.len() == 1 && (is_named || is_of_commits || !word.is_known()) {
            self.raise(Class::Irreversible);
        }
    }

    /// The URL of a remote that is only noted.
    pub(super) fn noted_remote(&mut self, word: &Word) {
        if word.text.contains("::") || word.text.starts_with('-') || !word.is_known() {
            self.hide(word, "this remote may be a program");
        }
    }

    /// A machine that no word names is reached.
    pub(super) fn reach_some(&mut self, word: &Word) {
        self.reach(Host {
            is_known: false,
            is_of_program: true,
            ..place::host("?", word)
        });
    }

    /// What is sent to this machine alone is seen by nobody else.
    pub(super) fn stays_here(&self) -> bool {
        let hosts = &self.effects.hosts;
        let is_here = |it: &Host| {
            let name = it.name.as_str();
            let is_number = name.starts_with("127.")
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_digit() || byte == b'.');
            it.is_known && (is_number || matches!(name, "localhost" | "::1" | "0.0.0.0"))
        };
        !hosts.is_empty() && hosts.iter().all(is_here)
    }
}

/// Most operands that are looked at as words beside a task.
const OPERANDS_MAX: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_known_by_the_words_of_its_name() {
        let cases = [
            (
                Class::Publish,
                "deploy publish release upload push deploy:prod release:publish \
                closeAndReleaseRepository bintrayUpload dockerPush +publish :a:publish x.publish \
                publishToMavenCentral //x:push sonatypeRelease deploy_prod release-it",
            ),
            (
                Class::Irreversible,
                "db:drop ecto.drop db-reset migrate:fresh db:wipe reset_db flywayClean \
                doctrine:database:drop schema:dropAll db:migrate:reset migrate:rollback drop-db wipe",
            ),
            (
                Class::Ordinary,
                "build test:publish build:release publishToMavenLocal release-notes lint \
                assembleRelease check:deploy clean reset cache:purge db:migrate db:seed testReleaseUnitTest \
                release-dry-run typecheck fresh dropdown",
            ),
        ];
        for (class, names) in cases {
            for name in names.split_whitespace() {
                assert_eq!(class_of(name, &[]), class, "{name}");
            }
        }
        assert_eq!(
            class_of("reset", &["migrate", "reset"]),
            Class::Irreversible
        );
    }
}
