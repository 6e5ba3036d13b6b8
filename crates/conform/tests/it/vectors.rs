//! Every table of spec/vectors against the engine, and the reader against tables that must fail.

use std::fs;
use std::path::{Path, PathBuf};

use tollgate_conform::vectors::{Deviations, Missing, Report, Sets, Suite, VectorError, run};

fn spec(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../spec")
        .join(name)
}

fn read(name: &str) -> String {
    fs::read_to_string(spec(name)).unwrap()
}

fn suite() -> Suite {
    Suite {
        sets: Sets::read(&read("vectors/rulesets.json")).unwrap(),
        deviations: Deviations::read(&read("deviations.tsv")).unwrap(),
        missing: Missing::read(&read("missing.tsv")).unwrap(),
    }
}

fn deviating(deviations: &str) -> Suite {
    Suite {
        deviations: Deviations::read(deviations).unwrap(),
        ..Suite::default()
    }
}

/// One table without rule sets or deviations.
fn plain(text: &str) -> Report {
    run(text, &Suite::default()).unwrap()
}

#[test]
fn every_row_of_the_suite_passes_or_stands_in_deviations_or_waits_for_a_capability() {
    let suite = suite();
    let mut report = Report::default();
    for entry in fs::read_dir(spec("vectors")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "tsv") {
            let text = fs::read_to_string(&path).unwrap();
            report.merge(run(&text, &suite).unwrap());
        }
    }
    assert_eq!(report.failed, []);
    assert_eq!(report.unknown(&suite), [""; 0]);
    assert!(report.passed > 400, "only {} rows", report.passed);
    let waiting: Vec<_> = report.skipped.iter().collect();
    assert_eq!(report.skipped_count(), 21, "{waiting:?}");
}

#[test]
fn a_row_that_waits_for_a_capability_is_counted_under_it_until_it_passes() {
    let missing = Missing::read("row\tcapability\nA\tclairvoyance\nZ\tclairvoyance\n").unwrap();
    let suite = Suite {
        missing,
        ..Suite::default()
    };
    let row = |expected: &str| format!("{HEADER}A\twildcard\ta\tb\t{expected}\tsafety\n");
    let waits = run(&row("true"), &suite).unwrap();
    assert_eq!((waits.passed, waits.failed.len()), (0, 0));
    assert_eq!(waits.skipped.get("clairvoyance"), Some(&1));
    assert_eq!(waits.unknown(&suite), ["Z"]);
    let stale = run(&row("false"), &suite).unwrap();
    assert_eq!((stale.passed, stale.skipped_count()), (0, 0));
    assert!(
        stale.failed[0].got.contains("and passes"),
        "{:?}",
        stale.failed
    );
    assert!(Missing::read("row\tcapability\nA\tx\nA\ty\n").is_err());
}

#[test]
fn layers_and_asks_are_put_with_saved_and_hard_rules() {
    let header = "id\top\truleset\tsaved\thard\trequest\texpected\n";
    let deny = r#"[["bash","rm *","deny"]]"#;
    let allow = r#"[["bash","*","allow"]]"#;
    let table = format!(
        "{header}A\tresolve\t[]\t{allow}\t\t[\"bash\",\"ls\"]\task\n\
         B\tresolve\t{allow}\t{deny}\t\t[\"bash\",\"rm x\"]\tdeny@bash:rm *\n\
         C\task\t{allow}\t\t{deny}\t{{\"permission\":\"bash\",\"patterns\":[\"ls\",\"rm x\"]}}\tdeny(hard)\n\
         D\tfromConfig\t\t\t\tallow\t[[\"*\",\"*\",\"allow\"]]\n\
         E\tfromConfig\t\t\t\t{{\"bash\":\"perhaps\"}}\t[]\n"
    );
    let report = plain(&table);
    let failed: Vec<_> = report.failed.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(
        (report.passed, failed),
        (3, vec!["A", "E"]),
        "{:?}",
        report.failed
    );
    assert_eq!(report.failed[0].got, "allow");
    assert!(report.failed[1].got.starts_with("unreadable row: "));
}

const HEADER: &str = "id\top\truleset\trequest\texpected\tbasis\n";

#[test]
fn a_wrong_row_fails_with_what_was_expected_and_what_came() {
    let report = plain(&format!("{HEADER}A\twildcard\ta*\tb\ttrue\tcompat\n"));
    let [row] = report.failed.as_slice() else {
        panic!("{:?}", report.failed)
    };
    assert_eq!((row.id.as_str(), row.expected.as_str()), ("A", "true"));
    assert_eq!((row.op.as_str(), row.got.as_str()), ("wildcard", "false"));
    assert_eq!(report.passed, 0);
}

#[test]
fn rows_that_cannot_be_read_fail_and_say_why() {
    for (line, why) in [
        (
            "evaluate\t@nobody\t[\"bash\",\"ls\"]\task",
            "no rule set `@nobody`",
        ),
        (
            "evaluate\t[[\"bash\",\"*\"]]\t[\"bash\",\"ls\"]\task",
            "not three words",
        ),
        (
            "evaluate\t[[\"bash\",\"*\",\"may\"]]\t[\"bash\",\"ls\"]\task",
            "no action `may`",
        ),
        ("evaluate\t[]\t[\"bash\"]\task", "not two words"),
        ("evaluate\t[\t[\"bash\",\"ls\"]\task", "rules: "),
        ("prefix\t\tgit\tgit *", "request: "),
    ] {
        let report = plain(&format!("{HEADER}A\t{line}\tcompat\n"));
        assert_eq!(report.passed, 0, "{line}");
        assert!(
            report.failed[0].got.contains(why),
            "{line}: {:?}",
            report.failed
        );
    }
    let report = plain("prefix\tarity\ngit\tmany\ngit push\t99\n");
    assert_eq!((report.passed, report.failed.len()), (0, 2));
}

