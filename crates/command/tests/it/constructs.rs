//! One table a construct: what is understood, and what is "cannot tell". It must not look at spellings beyond the canonical.

use crate::canonicals;
use crate::command::{DEPTH_MAX, RedirectOp, TEXT_BYTES_MAX, WordKind, read};

/// Text, and the commands that are all it runs.
const UNDERSTOOD: &[(&str, &[&str])] = &[
    ("", &[]),
    (" \t\n\n", &[]),
    ("# a comment; rm x", &[]),
    ("ls", &["ls"]),
    ("ls -la # rm x", &["ls -la"]),
    ("ls a#b", &["ls a#b"]),
    ("ls;#rm x", &["ls"]),
    ("ls # rm \\\npwd", &["ls", "pwd"]),
    (
        "a; b & c && d || e | f |& g\nh",
        &["a", "b", "c", "d", "e", "f", "g", "h"],
    ),
    ("a &&\n\n b |\n# comment\n c", &["a", "b", "c"]),
    ("a &\\\n& b", &["a", "b"]),
    ("! a && ! b | c", &["a", "b", "c"]),
    ("{ a; b; }; c", &["a", "b", "c"]),
    ("{ a\n}", &["a"]),
    ("{(a)}", &["a"]),
    ("(a; b) | (c)", &["a", "b", "c"]),
    ("( (a); b )", &["a", "b"]),
    ("(a)#x", &["a"]),
    ("echo } { ! if", &["echo } { ! if"]),
    ("'if' x", &["if x"]),
    ("\\time x", &["time x"]),
    ("{} x", &["{} x"]),
    ("echo 'a b' \"c d\" e\\ f", &["echo 'a b' 'c d' 'e f'"]),
    ("echo 'a'\"b\"c''\"\"", &["echo abc"]),
    ("echo \"a\\\"b\\\\c\\d\\$x\\`\"", &["echo a\"b\\c\\d$x`"]),
    ("echo 'a\\b'", &["echo a\\b"]),
    ("echo 'a\nb; c'", &["echo 'a\nb; c'"]),
    ("echo \"a;b|c&d<e>f(g)#h\"", &["echo a;b|c&d<e>f(g)#h"]),
    ("echo \\; \\| \\$x \\`", &["echo ; | $x `"]),
    (
        "echo $ a$ \"$\" \"a$ b\" $. 5$/x",
        &["echo $ a$ $ 'a$ b' $. 5$/x"],
    ),
    ("r\\\nm x", &["rm x"]),
    ("ec\\\nho \"a\\\nb\" 'a\\\nb'", &["echo ab 'a\\\nb'"]),
    ("echo !x !! \"!x\"", &["echo !x !! !x"]),
    (
        "echo HEAD@{1} stash@{0} a{b} {} {a {,",
        &["echo HEAD@{1} stash@{0} a{b} {} {a {,"],
    ),
    (
        "git commit -m 'héllo wörld — ok'",
        &["git commit -m 'héllo wörld — ok'"],
    ),
    ("A=1 B='x y' make all", &["make all"]),
    ("A=1", &["A=1"]),
    ("A+=1 x", &["x"]),
    ("A\\\n=1 x", &["x"]),
    ("\"A\"=1 x", &["A=1 x"]),
    ("A'='1 x", &["A=1 x"]),
    ("1A=1 x", &["1A=1 x"]),
    ("x A=1", &["x A=1"]),
    ("[ -f x ]", &["[ -f x ]"]),
    ("echo a=[b", &["echo a=[b"]),
    (
        "cat < a > b 2>> c 3<> d >| e &> f &>> g 2>&1 >&- <&0 4<&3-",
        &["cat"],
    ),
    ("> a cat b", &["cat b"]),
    ("echo 2 >f", &["echo 2"]),
    ("echo a2>f", &["echo a2"]),
    ("> a", &[]),
];

#[test]
fn what_is_understood_is_complete() {
    for &(text, expected) in UNDERSTOOD {
        let line = read(text);
        // A brace that is never closed is ordinary, but a comma after one is not worth telling apart.
        if text.ends_with("{,") {
            assert!(!line.unknown.is_empty());
        } else {
            assert_eq!(line.unknown, [], "{text:?}");
        }
        assert_eq!(canonicals(text), expected, "{text:?}");
    }
}

