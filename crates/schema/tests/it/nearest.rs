//! Which known name is meant. Must not test words.

use crate::schema::nearest;

#[test]
fn the_nearest_name_is_found_or_none() {
    let known = [
        "filePath",
        "oldString",
        "newString",
        "replaceAll",
        "read",
        "ls",
        "apply_patch",
    ];
    let rows = [
        ("newStrin", Some("newString")),
        ("new_string", Some("newString")),
        ("NEW-STRING", Some("newString")),
        ("file_path", Some("filePath")),
        ("fielPath", Some("filePath")),
        ("raed", Some("read")),
        ("Read", Some("read")),
        ("sl", None),
        ("LS", Some("ls")),
        ("applypatches", Some("apply_patch")),
        ("rm", None),
        ("bogus", None),
        ("", None),
        ("___", None),
    ];
    for (name, expected) in rows {
        assert_eq!(nearest(name, known), expected, "{name}");
    }
}

#[test]
fn the_first_of_equals_wins_and_an_exact_one_over_all() {
    assert_eq!(nearest("read", ["reed", "road", "read"]), Some("read"));
    assert_eq!(nearest("rxad", ["road", "read"]), Some("road"));
}

#[test]
fn a_huge_name_is_not_compared() {
    let huge = "a".repeat(1_000_000);
    assert_eq!(nearest(&huge, [huge.as_str(), "a"]), None);
}