#[test]
fn an_op_without_a_capability_is_skipped_by_name() {
    let report = plain(&format!(
        "{HEADER}A\tsequence\t\tx\ty\tcompat\nB\tsing\t\tx\ty\tcompat\n"
    ));
    let skipped: Vec<_> = report.skipped.iter().collect();
    assert_eq!(
        skipped,
        [
            (&"a course of events told in words".to_owned(), &1),
            (&"an op this suite does not know".to_owned(), &1)
        ]
    );
    assert_eq!(
        (report.passed, report.failed.len(), report.skipped_count()),
        (0, 0, 2)
    );
}

#[test]
fn escapes_in_cells_are_undone_and_spaces_are_kept() {
    let rows = [
        r"A	wildcard	a\tb	a\tb	true	compat",
        r"B	wildcard	a\\tb	a\tb	false	compat",
    ];
    let more = [
        "C\twildcard\t *\tx\tfalse\tcompat",
        r"D	wildcard	?	\n	true	compat",
    ];
    let report = plain(&format!(
        "{HEADER}{}\n{}\n",
        rows.join("\n"),
        more.join("\n")
    ));
    assert_eq!((report.passed, report.failed), (4, vec![]));
}

#[test]
fn sets_are_spliced_where_they_are_named() {
    let sets = r#"{"outer": [["bash","*","allow"], "@inner"], "inner": [["bash","rm *","deny"]]}"#;
    let sets = Sets::read(sets).unwrap();
    let table = format!(
        "{HEADER}A\tevaluate\t@outer\t[\"bash\",\"rm x\"]\tdeny\tcompat\n\
         B\tevaluate\t[\"@outer\",[\"bash\",\"rm x\",\"ask\"]]\t[\"bash\",\"rm x\"]\task\tcompat\n"
    );
    let suite = Suite {
        sets,
        ..Suite::default()
    };
    let report = run(&table, &suite).unwrap();
    assert_eq!((report.passed, report.failed), (2, vec![]));
}

#[test]
fn broken_sets_are_refused() {
    for json in [
        "[]",
        "{",
        r#"{"a": 1}"#,
        r#"{"a": ["@a"]}"#,
        r#"{"a": ["@b"]}"#,
        r#"{"a": ["x"]}"#,
    ] {
        assert!(
            matches!(Sets::read(json), Err(VectorError::Sets(_))),
            "{json}"
        );
    }
}

#[test]
fn a_deviation_wants_its_own_answer_and_goes_stale_when_the_row_passes() {
    let row = format!("{HEADER}A\twildcard\t??\t😀\ttrue\tcompat\n");
    let check = |deviation: &str| {
        let text = format!("row\tanswer\twhy\n{deviation}\n");
        run(&row, &deviating(&text)).unwrap()
    };
    let held = check("A\tfalse\tcharacters");
    assert_eq!((held.passed, held.deviated, held.failed.len()), (1, 1, 0));
    let wrong = check("A\tperhaps\tcharacters");
    assert_eq!(
        (wrong.passed, wrong.failed[0].expected.as_str()),
        (0, "perhaps")
    );

    let row = format!("{HEADER}A\twildcard\t?\t😀\ttrue\tcompat\n");
    for answer in ["true", "false"] {
        let deviations = format!("row\tanswer\twhy\nA\t{answer}\tno reason\nZ\tx\tno row\n");
        let suite = deviating(&deviations);
        let stale = run(&row, &suite).unwrap();
        assert_eq!((stale.passed, stale.failed.len()), (0, 1));
        assert!(stale.failed[0].got.contains("stale"));
        assert_eq!(stale.unknown(&suite), ["Z"]);
    }
}

#[test]
fn no_deviation_from_a_safety_row_is_taken() {
    let row = format!("{HEADER}S\twildcard\ta\tb\ttrue\tsafety\n");
    let refused = run(&row, &deviating("row\tanswer\twhy\nS\tfalse\tbecause\n"));
    assert!(matches!(refused, Err(VectorError::Safety(id)) if id == "S"));
}

#[test]
fn tables_of_another_form_are_refused() {
    let cases = [
        ("", "no column `op`"),
        ("# notes\na\tb\n1\t2\n", "no column `id`"),
        (
            "id\top\truleset\trequest\texpected\nA\twildcard\n",
            "line 2: 2 cells",
        ),
        (
            "prefix\tarity\ngit\t2\ngit\t2\n",
            "`arity:git` stands there twice",
        ),
    ];
    for (text, why) in cases {
        let error = run(text, &Suite::default()).unwrap_err();
        assert!(error.to_string().contains(why), "{text:?}: {error}");
    }
    assert!(Deviations::read("row\tanswer\twhy\nA\tx\ty\nA\tx\ty\n").is_err());
    assert!(Deviations::read("row\tanswer\nA\tx\n").is_err());
}