/// Text, the first thing that is unknown, and the commands found all the same.
const UNKNOWN: &[(&str, &str, &[&str])] = &[
    ("echo $x", "a parameter expansion", &["echo $x"]),
    ("echo \"${x}\"", "a parameter expansion", &["echo ${x}"]),
    (
        "echo $1 $@ $? $$",
        "a parameter expansion",
        &["echo $1 $@ $? $$"],
    ),
    (
        "echo ${x:-$(rm y)}",
        "a parameter expansion",
        &["rm y", "echo ${x:-$(rm y)}"],
    ),
    (
        "echo ${x:-`rm y`}",
        "a parameter expansion",
        &["rm y", "echo ${x:-`rm y`}"],
    ),
    (
        "echo \"${x:-'a}'}\"; rm y",
        "a parameter expansion",
        &["echo ${x:-'a}'}", "rm y"],
    ),
    (
        "${ rm x; }",
        "a command substitution",
        &["rm x", "${ rm x; }"],
    ),
    (
        "${| rm x; }",
        "a command substitution",
        &["rm x", "${| rm x; }"],
    ),
    (
        "echo $(rm x)",
        "a command substitution",
        &["rm x", "echo $(rm x)"],
    ),
    (
        "echo \"$(rm \"x y\")\"",
        "a command substitution",
        &["rm 'x y'", "echo $(rm \"x y\")"],
    ),
    (
        "echo `rm x`",
        "a command substitution",
        &["rm x", "echo `rm x`"],
    ),
    (
        "echo `echo \\`rm x\\``",
        "a command substitution",
        &["rm x", "echo `rm x`", "echo `echo \\`rm x\\``"],
    ),
    ("echo $((1 + 2))", "arithmetic", &["echo $((1 + 2))"]),
    (
        "echo $(( $(rm x) ))",
        "arithmetic",
        &["rm x", "echo $(( $(rm x) ))"],
    ),
    (
        "echo $((rm x); ls)",
        "a command substitution",
        &["rm x", "ls", "echo $((rm x); ls)"],
    ),
    ("echo $[1+1]", "arithmetic", &["echo $[1+1]"]),
    ("((x=$(rm y)))", "arithmetic", &["rm y"]),
    (
        "((rm x); ls)",
        "a subshell that looks like arithmetic",
        &["rm x", "ls"],
    ),
    (
        "echo $'a\\'b'; ls",
        "a string with escapes",
        &["echo $'a\\'b'", "ls"],
    ),
    ("echo $\"a\"", "a translated string", &["echo $a"]),
    ("cat <<E\nrm x\nE\nls", "a here-document", &["cat", "ls"]),
    ("cat <<E\n$(rm x)\nE\n", "a here-document", &["cat", "rm x"]),
    ("cat <<'E'\n$(rm x)\nE\n", "a here-document", &["cat"]),
    (
        "cat <<-E\n\trm x\n\tE\nls",
        "a here-document",
        &["cat", "ls"],
    ),
    ("cat <<< \"$(rm x)\"", "a here-string", &["rm x", "cat"]),
    (
        "cat <(rm x) >(ls)",
        "a process substitution",
        &["rm x", "ls", "cat <(rm x) >(ls)"],
    ),
    (
        "[[ -n $(rm x) && a < b ]] && ls",
        "a test expression",
        &["rm x", "ls"],
    ),
    (
        "if a; then b; elif c; then d; else e; fi > f",
        "a branch",
        &["a", "b", "c", "d", "e"],
    ),
    ("for i in $(a); do b $i; done", "a loop", &["a", "b $i"]),
    ("for ((i=0; i<$(a); i++)); do b; done", "a loop", &["b"]),
    ("while a; do b; done < f", "a loop", &["a", "b"]),
    ("until a\ndo b\ndone", "a loop", &["a", "b"]),
    ("select i in a; do rm $i; done", "a loop", &["rm $i"]),
    (
        "case $x in (a|b) rm y;; *) ls;& c) pwd;; esac; id",
        "a branch",
        &["rm y", "ls", "pwd", "id"],
    ),
    (
        "echo $(case a in a) rm x;; esac)",
        "a command substitution",
        &["rm x"],
    ),
    ("f() { rm x; }; f", "a function", &["rm x", "f"]),
    ("f ( ) (rm x)", "a function", &["rm x"]),
    ("function f { rm x; }", "a function", &["rm x"]),
    ("coproc rm x", "a coprocess", &["rm x"]),
    ("coproc N { rm x; }", "a coprocess", &["rm x"]),
    ("time -p rm x", "a timed pipeline", &["rm x"]),
    ("t\\\nime rm x", "a timed pipeline", &["rm x"]),
    ("A=1 if x", "a keyword that is out of place", &["if x"]),
    ("{rm,-rf,/}", "a brace expansion", &["{rm,-rf,/}"]),
    ("echo {1..9}", "a brace expansion", &["echo {1..9}"]),
    ("ls *(rm)", "an extended glob", &["ls *(rm)"]),
    ("a=(1 $(rm x))", "an array", &["rm x", "a=(1 $(rm x))"]),
    ("a[0]=1", "an array element", &["a[0]=1"]),
    ("A=1 rm[ ; rm x", "an array element", &["rm x"]),
    ("cat {fd}<f", "a descriptor variable", &["cat {fd}"]),
    ("ls 'a", "an unterminated quote", &["ls a"]),
    ("ls \"a", "an unterminated quote", &["ls a"]),
    ("ls $(a", "an opener without its end", &["a"]),
    ("ls \\", "a backslash at the end", &["ls "]),
    ("ls &&", "a missing command", &["ls"]),
    (
        "ls | ; rm x",
        "an operator without a command",
        &["ls", "rm x"],
    ),
    (
        "ls ;; rm x",
        "a character that has no place here",
        &["ls", "rm x"],
    ),
    ("ls )", "a character that has no place here", &["ls"]),
    (
        "ls a (b)",
        "a character that has no place here",
        &["ls a", "b"],
    ),
    ("{ a", "an opener without its end", &["a"]),
    ("( )", "an empty group", &[]),
    ("}", "a keyword that is out of place", &[]),
    ("in x", "a keyword that is out of place", &[]),
    ("]] x", "a keyword that is out of place", &[]),
    ("a | ! b", "a keyword that is out of place", &["a", "b"]),
    ("ls >", "a redirect without a target", &["ls"]),
    ("ls 2>&f", "a descriptor that is no number", &["ls"]),
    ("ls >>2>f", "a descriptor number", &["ls"]),
    ("ls 99999>f", "a descriptor number", &["ls"]),
    ("rm\r\n", "a character that does not show", &["rm\r"]),
    ("ls \0", "a character that does not show", &["ls \0"]),
    ("ls # \u{202e}", "a character that does not show", &["ls"]),
    (
        "r\u{200b}m",
        "a character that does not show",
        &["r\u{200b}m"],
    ),
    (
        "rm\u{a0}x",
        "a character that does not show",
        &["rm\u{a0}x"],
    ),
];

