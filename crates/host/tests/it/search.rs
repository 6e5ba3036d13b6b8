//! Looking for files and lines on real trees.

use crate::world::{Stop, World};
use conform::testkit::Action::{self, Allow, Ask, Deny};
use gate::{
    access::GlobQuery,
    host::{LeftOut, Matches},
};
use proptest::prelude::*;
use serde_json::json;
use std::{
    ffi::OsStr,
    fs,
    os::unix::{
        ffi::OsStrExt as _,
        fs::{PermissionsExt as _, symlink},
    },
    process::Command,
};
use tollgate_host::{FILE_BYTES_MAX, LocalHost};

fn found(world: &World, host: &LocalHost, path: &str, pattern: &str) -> Vec<String> {
    world.glob(host, path, pattern).unwrap().paths
}

/// `path:number:text` of the lines that fit.
fn lines(matches: &Matches) -> Vec<String> {
    let of = |file: &gate::host::FileMatches| {
        let path = file.path.clone();
        let fitting = file.lines.iter().filter(|line| line.fits);
        let line = |line: &gate::host::Line| format!("{path}:{}:{}", line.number, line.text);
        fitting.map(line).collect::<Vec<_>>()
    };
    matches.files.iter().flat_map(of).collect()
}

/// A workspace with these files below `ws`, each holding `needle`.
fn with(files: &[&str]) -> World {
    world_with(&[], files)
}

fn world_with(rules: &[(&str, &str, Action)], files: &[&str]) -> World {
    let world = World::under(rules);
    fs::remove_dir_all(world.path("ws/src")).unwrap();
    for file in files {
        world.put(&format!("ws/{file}"), "needle\n");
    }
    world
}

