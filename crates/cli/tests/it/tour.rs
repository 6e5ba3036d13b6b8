//! The tour: it ends as it says, its refusals are those of the real gates, and its own answers are
//! for nothing but its own script.

use crate::world::{BIN, World, finish, ran, start};
use gate::g2_admit::Gate;
use policy::written;
use sandbox::{Confinement, Launcher};
use serde_json::json;
use std::{fs, path::Path};
use tollgate_cli::tour::{Answers, Played, RULES, Row, play_by};

fn played(launcher: Launcher, rules: &str) -> Played {
    #[expect(
        clippy::disallowed_methods,
        reason = "a test is its own composition root"
    )]
    let root = gate::authority::root_authority();
    play_by(&root, launcher, rules, Answers::OfThisScript, None).unwrap()
}

fn sandboxed() -> Launcher {
    Launcher::open_program(Path::new(BIN)).unwrap()
}

fn row<'p>(played: &'p Played, id: &str) -> &'p Row {
    played.rows.iter().find(|row| row.call_id == id).unwrap()
}

fn rule_count(rules: &str) -> usize {
    written::read_rules(rules, "rules", &["permission"], None)
        .unwrap()
        .len()
}

/// What is printed from the head of the table on.
fn table(out: &str) -> String {
    let lines = out.lines().skip_while(|line| !line.starts_with("call "));
    let lines: Vec<&str> = lines.map(str::trim_end).collect();
    lines.join("\n")
}

#[test]
fn the_tour_ends_well_with_nobody_there_and_leaves_nothing() {
    let world = World::new();
    let before = world.files();
    let ran = world.run(&["tour"]).ended_with(0);
    insta::assert_snapshot!(table(&ran.out), @r#"
    call                             gate          why
    bash sh test.sh                  passed        rule bash "sh test.sh" allow (tour/rules.jsonc:10:7)
    read greet.sh                    passed        rule read "*" allow (tour/rules.jsonc:5:15)
    edit greet.sh                    passed        rule edit "*" ask (tour/rules.jsonc:6:5); yes by the tour's own script
    bash sh test.sh                  passed        rule bash "sh test.sh" allow (tour/rules.jsonc:10:7)
    bash echo done && /bin/rm -rf ~  2 admit       rule bash "rm *" deny (tour/rules.jsonc:12:7)
    read .env                        2 admit       rule read "*.env" deny (tour/rules.jsonc:5:29)
    write ../outside.txt             2 admit       rule external_directory "*" deny (tour/rules.jsonc:7:5)
    bash bash phone.sh               3 confine     the sandbox: phone.sh: connect: Connection refused
    edit with broken arguments       1 decode      input: is not valid JSON: EOF while parsing an object at line 1 column 40, near `...th": "greet.sh", "oldStrin": "a"`
    "#);
    assert!(ran.out.contains(RULES), "the rules are not shown");
    assert_eq!(ran.err, "");
    assert_eq!(world.files(), before);
    assert!(!world.path("data").exists());
    assert_eq!(fs::read_dir(world.path("tmp")).unwrap().count(), 0);
}

#[test]
fn two_tours_at_once_do_not_meet() {
    let world = World::new();
    let tour = || start(&mut world.command(&["tour"]));
    let children = [tour(), tour()];
    let [first, second] = children.map(|child| table(&finish(child).ended_with(0).out));
    assert_eq!(first, second);
    assert!(!first.is_empty());
}

#[test]
fn the_tour_needs_no_home_and_no_checkout() {
    let world = World::new();
    let mut command = world.command(&["tour"]);
    command
        .env_remove("HOME")
        .env_remove("TOLLGATE_DATA_DIR")
        .current_dir("/");
    ran(&mut command).ended_with(0);
}

#[test]
fn each_rule_taken_away_changes_the_rows_that_it_decided() {
    let whole = played(sandboxed(), RULES);
    // What to cut out of the rules, what is left in its place, and the calls that end otherwise then.
    // The two catch-alls are nets: what no rule covers is asked all the same.
    let table: [(&str, &str, &[&str]); 9] = [
        ("\"*\": \"ask\",\n    \"read\"", "\"read\"", &[]),
        ("\"*\": \"allow\", ", "", &["read"]),
        (", \"*.env\": \"deny\"", "", &["secret"]),
        ("\"edit\": \"ask\",", "", &["fix"]),
        ("\"external_directory\": \"deny\",", "", &["outside"]),
        ("\"*\": \"ask\",\n      \"sh", "\"sh", &[]),
        (
            "\"sh test.sh\": \"allow\",",
            "",
            &["test-before", "test-after"],
        ),
        ("\"bash phone.sh\": \"allow\",", "", &["network"]),
        (",\n      \"rm *\": \"deny\"", "", &["home"]),
    ];
    assert_eq!(table.len(), rule_count(RULES));
    for (cut, left, changed) in table {
        let rules = RULES.replacen(cut, left, 1);
        assert_eq!(rule_count(&rules), rule_count(RULES) - 1, "{rules}");
        let without = played(sandboxed(), &rules);
        // Where a rule stands may move up a line; what it says may not change.
        let plain = |row: &Row| {
            (
                row.gate,
                row.is_done,
                row.why.split(" (tour/").next().unwrap().to_owned(),
            )
        };
        let pairs = whole.rows.iter().zip(&without.rows);
        let differs = pairs
            .filter(|(a, b)| plain(a) != plain(b))
            .map(|(a, _)| a.call_id.as_str());
        // Where the walls are full, a command cannot read either what no rule allows reading.
        let is_of_reading = changed == ["read"];
        let differs = differs.filter(|id| !is_of_reading || *id == "read");
        assert_eq!(
            differs.collect::<Vec<_>>(),
            changed,
            "without {cut}: {:#?}",
            without.rows
        );
    }
}

#[test]
fn without_a_denial_the_tour_would_get_what_it_wants() {
    let secret = RULES.replacen("\"*.env\": \"deny\"", "\"*.env\": \"allow\"", 1);
    let secret = played(sandboxed(), &secret);
    assert_eq!(row(&secret, "secret").gate, None);
    assert!(row(&secret, "secret").is_done);
    let outside = RULES.replacen(
        "\"external_directory\": \"deny\"",
        "\"external_directory\": \"allow\"",
        1,
    );
    let outside = played(
        sandboxed(),
        &outside.replacen("\"edit\": \"ask\"", "\"edit\": \"allow\"", 1),
    );
    assert_eq!(row(&outside, "outside").gate, None);
    assert!(row(&outside, "outside").is_done);
}

#[test]
fn without_a_sandbox_the_network_call_is_refused_before_it_runs() {
    // A supervisor that says nothing: the machine is taken for one that enforces nothing.
    let launcher = Launcher::open_program(Path::new("/bin/true")).unwrap();
    assert!(matches!(
        launcher.confinement(),
        Confinement::NotEnforced { .. }
    ));
    let played = played(launcher, RULES);
    let network = row(&played, "network");
    assert_eq!(
        (network.gate, network.is_done),
        (Some(Gate::Admit), false),
        "{network:?}"
    );
    assert_eq!(
        row(&played, "test-before").why,
        row(&played, "test-after").why
    );
    assert!(
        row(&played, "test-before")
            .why
            .contains("the tour's own script"),
        "{:?}",
        played.rows
    );
    assert!(played.is_mended);
}

#[test]
fn no_option_of_the_tour_answers_anything() {
    let world = World::new();
    let help = world.run(&["tour", "--help"]).ended_with(0).out;
    let options: Vec<&str> = help
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with('-'))
        .collect();
    assert_eq!(
        options,
        ["-h, --help     Print help", "-V, --version  Print version"]
    );
}