#[test]
fn what_is_not_understood_is_named_and_what_stands_around_it_is_found() {
    for &(text, what, expected) in UNKNOWN {
        let line = read(text);
        let found = line.unknown.iter().any(|unknown| unknown.what == what);
        assert!(found, "{text:?}: {:?}", line.unknown);
        let canonicals = canonicals(text);
        for command in expected {
            assert!(
                canonicals.iter().any(|found| found == command),
                "{text:?} has {command:?}: {canonicals:?}"
            );
        }
    }
}

#[test]
fn a_place_that_is_unknown_is_where_it_stands() {
    let text = "ls; echo \"a $(rm x)\"";
    let unknown = read(text).unknown;
    assert_eq!(unknown.len(), 1);
    assert_eq!(&text[unknown[0].range.clone()], "$(rm x)");
}

#[test]
fn words_say_what_the_shell_may_make_of_them() {
    let cases = [
        ("a", WordKind::Literal),
        ("'*'", WordKind::Literal),
        ("\\*", WordKind::Literal),
        ("[", WordKind::Literal),
        ("a*", WordKind::Glob),
        ("a?", WordKind::Glob),
        ("[ab]", WordKind::Glob),
        ("\"*\"*", WordKind::Glob),
        ("~", WordKind::Tilde),
        ("~root/x", WordKind::Tilde),
        ("of=~/x", WordKind::Tilde),
        ("a~", WordKind::Literal),
        ("'~'/x", WordKind::Literal),
        ("\\~", WordKind::Literal),
        ("$x", WordKind::Dynamic),
        ("a$(b)", WordKind::Dynamic),
    ];
    for (text, kind) in cases {
        let line = read(&format!("echo {text}"));
        let word = line.commands.last().unwrap().words.last().unwrap();
        assert_eq!(word.kind, kind, "{text}");
    }
}

