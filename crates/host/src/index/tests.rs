//! What is closed in small trees, and that what is remembered is what a new walk finds.

use super::{survey::DEPTH_MAX, *};
use conform::testkit::{Action, Bench, MemoryHost};
use proptest::prelude::*;
use rustix::fs::{CWD, Mode, OFlags, openat};
use std::{ffi::OsStr, fs};

type Rules<'a> = &'a [(&'a str, &'a str, Action)];

fn rules(rules: Rules<'_>) -> Arc<ChildRules> {
    let mut all = vec![("*", "*", Action::Allow)];
    all.extend(rules);
    let bench = Bench::on(MemoryHost::with(&[]), &all);
    Arc::new(ChildRules::of(&bench.rules.current()))
}

struct Tree {
    dir: tempfile::TempDir,
    index: Index,
}

impl Tree {
    fn new(files: &[&str], said: Rules<'_>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for file in files {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            if !file.ends_with('/') {
                fs::write(path, "").unwrap();
            }
        }
        let index = Index::new(&root, Place::Inside, rules(said));
        Self { dir, index }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(path)
    }

    fn closed_to(&mut self, opened: &Opened) -> [Vec<String>; 3] {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let fd = openat(CWD, self.index.root(), flags, Mode::empty()).unwrap();
        let closed = self.index.closed(&fd, opened).unwrap();
        let below = |paths: Vec<PathBuf>| {
            let root = self.index.root();
            let text = |path: PathBuf| path.strip_prefix(root).unwrap().display().to_string();
            let mut all: Vec<String> = paths.into_iter().map(text).collect();
            all.sort();
            all
        };
        [closed.masked, closed.writable, closed.write_protected].map(below)
    }

    fn closed(&mut self) -> [Vec<String>; 3] {
        self.closed_to(&Opened::default())
    }
}

#[track_caller]
fn check(files: &[&str], said: Rules<'_>, want: [&[&str]; 3]) {
    let got = Tree::new(files, said).closed();
    let want = want.map(|it| it.iter().map(ToString::to_string).collect::<Vec<_>>());
    assert_eq!(got, want, "masked, writable, write protected");
}

#[test]
fn what_the_rules_do_not_allow_is_closed_file_by_file() {
    let files = [
        "a",
        ".env",
        "sub/.env",
        "sub/.env.example",
        "sub/b",
        "AGENTS.md",
    ];
    check(
        &files,
        &[("edit", "sub/b", Action::Ask)],
        [&[".env", "sub/.env"], &[""], &["AGENTS.md", "sub/b"]],
    );
}

#[test]
fn the_narrower_names_decide_what_commands_change() {
    let said: Rules<'_> = &[
        ("edit", "*", Action::Ask),
        ("edit.new", "*", Action::Allow),
        ("edit.command", "*", Action::Allow),
        ("edit", "b", Action::Ask),
    ];
    check(&["a", "b"], said, [&[], &[""], &["b"]]);
}

#[test]
fn a_directory_in_which_nothing_may_be_read_or_made_is_closed_whole() {
    let said: Rules<'_> = &[
        ("read", "private/*", Action::Deny),
        ("edit", "vendor/*", Action::Deny),
    ];
    let files = [
        "private/a",
        "private/sub/b",
        "vendor/c",
        "vendor/sub/d",
        "e",
    ];
    check(&files, said, [&["private"], &[""], &["vendor"]]);
}

#[test]
fn a_directory_with_something_open_in_it_stays() {
    let said: Rules<'_> = &[
        ("read", "*", Action::Deny),
        ("read", "src/*", Action::Allow),
        ("edit", "*", Action::Deny),
        ("edit", "src/*", Action::Allow),
        ("edit", "notes.md", Action::Allow),
    ];
    let files = ["a", "src/b", "docs/c", "notes.md"];
    let masked: &[&str] = &["a", "docs", "notes.md"];
    check(&files, said, [masked, &["notes.md", "src"], &[]]);
}