#[test]
fn the_names_of_the_tours_calls_mean_nothing_elsewhere() {
    let world = World::new();
    world.rules(r#"{"permission": {"*": "ask", "read": "allow"}}"#);
    let calls = json!([
        {"id": "test-before", "tool": "bash", "args": {"command": "touch made"}},
        {"id": "fix", "tool": "edit", "args": {"filePath": "a.txt", "oldString": "one", "newString": "1"}},
        {"id": "test-after", "tool": "bash", "args": {"command": "touch made"}},
    ]);
    let before = world.files();
    let ran = ran(&mut world.play(&json!([{ "calls": calls }]), &[])).ended_with(3);
    assert_eq!(
        ran.out.matches("nobody can give it here").count(),
        3,
        "{ran:#?}"
    );
    assert_eq!(world.files(), before);
}

#[test]
fn the_tours_answers_are_named_nowhere_but_in_the_tour() {
    let mut files = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let mut naming = Vec::new();
    while let Some(path) = files.pop() {
        if path.is_dir() {
            files.extend(
                fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        if text.contains("OfThisScript") || text.contains("ForThisScript") {
            assert!(
                !text.contains("env::"),
                "{} reads the environment",
                path.display()
            );
            let short = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap();
            naming.push(short.display().to_string());
        }
    }
    naming.sort();
    assert_eq!(
        naming,
        [
            "src/command/tour.rs",
            "src/tour/answers.rs",
            "src/tour/mod.rs"
        ]
    );
}
