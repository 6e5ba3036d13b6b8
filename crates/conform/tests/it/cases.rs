//! Tables of cases, and tables that must fail.

use tollgate_conform::vectors::{Report, Suite, run};

const HEADER: &str = "id\tarea\tinput_json\texpected_json\tbasis\n";

fn put(rows: &str) -> Report {
    run(&format!("{HEADER}{rows}"), &Suite::default()).unwrap()
}

#[test]
fn cells_of_json_keep_their_backslashes() {
    let report = put(
        r#"A	wildcard	{"pattern": "docs/*", "text": "docs\\a.md", "os": "windows"}	{"match": true}	compat
B	wildcard	{"pattern": "a *", "text": "a b\nc"}	{"match": true}	compat
"#,
    );
    assert_eq!((report.passed, report.failed), (2, vec![]));
}

#[test]
fn a_case_that_comes_out_otherwise_fails() {
    let report = put(
        r#"A	wildcard	{"pattern": "a", "text": "b"}	{"match": true}	compat
B	permission	{"rules": {"bash": "allow"}, "ask": {"permission": "bash", "pattern": "x"}}	{"action": "deny"}	compat
C	permission	{"rules": {"edit": "deny"}, "auto_approve": true, "tool": "write", "path": "a"}	{"action": "allow"}	safety
D	permission	{"rules": {"edit": "allow"}, "tool": "edit", "path": "/ext/a"}	{"action": "allow"}	safety
E	permission	{"rules": {"bash": {"rm *": "deny", "*": "allow"}}, "ask": {"permission": "bash", "pattern": "rm a"}}	{"action": "allow", "lint": []}	compat
"#,
    );
    let got: Vec<_> = report.failed.iter().map(|row| row.got.as_str()).collect();
    assert_eq!(
        (report.passed, got),
        (
            0,
            vec![
                "false",
                "allow",
                "deny",
                "ask",
                r#"{"action":"allow","lint":["shadowed: rm *"]}"#
            ]
        )
    );
}

#[test]
fn a_case_that_cannot_be_read_fails_and_one_that_cannot_be_put_is_skipped() {
    let report = put(r#"A	wildcard	{	{"match": true}	compat
B	wildcard	{"pattern": "a"}	{"match": true}	compat
C	wildcard	{"pattern": "a", "text": "a", "os": "plan 9"}	{"match": true}	compat
D	permission	{"rules": {"bash": "may"}, "ask": {"permission": "bash", "pattern": "x"}}	{"action": "ask"}	compat
E	weather	{}	{}	compat
F	permission	{"property": "p"}	{}	safety
"#);
    assert!(
        report
            .failed
            .iter()
            .all(|row| row.got.starts_with("unreadable row: "))
    );
    assert_eq!(
        (report.passed, report.failed.len(), report.skipped_count()),
        (0, 4, 2)
    );
}