#[test]
fn git_writes_in_its_own_directory_but_for_what_it_executes() {
    let git = [
        "a",
        ".git/HEAD",
        ".git/config",
        ".git/objects/aa/b",
        ".git/worktrees/w/config.worktree",
    ];
    let held = [
        ".git/config",
        ".git/hooks",
        ".git/info/attributes",
        ".git/worktrees/w/config.worktree",
    ];
    check(&git, &[], [&[], &[""], &held]);
    let deny = &[
        ("edit", "*.git/*", Action::Deny),
        ("read", "*.git/config", Action::Deny),
    ];
    check(&git, deny, [&[".git/config"], &[""], &[".git"]]);
    let module = [
        ".git/HEAD",
        ".git/modules/a/b/config",
        ".git/modules/a/b/hooks/x",
    ];
    let held = [
        ".git/config",
        ".git/hooks",
        ".git/info/attributes",
        ".git/modules/a/b/config",
        ".git/modules/a/b/hooks",
    ];
    check(&module, &[], [&[], &[""], &held]);
}

#[test]
fn a_permit_opens_exactly_what_it_names() {
    let mut tree = Tree::new(&[".env", "sub/.env", "AGENTS.md", "CLAUDE.md"], &[]);
    let opened = Opened {
        read: HashSet::from([tree.path(".env")]),
        write: HashSet::from([tree.path("AGENTS.md")]),
    };
    let [masked, _, protected] = tree.closed_to(&opened);
    assert_eq!(
        (masked, protected),
        (vec!["sub/.env".into()], vec!["CLAUDE.md".into()])
    );
    let [masked, ..] = tree.closed();
    assert_eq!(masked, [".env", "sub/.env"], "it was for one call");
}

#[test]
fn a_link_is_judged_where_it_leads_to_and_a_name_that_is_no_text_is_closed() {
    use std::os::unix::{ffi::OsStrExt as _, fs::symlink};
    let mut tree = Tree::new(&["secret.pem"], &[]);
    symlink("secret.pem", tree.path(".env")).unwrap();
    fs::write(tree.path("").join(OsStr::from_bytes(b"x\xff")), "").unwrap();
    let [masked, _, protected] = tree.closed();
    assert_eq!(masked.len(), 2, "{masked:?}");
    assert!(masked.contains(&"secret.pem".to_owned()));
    assert_eq!(protected.len(), 1, "{protected:?}");
}

#[test]
fn what_lies_too_deep_is_shut() {
    let deep = format!("{}x", "d/".repeat(DEPTH_MAX + 3));
    let [masked, ..] = Tree::new(&[&deep], &[]).closed();
    assert_eq!(masked, ["d/".repeat(DEPTH_MAX + 1).trim_end_matches('/')]);
}

/// One change to the disk; names are few, so that they meet.
#[derive(Clone, Debug)]
enum Change {
    Write(String),
    Remove(String),
    Rename(String, String),
}

fn some_path() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec!["a", "b", ".env", ".git", "config", "AGENTS.md"]);
    prop::collection::vec(name, 1..4).prop_map(|parts| parts.join("/"))
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        3 => some_path().prop_map(Change::Write),
        1 => some_path().prop_map(Change::Remove),
        2 => (some_path(), some_path()).prop_map(|(from, to)| Change::Rename(from, to)),
    ]
}

/// What cannot be done is not done.
fn apply(root: &Path, change: &Change) {
    match change {
        Change::Write(path) => {
            let path = root.join(path);
            let around = path.parent().unwrap();
            drop(fs::create_dir_all(around).and_then(|()| fs::write(&path, "")));
        }
        Change::Remove(path) => {
            let path = root.join(path);
            drop(fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path)));
        }
        Change::Rename(from, to) => drop(fs::rename(root.join(from), root.join(to))),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn what_is_remembered_is_what_a_new_walk_finds(
        steps in prop::collection::vec(prop::collection::vec(change(), 0..4), 1..8),
    ) {
        let said: Rules<'_> = &[("read", "a/b/*", Action::Deny), ("edit", "*/a", Action::Ask)];
        let mut tree = Tree::new(&["a/b/.env", "b/a"], said);
        // No more than the kernel's own, so that most of what is known holds from step to step.
        tree.index.tick = Duration::from_millis(11);
        for changes in steps {
            std::thread::sleep(tree.index.tick);
            let root = tree.path("");
            for change in &changes {
                apply(&root, change);
            }
            let got = tree.closed();
            let kept = std::mem::take(&mut tree.index.top);
            let want = tree.closed();
            tree.index.top = kept;
            prop_assert_eq!(got, want);
        }
    }
}
