//! Random rules and subjects from a small world in which they often meet.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use tollgate_policy as policy;

use policy::{
    Action, Layer, Origin, Pattern, Platform, Rule, RuleBook, RuleLayers, Ruleset, Subject,
    SubjectKind,
};

/// Of what is asked: a permission, a narrower name for it, and the kind of thing.
const ASKED: [(&str, Option<&str>, SubjectKind); 9] = [
    ("bash", None, SubjectKind::Command),
    ("bash", None, SubjectKind::Command),
    ("bash", None, SubjectKind::Command),
    ("read", None, SubjectKind::Path),
    ("edit", None, SubjectKind::Path),
    (OUTSIDE, Some("external_directory.read"), SubjectKind::Path),
    (OUTSIDE, Some("external_directory.write"), SubjectKind::Path),
    (OUTSIDE, None, SubjectKind::Name),
    ("db", None, SubjectKind::Name),
];
const OUTSIDE: &str = "external_directory";
const NAMED: [&str; 16] = [
    "*",
    "*",
    "*",
    "bash",
    "bash",
    "bash",
    "read",
    "edit",
    "edit",
    "db",
    OUTSIDE,
    "external_directory.read",
    "external_directory.write",
    "b*",
    "*d*",
    "BASH",
];

/// Spellings that belong together: canonical, source, others.
const COMMANDS: [(&str, &str, [&str; 2]); 6] = [
    ("/bin/rm x", "'/bin/rm' x", ["rm x", "/bin/rm x"]),
    ("rm x", "'rm' x", ["rm x", "rm x"]),
    ("rm", "rm", ["rm", "rm"]),
    ("RM x", "RM x", ["rm x", "RM x"]),
    (
        "git -C . push",
        "git -C '.' push",
        ["git push", "git -C . push"],
    ),
    ("git push", "git  push", ["git push", "git"]),
];
const PATHS: [(&str, &str, [&str; 2]); 9] = [
    ("a", "/w/a", ["b", "/w/b"]),
    ("/w/b", "/w/b", ["a", "A"]),
    ("src/a/b", "/w/src/a/b", ["src/b", "src/b"]),
    ("src\\a", "/w/src\\a", ["SRC/a", "SRC/a"]),
    (".env", "/w/.env", ["a", "/w/a"]),
    ("a/.ENV", "/w/a/.ENV", ["a", "a"]),
    (".env.example", "/w/.env.example", ["a", "a"]),
    ("k/.ssh/id", "/w/k/.ssh/id", ["b", "b"]),
    (".kilo/a", "/w/.kilo/a", ["a", "a"]),
];
const WILDCARDS: [&str; 34] = [
    "rm *",
    "rm x",
    "rm*",
    "r? *",
    "*rm*",
    "/bin/*",
    "'rm' *",
    "'*",
    "git *",
    "git push *",
    "g*h",
    "RM *",
    "a",
    "b",
    "A",
    "?",
    "/w/*",
    "/w/a",
    "*b",
    "src/*",
    "SRC/*",
    "src/a/*",
    "src\\*",
    "*\\a",
    ".env",
    "*.env*",
    "*.ENV",
    "*.ssh/*",
    ".kilo/*",
    "* *",
    "*",
    "*",
    "*",
    "**",
];
const READ: [&str; 11] = [
    "path:src/*",
    "path:src/**",
    "path:**/b",
    "path:*",
    "path:**",
    "path:**/.ssh/**",
    "arg:sql=SELECT *",
    "arg:sql=* && db=a",
    "arg:sql=*",
    "arg:db=A",
    "arg:none=*",
];
const ARGUMENTS: [&[(&str, &str)]; 4] = [
    &[],
    &[],
    &[("sql", "SELECT 1"), ("db", "a")],
    &[("sql", "DROP x")],
];

pub(crate) const LAYERS: [Layer; 5] = [
    Layer::Base,
    Layer::Project,
    Layer::Session,
    Layer::Saved,
    Layer::Hard,
];