#[test]
fn redirects_keep_their_descriptor_operator_and_target() {
    let line = read("cat <a >b 2>>c 3<>d >|e &>f &>>g 2>&1 >&- <&0 >& h");
    let found: Vec<_> = line.commands[0]
        .redirects
        .iter()
        .map(|r| (r.fd, r.op, r.target.text.as_str()))
        .collect();
    let expected = [
        (None, RedirectOp::Read, "a"),
        (None, RedirectOp::Write, "b"),
        (Some(2), RedirectOp::Append, "c"),
        (Some(3), RedirectOp::ReadWrite, "d"),
        (None, RedirectOp::Clobber, "e"),
        (None, RedirectOp::Both, "f"),
        (None, RedirectOp::Both, "g"),
        (Some(2), RedirectOp::Duplicate, "1"),
        (None, RedirectOp::Duplicate, "-"),
        (None, RedirectOp::Duplicate, "0"),
        (None, RedirectOp::Both, "h"),
    ];
    assert_eq!(found, expected);
}

#[test]
fn redirects_of_groups_and_of_nothing_belong_to_the_line() {
    for text in [
        "> f",
        "{ ls; } > f",
        "(ls) > f",
        "if ls; then ls; fi > f",
        "while ls; do ls; done > f",
        "f() { ls; } > f",
        "[[ a ]] > f",
    ] {
        let line = read(text);
        assert_eq!(line.redirects.len(), 1, "{text}");
        assert_eq!(line.redirects[0].target.text, "f", "{text}");
    }
}

#[test]
fn moving_to_another_directory_is_seen_wherever_it_happens() {
    for text in [
        "cd /",
        "a; (cd ..)",
        "pushd x",
        "popd",
        "command cd x",
        "a && { cd b; }",
        "echo $(cd x)",
        "\\cd x",
        "if cd x; then a; fi",
    ] {
        assert!(read(text).changes_directory, "{text}");
    }
    for text in ["ls cd", "echo 'cd x'", "git add cd"] {
        assert!(!read(text).changes_directory, "{text}");
    }
}

#[test]
fn text_that_is_too_long_or_too_deep_is_unknown() {
    let long = "a;".repeat(TEXT_BYTES_MAX);
    assert_eq!(read(&long).unknown.len(), 1);
    let nested = [
        ("( ", ")"),
        ("$(", ")"),
        ("{ ", ";}"),
        ("${a:-", "}"),
        ("<(", ")"),
        ("\"$(", ")\""),
        ("$((", "))"),
    ];
    for (opener, closer) in nested {
        for depth in [DEPTH_MAX + 2, 5_000] {
            let open = opener.repeat(depth);
            for text in [format!("{open}a{}", closer.repeat(depth)), open] {
                let unknown = read(&text).unknown;
                let is_said = unknown
                    .iter()
                    .any(|unknown| unknown.what == "nesting that is too deep");
                assert!(is_said, "{opener} {depth}");
            }
        }
    }
    for opener in ["((", "a=(", "`", "f()", "a=(`", "case x in ("] {
        assert!(!read(&opener.repeat(5_000)).unknown.is_empty(), "{opener}");
    }
}