#[test]
fn files_come_in_the_order_of_their_bytes_from_any_number_of_directories() {
    let names: Vec<String> = (0..300)
        .map(|at| format!("d{}/e{}/f{at}", at % 7, at % 11))
        .collect();
    let world = with(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let mut expected: Vec<String> = names.iter().map(|name| format!("ws/{name}")).collect();
    expected.sort();
    let host = world.host();
    assert_eq!(found(&world, &host, ".", "*"), expected);
    let matches = world.grep(&host, ".", "needle").unwrap();
    let files: Vec<_> = matches.files.into_iter().map(|file| file.path).collect();
    assert_eq!(files, expected);
}

#[test]
fn a_limit_brings_the_first_ones_and_counts_the_rest() {
    let names: Vec<String> = (0..60).map(|at| format!("d{at:02}/f")).collect();
    let world = with(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let host = world.host();
    for _ in 0..20 {
        let first = json!({ "path": ".", "text": "needle", "limit": 7 });
        let matches = world.grep_with(&host, first).unwrap();
        let expected: Vec<_> = (0..7).map(|at| format!("ws/d{at:02}/f:1:needle")).collect();
        assert_eq!(lines(&matches), expected);
        assert!(matches.has_more);
    }
    let all = json!({ "path": ".", "text": "needle", "limit": 60 });
    assert!(!world.grep_with(&host, all).unwrap().has_more);
}

#[test]
fn what_git_ignores_is_passed_over_in_a_work_tree_and_only_there() {
    let files = [
        "a.log",
        "b.txt",
        "target/c.txt",
        "sub/d.log",
        "sub/keep.log",
        "sub/gen/e.txt",
    ];
    let world = with(&files);
    world.put("ws/.gitignore", "*.log\n/target/\n");
    world.put("ws/sub/.gitignore", "!keep.log\n/gen\n");
    let host = world.host();
    assert_eq!(
        found(&world, &host, ".", "*").len(),
        files.len(),
        "no work tree"
    );
    fs::create_dir(world.path("ws/.git")).unwrap();
    assert_eq!(
        found(&world, &host, ".", "*"),
        ["ws/b.txt", "ws/sub/keep.log"]
    );
    assert_eq!(
        found(&world, &host, "sub", "*"),
        ["ws/sub/keep.log"],
        "from below"
    );
    assert_eq!(
        found(&world, &host, "target", "*"),
        ["ws/target/c.txt"],
        "named itself"
    );
    let matches = world.grep(&host, ".", "needle").unwrap();
    assert_eq!(
        lines(&matches),
        ["ws/b.txt:1:needle", "ws/sub/keep.log:1:needle"]
    );
}

#[test]
fn the_other_ignore_files_count_too_and_the_nearest_comes_first() {
    let world = with(&[
        "a.tmp",
        "b.tmp",
        "c.tmp",
        "nested/a.tmp",
        "nested/b.tmp",
        "nested/x",
    ]);
    world.put("ws/.ignore", "a.tmp\n");
    world.put("ws/.gitignore", "b.tmp\n!a.tmp\nx\n");
    world.put("ws/.git/info/exclude", "c.tmp\n");
    let host = world.host();
    assert_eq!(found(&world, &host, ".", "*"), Vec::<String>::new());
    // A work tree of its own does not hear the `.gitignore` above it, but hears the `.ignore`.
    fs::create_dir(world.path("ws/nested/.git")).unwrap();
    assert_eq!(
        found(&world, &host, ".", "*"),
        ["ws/nested/b.tmp", "ws/nested/x"]
    );
    world.put("ws/nested/.ignore", "!a.tmp\n");
    assert_eq!(found(&world, &host, "nested", "a.*"), ["ws/nested/a.tmp"]);
}

#[test]
fn a_workspace_inside_a_work_tree_has_ignore_files() {
    let world = with(&["a.log", "b"]);
    world.put("ws/.gitignore", "*.log\n");
    fs::create_dir(world.path(".git")).unwrap();
    assert_eq!(found(&world, &world.host(), ".", "*"), ["ws/b"]);
}

#[test]
fn hidden_files_are_found_by_name_and_searched_always() {
    let world = with(&[".hidden/a", ".b", "c", ".git/config"]);
    let host = world.host();
    assert_eq!(found(&world, &host, ".", "*"), ["ws/c"]);
    assert_eq!(found(&world, &host, ".", ".hidden/**"), ["ws/.hidden/a"]);
    let matches = world.grep(&host, ".", "needle").unwrap();
    assert_eq!(
        lines(&matches),
        ["ws/.b:1:needle", "ws/.hidden/a:1:needle", "ws/c:1:needle"]
    );
    for (pattern, want) in [
        ("*", false),
        ("./a", false),
        ("../a", false),
        (".*", true),
        ("a/.b", true),
    ] {
        let pattern = pattern.to_owned();
        assert_eq!(GlobQuery { pattern, limit: 1 }.names_hidden(), want);
    }
}

#[test]
fn links_are_not_followed_and_loops_end() {
    let world = with(&["a/f"]);
    symlink("..", world.path("ws/a/up")).unwrap();
    symlink(".", world.path("ws/self")).unwrap();
    symlink(world.path("outside"), world.path("ws/out")).unwrap();
    symlink(world.path("outside/secret"), world.path("ws/secret")).unwrap();
    symlink("f", world.path("ws/a/g")).unwrap();
    let host = world.host();
    assert_eq!(found(&world, &host, ".", "*"), ["ws/a/f"]);
    let matches = world.grep(&host, ".", "needle|secret").unwrap();
    assert_eq!(lines(&matches), ["ws/a/f:1:needle"]);
    assert_eq!(matches.left_out, LeftOut::default());
    // A link that is named is resolved and judged as what it leads to.
    assert_eq!(found(&world, &host, "self/a", "*"), ["ws/a/f"]);
}

#[test]
fn what_is_no_regular_file_is_never_opened() {
    let world = with(&["f"]);
    let made = Command::new("mkfifo").arg(world.path("ws/fifo")).status();
    assert!(made.unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(world.path("ws/socket")).unwrap();
    let host = world.host();
    assert_eq!(found(&world, &host, ".", "*"), ["ws/f"]);
    assert_eq!(
        lines(&world.grep(&host, ".", ".").unwrap()),
        ["ws/f:1:needle"]
    );
    let why = world.grep(&host, "fifo", ".").unwrap_err();
    assert!(matches!(why, Stop::Failed(why) if why.contains("is not a regular file")));
}

#[test]
fn secrets_are_left_out_and_counted() {
    let rules = [("read", "*.env", Ask), ("read", "vault/*", Deny)];
    let world = world_with(&rules, &["a", ".env", "sub/.env", "vault/key", "vault/x/y"]);
    let host = world.host();
    let matches = world.grep(&host, ".", "needle").unwrap();
    assert_eq!(lines(&matches), ["ws/a:1:needle"]);
    let left_out = LeftOut {
        asked: 2,
        denied: 2,
        ..LeftOut::default()
    };
    assert_eq!(matches.left_out, left_out);
    for file in [".env", "vault/key", "sub/.env"] {
        let matches = world.grep(&host, file, "needle").unwrap();
        assert!(matches.files.is_empty(), "{file}");
        assert_eq!(
            matches.left_out.asked + matches.left_out.denied,
            1,
            "{file}"
        );
    }
    let paths = world.glob(&host, ".", "*").unwrap();
    assert_eq!(paths.paths, ["ws/a"]);
    assert_eq!(paths.left_out.denied, 2);
    let paths = world.glob(&host, ".", "*.rs").unwrap();
    assert_eq!(
        paths.left_out,
        LeftOut::default(),
        "what does not fit is not counted"
    );
}

#[test]
fn a_rule_about_an_absolute_path_counts() {
    let world = with(&["a", "b"]);
    world
        .bench
        .deny("read", world.path("ws/b").to_str().unwrap());
    let host = world.host();
    assert_eq!(found(&world, &host, ".", "*"), ["ws/a"]);
    assert_eq!(
        lines(&world.grep(&host, ".", "needle").unwrap()),
        ["ws/a:1:needle"]
    );
}

#[test]
fn outside_the_workspace_stricter_directories_are_not_entered() {
    let mut world = World::under(&[("external_directory", "*", Allow)]);
    world.put("outside/closed/x", "secret");
    world.put("outside/asked/x", "secret");
    let closed = format!("{}/*", world.path("outside/closed").display());
    let asked = format!("{}/*", world.path("outside/asked").display());
    world.bench.deny("external_directory", &closed);
    let host = world.host();
    let paths = world.glob(&host, "../outside", "*").unwrap();
    assert_eq!(
        paths.paths,
        ["outside/asked/x", "outside/dir/a.txt", "outside/secret"]
    );
    assert_eq!(paths.left_out.denied, 1);
    let matches = world.grep(&host, "../outside", "secret").unwrap();
    assert_eq!(matches.files.len(), 3);

    // A person's yes to the directory is one to what lies in it, but for what is denied.
    let rules = [
        ("external_directory", "*", Ask),
        ("external_directory", asked.as_str(), Deny),
    ];
    world.bench = World::under(&rules).bench;
    let paths = world.glob(&host, "../outside", "*").unwrap();
    assert_eq!(
        paths.paths,
        ["outside/closed/x", "outside/dir/a.txt", "outside/secret"]
    );
}

#[test]
fn what_is_ours_is_never_shown() {
    let world = World::under(&[]);
    world.put("state/journal", "needle\n");
    world.put("outside/a", "needle\n");
    let host = world.host();
    world.put("state/session/tool_1", "needle\n");
    let top = world.path("");
    let matches = world.grep(&host, top.to_str().unwrap(), "needle").unwrap();
    assert_eq!(lines(&matches), ["outside/a:1:needle"]);
    let paths = world.glob(&host, top.to_str().unwrap(), "*").unwrap();
    assert!(
        paths.paths.iter().all(|path| !path.starts_with("state")),
        "{paths:?}"
    );
    // The outputs of this session may be looked through where they are named.
    let session = world.path("state/session");
    let matches = world
        .grep(&host, session.to_str().unwrap(), "needle")
        .unwrap();
    assert_eq!(lines(&matches), ["state/session/tool_1:1:needle"]);
}

#[test]
fn a_directory_that_was_swapped_is_noticed() {
    for verb in ["glob", "grep"] {
        for after in 0..3 {
            let world = with(&["d/f"]);
            let host = world.host();
            let (d, outside) = (world.path("ws/d"), world.path("outside"));
            world.swap_after(after, move || {
                fs::rename(&d, d.with_extension("old")).unwrap();
                symlink(outside, d).unwrap();
            });
            let stop = match verb {
                "glob" => world.glob(&host, "d", "*").map(|it| it.paths),
                _ => world.grep(&host, "d", "secret|needle").map(|it| lines(&it)),
            };
            assert!(world.has_swapped(), "{verb} {after}");
            match stop {
                Err(Stop::Changed(_)) => {}
                // Once it is open, it is the directory that was judged, under another name.
                Ok(shown) => assert!(after == 2 && shown.iter().all(|it| !it.contains("secret"))),
                other => panic!("{verb} {after}: {other:?}"),
            }
        }
    }
}

#[test]
fn a_directory_below_that_becomes_a_link_is_not_followed() {
    // Resolved, opening and opened, the top looked into; then `d`, and then the file in it.
    for after in 0..8 {
        let world = with(&["d/a.txt"]);
        let host = world.host();
        let (d, outside) = (world.path("ws/d"), world.path("outside/dir"));
        world.swap_after(after, move || {
            fs::rename(&d, d.with_extension("old")).unwrap();
            symlink(outside, d).unwrap();
        });
        let matches = world.grep(&host, ".", "secret|needle").unwrap();
        let shown = lines(&matches);
        assert!(
            shown.iter().all(|line| !line.contains("secret")),
            "{after}: {shown:?}"
        );
    }
}

#[test]
fn a_file_that_becomes_a_link_or_a_fifo_is_not_followed() {
    for kind in ["link", "fifo"] {
        let world = with(&["a.txt"]);
        let host = world.host();
        let (file, secret) = (world.path("ws/a.txt"), world.path("outside/secret"));
        // Resolved, opening and opened, the top looked into; then the file.
        world.swap_after(4, move || {
            fs::remove_file(&file).unwrap();
            if kind == "link" {
                symlink(secret, file).unwrap();
            } else {
                let made = Command::new("mkfifo").arg(file).status();
                assert!(made.unwrap().success());
            }
        });
        let matches = world.grep(&host, ".", "secret|needle").unwrap();
        assert!(world.has_swapped());
        assert_eq!(lines(&matches), Vec::<String>::new(), "{kind}");
        assert_eq!(matches.left_out.unreadable, 1, "{kind}");
    }
}

#[test]
fn names_that_are_no_text_are_counted() {
    let world = with(&["a"]);
    let odd = |bytes: &[u8]| world.path("ws").join(OsStr::from_bytes(bytes));
    fs::write(odd(b"\xff.env"), "needle").unwrap();
    fs::create_dir(odd(b"dir\xfe")).unwrap();
    fs::write(odd(b"dir\xfe/b"), "needle").unwrap();
    let host = world.host();
    let matches = world.grep(&host, ".", "needle").unwrap();
    assert_eq!(lines(&matches), ["ws/a:1:needle"]);
    assert_eq!(matches.left_out.unnamed, 2);
    assert_eq!(world.glob(&host, ".", "*").unwrap().left_out.unnamed, 2);
}

#[test]
fn what_cannot_be_opened_is_counted() {
    let world = with(&["closed/a", "b", "c"]);
    for path in ["ws/closed", "ws/c"] {
        fs::set_permissions(world.path(path), fs::Permissions::from_mode(0o000)).unwrap();
    }
    // Root opens everything; then there is nothing to count.
    let is_root = fs::read(world.path("ws/c")).is_ok();
    let matches = world.grep(&world.host(), ".", "needle").unwrap();
    assert_eq!(matches.files.len(), if is_root { 3 } else { 1 });
    assert_eq!(matches.left_out.unreadable, if is_root { 0 } else { 2 });
    fs::set_permissions(world.path("ws/closed"), fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn large_files_binary_files_and_files_of_two_names_are_not_searched() {
    let world = with(&["a", "linked"]);
    fs::hard_link(world.path("ws/linked"), world.path("outside/other")).unwrap();
    let large = fs::File::create(world.path("ws/large")).unwrap();
    large.set_len(FILE_BYTES_MAX + 1).unwrap();
    // Behind what is read at once.
    let mut late = format!("needle {}\n", "x".repeat(500)).repeat(500);
    late.push('\0');
    world.put("ws/binary", &late);
    let host = world.host();
    let matches = world.grep(&host, ".", "needle").unwrap();
    assert_eq!(lines(&matches), ["ws/a:1:needle"]);
    let left_out = LeftOut {
        asked: 1,
        too_large: 1,
        ..LeftOut::default()
    };
    assert_eq!(matches.left_out, left_out);
}

#[test]
fn text_in_sixteen_bits_is_read_as_text() {
    let world = with(&[]);
    let wide = "needle ä\n".encode_utf16().flat_map(u16::to_le_bytes);
    let bytes: Vec<u8> = [0xff, 0xfe].into_iter().chain(wide).collect();
    world.put("ws/wide.txt", bytes);
    let matches = world.grep(&world.host(), ".", "needle").unwrap();
    assert_eq!(lines(&matches), ["ws/wide.txt:1:needle ä"]);
}

#[test]
fn context_include_and_very_long_lines() {
    let world = with(&[]);
    world.put("ws/a.rs", "1\n2\nneedle\n4\n5\n");
    world.put("ws/b.txt", format!("{}needle\n", "ä".repeat(5_000)));
    let host = world.host();
    let near =
        json!({ "path": ".", "text": "needle", "limit": 9, "include": "*.rs", "context": 1 });
    let matches = world.grep_with(&host, near).unwrap();
    let shown: Vec<_> = matches.files[0]
        .lines
        .iter()
        .map(|it| (it.number, it.fits))
        .collect();
    assert_eq!(shown, [(2, false), (3, true), (4, false)]);
    assert_eq!(matches.files.len(), 1);
    let matches = world.grep(&host, "b.txt", "needle").unwrap();
    let text = &matches.files[0].lines[0].text;
    assert_eq!(text, &format!("{}...", "ä".repeat(2_000)));
}

#[test]
fn a_pattern_that_is_none_says_why() {
    let world = with(&["a"]);
    let host = world.host();
    for (pattern, pieces) in [
        ("a(", ["unclosed group", "set `literal`"]),
        ("a(?=b)", ["look-around", "match more of the line"]),
        (r"(a)\1", ["backreferences", "write out"]),
        (r"a\nb", ["not allowed", "over a line end"]),
    ] {
        let Err(Stop::Failed(why)) = world.grep(&host, ".", pattern) else {
            panic!("{pattern}")
        };
        assert!(why.starts_with("invalid regular expression"), "{why}");
        assert!(pieces.iter().all(|piece| why.contains(piece)), "{why}");
    }
    let why = world.glob(&host, ".", "a[").unwrap_err();
    assert!(matches!(why, Stop::Failed(why) if why.contains("invalid glob pattern")));
}

#[test]
fn looking_ends_with_its_call() {
    let names: Vec<String> = (0..200).map(|at| format!("d{at}/f")).collect();
    let world = with(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let host = world.host();
    let cancel = world.bench.cancel.clone();
    // Nobody looks on until the call is over: each moment is noted first, and the notes are held here.
    let moments = std::sync::Arc::clone(&world.moments);
    let (is_over, wait) = std::sync::mpsc::channel::<()>();
    world.swap_after(5, move || {
        let _held = crate::world::lock(&moments);
        cancel.cancel();
        wait.recv_timeout(std::time::Duration::from_secs(20))
            .unwrap_err();
    });
    let stop = world.glob(&host, ".", "*").unwrap_err();
    drop(is_over);
    assert!(matches!(stop, Stop::Other(_)), "{stop:?}");
    let world = world.without_runtime();
    let seen = crate::world::lock(&world.moments).len();
    assert!(seen < 200, "{seen} directories were looked into");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) })]

    #[test]
    fn whatever_is_found_the_rules_allow_to_read(
        files in proptest::collection::btree_set("[ab]/[ab.]{1,3}x|[ab]x|[.][ab]x", 1..12),
        rules in proptest::collection::vec(
            (
                proptest::sample::select(vec!["*", "a/*", "*ax", ".*", "b/*x", "bx", "*/*"]),
                proptest::sample::select(vec![Allow, Ask, Deny]),
            ),
            0..5,
        ),
    ) {
        let rules: Vec<_> = rules.into_iter().map(|(pattern, action)| ("read", pattern, action)).collect();
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let world = world_with(&rules, &files);
        let host = world.host();
        let searched = world.grep(&host, ".", "needle").unwrap();
        let searched: Vec<String> = searched.files.into_iter().map(|file| file.path).collect();
        let mut expected = Vec::new();
        for file in &files {
            let asked = world.bench.asked().len();
            let is_read = world.read(&host, file).is_ok();
            if is_read && world.bench.asked().len() == asked {
                expected.push(format!("ws/{file}"));
            }
        }
        expected.sort();
        prop_assert_eq!(&searched, &expected);
        let listed = found(&world, &host, ".", "*");
        let shown = |path: &&String| !path.split('/').any(|name| name.starts_with('.'));
        prop_assert_eq!(listed.iter().collect::<Vec<_>>(), expected.iter().filter(shown).collect::<Vec<_>>());
    }
}