/// Numbers that look random and are the same for the same seed.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let mixed = usize::try_from((mixed ^ (mixed >> 31)) >> 16).unwrap();
        mixed % sides
    }

    fn is_one_in(&mut self, sides: usize) -> bool {
        self.roll(sides) == 0
    }

    fn pick<T: Copy>(&mut self, table: &[T]) -> T {
        table[self.roll(table.len())]
    }

    fn text(&mut self) -> String {
        if self.is_one_in(8) {
            let letters: Vec<char> = "ab/ .'é*?AÉ\\".chars().collect();
            let length = self.roll(6);
            return (0..length).map(|_| self.pick(&letters)).collect();
        }
        let table: &[_] = if self.is_one_in(2) { &COMMANDS } else { &PATHS };
        let (canonical, source, others) = self.pick(table);
        let spellings = [canonical, source, others[0], others[1]];
        self.pick(&spellings).to_owned()
    }

    fn pattern(&mut self) -> Pattern {
        match self.roll(12) {
            0..8 => Pattern::wildcard(self.pick(&WILDCARDS)),
            8 => Pattern::read(self.pick(&READ)).unwrap(),
            9 => Pattern::wildcard(&self.text()),
            _ => Pattern::exact(&self.text()),
        }
    }

    pub(crate) fn rule(&mut self) -> Rule {
        let action = self.pick(&[Action::Allow, Action::Allow, Action::Ask, Action::Deny]);
        let name = self.pick(&NAMED);
        let origin = self.pick(&["random", "random", "built-in random"]);
        Rule::new(name, self.pattern(), action, Origin::named(origin))
    }

    fn rules(&mut self, count_max: usize) -> Vec<Rule> {
        let count = self.roll(count_max + 1);
        (0..count).map(|_| self.rule()).collect()
    }

    pub(crate) fn layers(&mut self) -> RuleLayers {
        RuleLayers {
            base: self.rules(16),
            project: if self.is_one_in(2) {
                self.rules(3)
            } else {
                vec![]
            },
            session: self.rules(3),
            saved: self.rules(3),
            hard: self.rules(2),
            is_configuration_open: self.is_one_in(4),
        }
    }

    pub(crate) fn platform(&mut self) -> Platform {
        self.pick(&[
            Platform::Unix,
            Platform::Unix,
            Platform::Mac,
            Platform::Windows,
        ])
    }

    pub(crate) fn subject(&mut self) -> Subject {
        let (permission, narrower, mut kind) = self.pick(&ASKED);
        if self.is_one_in(12) {
            kind = self.pick(&[SubjectKind::Name, SubjectKind::Path, SubjectKind::Command]);
        }
        let table: &[_] = match kind {
            SubjectKind::Command => &COMMANDS,
            SubjectKind::Path | SubjectKind::Name => &PATHS,
        };
        let (canonical, source, others) = self.pick(table);
        let mut subject = Subject::command(permission, canonical, source, vec![]);
        subject.others = others.map(str::to_owned).to_vec();
        if self.is_one_in(4) {
            (subject.canonical, subject.source) = (self.text(), self.text());
            subject.others = (0..self.roll(3)).map(|_| self.text()).collect();
        }
        let because = |is_so: bool| is_so.then(|| "because".to_owned());
        subject.narrower = narrower;
        subject.kind = kind;
        subject.is_literal = !self.is_one_in(3);
        subject.opaque = because(kind == SubjectKind::Command && self.is_one_in(5));
        subject.ask_because = because(self.is_one_in(12));
        subject.is_possible = kind == SubjectKind::Path && self.is_one_in(4);
        subject.is_beside = kind != SubjectKind::Command && self.is_one_in(8);
        if kind == SubjectKind::Path && self.is_one_in(2) {
            let (canonical, source, others) = self.pick(&COMMANDS);
            let mut command = Subject::command("bash", canonical, source, vec![]);
            command.others = others.map(str::to_owned).to_vec();
            command.is_literal = !self.is_one_in(3);
            subject.by = Some(Arc::new(command));
        }
        let arguments = self.pick(&ARGUMENTS).iter();
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        subject.arguments = arguments.map(owned).collect();
        subject
    }
}

/// What the dice make of any seed. Nothing of it is made simpler; what is a list of it is.
fn thrown<T: std::fmt::Debug>(make: fn(&mut Dice) -> T) -> impl Strategy<Value = T> {
    any::<u64>().prop_map(move |seed| make(&mut Dice(seed)))
}

pub(crate) fn rule() -> impl Strategy<Value = Rule> {
    thrown(Dice::rule)
}

pub(crate) fn denial() -> impl Strategy<Value = Rule> {
    rule().prop_map(|rule| Rule {
        action: Action::Deny,
        ..rule
    })
}

/// Rules of a repository.
pub(crate) fn project() -> impl Strategy<Value = Vec<Rule>> {
    vec(rule(), 1..4)
}

pub(crate) fn layers() -> impl Strategy<Value = RuleLayers> {
    (
        vec(rule(), 0..16),
        prop_oneof![Just(Vec::new()), project()],
        vec(rule(), 0..3),
        vec(rule(), 0..3),
        vec(rule(), 0..2),
    )
        .prop_map(|(base, project, session, saved, hard)| RuleLayers {
            base,
            project,
            session,
            saved,
            hard,
            is_configuration_open: false,
        })
}

pub(crate) fn subject() -> impl Strategy<Value = Subject> {
    thrown(Dice::subject)
}

pub(crate) fn subjects() -> impl Strategy<Value = Arc<[Subject]>> {
    vec(subject(), 0..4).prop_map(Arc::from)
}

pub(crate) fn platform() -> impl Strategy<Value = Platform> {
    thrown(Dice::platform)
}

pub(crate) fn snapshot(layers: &RuleLayers) -> Arc<Ruleset> {
    RuleBook::on(Platform::Unix, layers.clone()).current()
}
