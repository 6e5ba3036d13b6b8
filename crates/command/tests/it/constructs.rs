//! One table a construct: what is understood, and what is "cannot tell". It must not look at spellings beyond the canonical.

use crate::command::{
    DEPTH_MAX, RedirectOp, Setting, Shell, Simple, TEXT_BYTES_MAX, WordKind, read as read_in,
};
use crate::{SETTING, canonicals, read, unknowns};

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
        "echo HEAD@{1} stash@{0} a{b} {} {a {, a{,b",
        &["echo HEAD@{1} stash@{0} a{b} {} {a {, a{,b"],
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
    // Expansions: what stands in them is found, and the rest is as it is written.
    (
        "echo $x \"${y}\" $1 $@ $? $$",
        &["echo $x ${y} $1 $@ $? $$"],
    ),
    ("echo ${x:-$(rm y)}", &["rm y", "echo ${x:-$(rm y)}"]),
    ("echo ${x:-`rm y`}", &["rm y", "echo ${x:-`rm y`}"]),
    (
        "echo ${x#a} ${x%%/*} ${x//a/b} ${x^} ${x@Q} ${#x}",
        &["echo ${x#a} ${x%%/*} ${x//a/b} ${x^} ${x@Q} ${#x}"],
    ),
    (
        "echo ${a[@]} ${!a[@]} ${a[0]} ${x:0:2}",
        &["echo ${a[@]} ${!a[@]} ${a[0]} ${x:0:2}"],
    ),
    ("${ rm x; }", &["rm x", "${ rm x; }"]),
    ("${| rm x; }", &["rm x", "${| rm x; }"]),
    ("echo $(rm x)", &["rm x", "echo $(rm x)"]),
    (
        "echo \"$(rm \"x y\")\"",
        &["rm 'x y'", "echo $(rm \"x y\")"],
    ),
    ("echo `rm x`", &["rm x", "echo `rm x`"]),
    (
        "echo `echo \\`rm x\\``",
        &["rm x", "echo `rm x`", "echo `echo \\`rm x\\``"],
    ),
    ("echo $((1 + 2)) $[1+1]", &["echo $((1 + 2)) $[1+1]"]),
    (
        "echo $(( $(rm x | wc -l) ))",
        &["rm x", "wc -l", "echo $(( $(rm x | wc -l) ))"],
    ),
    ("echo $((rm x); ls)", &["rm x", "ls", "echo $((rm x); ls)"]),
    ("((x=1))", &[]),
    ("((rm x); ls)", &["rm x", "ls"]),
    ("echo $'a\\'b\\x41\\n' | ls", &["echo 'a'\\''bA\n'", "ls"]),
    ("$'\\x72m' x", &["rm x"]),
    // Here-documents.
    ("cat <<E\nrm x\nE\nls", &["cat", "ls"]),
    ("cat <<E\n$(rm x)\nE\n", &["rm x", "cat"]),
    ("cat <<'E'\n$(rm x)\nE\n", &["cat"]),
    ("cat <<-E\n\trm x\n\tE\nls", &["cat", "ls"]),
    ("cat <<E\na\\\nE\nE\nls", &["cat", "ls"]),
    ("cat <<EF\na\nE\\\nF\nls", &["cat", "ls"]),
    ("cat <<A; rm a <<B\nA\nls\nB\nid", &["cat", "rm a", "id"]),
    ("cat <<A && (ls\nx\nA\nrm b)", &["cat", "ls", "rm b"]),
    ("cat <<< \"$(rm x)\"", &["rm x", "cat"]),
    // Process substitutions.
    ("cat <(rm x) >(ls)", &["rm x", "ls", "cat <(rm x) >(ls)"]),
    // Compound commands.
    ("[[ -n $(rm x) && a < b ]] && ls", &["rm x", "ls"]),
    ("[[ ( $x == *.@(a|b) || ! -e f ) && $y =~ ^(a|b)+$ ]]", &[]),
    ("[[ $x =~ a|b ]] && ls", &["ls"]),
    (
        "if a; then b; elif c; then d; else e; fi > f",
        &["a", "b", "c", "d", "e"],
    ),
    ("if a; then (b) fi; c", &["a", "b", "c"]),
    ("for i in $(a); do b $i; done", &["a", "b $i"]),
    ("for i in x y; do b $i; done", &["b x", "b y"]),
    ("for i\nin x\ndo b $i\ndone", &["b x"]),
    ("for i do b; done; for i; do c; done", &["b", "c"]),
    ("for i in; do b; done", &["b"]),
    ("for i in x; { b; }", &["b"]),
    ("for ((i=0; i<3; i++)); do b; done", &["b"]),
    ("while a; do b; done < f", &["a", "b"]),
    ("until a\ndo b\ndone", &["a", "b"]),
    ("select i in a; do rm $i; done", &["rm $i"]),
    (
        "case $x in (a|b) rm y;; *) ls;& c) pwd;; esac; id",
        &["rm y", "ls", "pwd", "id"],
    ),
    ("case x in a) ;; b) ls;;& c) pwd; esac", &["ls", "pwd"]),
    ("case x in esac", &[]),
    (
        "echo $(case a in a) rm x;; esac)",
        &["rm x", "echo $(case a in a) rm x;; esac)"],
    ),
    ("f() { rm x; }; f", &["f", "rm x"]),
    ("f ( ) (rm x)", &["rm x"]),
    ("function f { rm x; }; function g() (ls)", &["ls", "rm x"]),
    ("f()\n{ rm x; } > y", &["rm x"]),
    ("coproc rm x", &["rm x"]),
    ("coproc N { rm x; }", &["rm x"]),
    ("coproc N (rm x)", &["rm x"]),
    ("coproc { rm x; }", &["rm x"]),
    ("time -p rm x", &["rm x"]),
    ("time -p -- rm x", &["rm x"]),
    ("t\\\nime rm x | ls", &["rm x", "ls"]),
    ("time ! rm x; ! time ls; time", &["rm x", "ls"]),
    // Braces.
    ("{rm,-rf,/}", &["rm -rf /"]),
    ("{r,}m x", &["rm m x"]),
    (
        "echo {1..3} {a..c} {01..3} {3..1..2}",
        &["echo 1 2 3 a b c 01 02 03 3 1"],
    ),
    (
        "echo a{b,c{d,e}}f {{a,b},c} \"{a,b}\" '{'a,b}",
        &["echo abf acdf acef a b c {a,b} {a,b}"],
    ),
    (
        "echo {a,b}{1,2} {a, b} {1..x} {,}",
        &["echo a1 a2 b1 b2 {a, b} {1..x}"],
    ),
    ("A={a,b}", &["A={a,b}"]),
    // Patterns, arrays, descriptors.
    ("ls *(rm)", &["ls *(rm)"]),
    ("echo @(a|b)", &["echo @(a|b)"]),
    (
        "a=(1 $(rm x) [2]=y\n# note\n3)",
        &["rm x", "a=(1 $(rm x) [2]=y\n# note\n3)"],
    ),
    ("declare -a a=(1 2)", &["declare -a a=(1 2)"]),
    ("a[0]=1 a[1 + 1]+=2", &["a=1 a=2"]),
    ("cat {fd}<f 3>&1- {fd}>&-", &["cat"]),
];

/// Text, a thing that is unknown, and the commands found all the same.
const UNKNOWN: &[(&str, &str, &[&str])] = &[
    (
        "echo \"${x:-'a}'}\"; rm y",
        "a quote inside a quoted expansion",
        &["rm y"],
    ),
    (
        "echo ${!x}",
        "an expansion of what a variable holds",
        &["echo ${!x}"],
    ),
    (
        "echo ${x@P}",
        "an expansion of what a variable holds",
        &["echo ${x@P}"],
    ),
    (
        "echo ${(e)x}; ls",
        "an expansion that is not understood",
        &["ls"],
    ),
    (
        "echo $(( $(rm x) ))",
        "arithmetic with a value that may run code",
        &["rm x"],
    ),
    (
        "((x=$(rm y)))",
        "arithmetic with a value that may run code",
        &["rm y"],
    ),
    (
        "x=$(rm y); echo ${a[x]}",
        "arithmetic with a value that may run code",
        &["rm y"],
    ),
    (
        "read x; [[ $x -eq 1 ]]",
        "arithmetic with a value that may run code",
        &["read x"],
    ),
    (
        "for ((i=0; i<$(a); i++)); do b; done",
        "arithmetic with a value that may run code",
        &["a", "b"],
    ),
    ("echo $\"a\"", "a translated string", &["echo a"]),
    (
        "echo $'\\xff'; ls",
        "an escape that is not understood",
        &["ls"],
    ),
    ("A=1 if x", "a keyword that is out of place", &["if x"]),
    ("!(rm x)", "a subshell that may be a pattern", &["rm x"]),
    ("f() rm x", "a function whose body is no group", &["rm x"]),
    ("cat <<E\nrm x", "a here-document without its end", &["cat"]),
    ("cat <<E", "a here-document without its body", &["cat"]),
    (
        "echo $(cat <<E)\nx\nE\nrm x",
        "a here-document without its body",
        &["rm x"],
    ),
    (
        "cat <<$x\n$x\nls",
        "a delimiter that is not plain",
        &["cat", "ls"],
    ),
    ("A=1 rm[ ; rm x", "an opener without its end", &[]),
    ("ls 'a", "an unterminated quote", &["ls a"]),
    ("ls \"a", "an unterminated quote", &["ls a"]),
    ("ls $(a", "an opener without its end", &["a"]),
    ("ls \\", "a backslash at the end", &["ls ''"]),
    ("ls &&", "a missing command", &["ls"]),
    ("ls && ; rm x", "a missing command", &["ls", "rm x"]),
    ("ls | ; rm x", "a missing command", &["ls", "rm x"]),
    ("; rm x", "an operator without a command", &["rm x"]),
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
    (
        "(a) b; rm x",
        "a command without an operator before it",
        &["a", "b", "rm x"],
    ),
    ("{ a", "an opener without its end", &["a"]),
    ("( )", "an empty group", &[]),
    ("if ; then a; fi", "an empty group", &["a"]),
    ("if a; then b", "an opener without its end", &["a", "b"]),
    (
        "case a in b rm x; esac; ls",
        "an opener without its end",
        &["rm x"],
    ),
    (
        "[[ a b c ]]; rm x",
        "a test expression that is not understood",
        &["rm x"],
    ),
    ("}", "a keyword that is out of place", &[]),
    ("in x", "a keyword that is out of place", &[]),
    ("]] x", "a keyword that is out of place", &[]),
    ("a | ! b", "a keyword that is out of place", &["a", "b"]),
    ("ls >", "a redirect without a target", &["ls"]),
    ("ls 2>&f", "a descriptor that is no number", &["ls"]),
    ("ls >>2>f", "a descriptor number", &["ls"]),
    ("ls 99999>f", "a descriptor number", &["ls"]),
    (
        "rm\r\n",
        "a character that does not look like what it is",
        &["'rm\r'"],
    ),
    ("ls \0", "a character that no argument can hold", &[]),
    (
        "r\u{200b}m",
        "a character that does not look like what it is",
        &["r\u{200b}m"],
    ),
    (
        "ls '\u{1b}[0m'",
        "a character that does not look like what it is",
        &[],
    ),
    (
        "rm\u{a0}x",
        "a character that does not look like what it is",
        &["'rm\u{a0}x'"],
    ),
    (
        "ls \u{2013}rf",
        "a character that does not look like what it is",
        &["ls \u{2013}rf"],
    ),
    (
        "\u{441}at x",
        "a character that does not look like what it is",
        &["\u{441}at x"],
    ),
];

#[test]
fn what_is_understood_is_complete() {
    let mut wrong = Vec::new();
    for &(text, expected) in UNDERSTOOD {
        let line = read(text);
        let own = line.commands.iter().filter(|command| command.via.is_none());
        let mut found: Vec<String> = own.map(Simple::canonical).collect();
        let mut expected = expected.to_vec();
        // The order is that of running, which is not this table's.
        found.sort();
        expected.sort_unstable();
        if !line.unknown.is_empty() || found != expected {
            wrong.push(format!("{text:?}: {found:?} {:?}", line.unknown));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_not_understood_is_named_and_what_stands_around_it_is_found() {
    let mut wrong = Vec::new();
    for &(text, what, expected) in UNKNOWN {
        let unknowns = unknowns(text);
        let found = canonicals(text);
        let has = |command: &&str| found.iter().any(|found| found == command);
        if !unknowns.iter().any(|unknown| unknown == what) || !expected.iter().all(has) {
            wrong.push(format!("{text:?}: {found:?} {unknowns:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_character_that_does_not_show_is_flagged_wherever_it_stands() {
    for (text, at) in [
        ("ls # \u{202e}", 5),
        ("cat <<'E'\n\u{200b}\nE\n", 10),
        ("ls 'a\u{ad}b'", 5),
    ] {
        let line = read(text);
        assert_eq!(line.flagged.len(), 1, "{text:?}");
        assert_eq!(line.flagged[0].range.start, at, "{text:?}");
        assert_eq!(line.unknown, [], "{text:?}");
    }
    for text in [
        "git commit -m 'h\u{e9}llo \u{2014} \u{43f}\u{440}\u{438}\u{432}\u{435}\u{442} \u{1f600}'",
        "ls \u{f6}",
    ] {
        assert_eq!(read(text).flagged, [], "{text:?}");
    }
}

#[test]
fn a_place_that_is_unknown_is_where_it_stands() {
    let text = "ls; echo \"a ${!x}\"";
    let unknown = read(text).unknown;
    assert_eq!(unknown.len(), 1);
    assert_eq!(&text[unknown[0].range.clone()], "${!x}");
}

#[test]
fn what_another_shell_reads_otherwise_is_unknown_there() {
    let sh = Setting {
        shell: Shell::Sh,
        ..SETTING
    };
    for text in [
        "[[ a ]]",
        "((1))",
        "cat <(ls)",
        "a=(b)",
        "ls &> f",
        "a |& b",
        "cat <<< x",
        "coproc a",
        "function f { a; }",
        "echo {a,b}",
        "echo $'a'",
        "select x in a; do b; done",
        "time { a; }",
        "ls >& f",
        "echo ${x:1:2}",
        "cat {fd}<f",
        "ls @(a)",
    ] {
        assert!(!read_in(text, &sh).unknown.is_empty(), "{text}");
        assert_eq!(read(text).unknown, [], "{text}");
    }
    let zsh = Setting {
        shell: Shell::Zsh,
        ..SETTING
    };
    for text in [
        "repeat 3 rm x",
        "ls *(.)",
        "echo $x[1]",
        "echo $=x",
        "noglob rm *",
        "ls >! f",
    ] {
        assert!(!read_in(text, &zsh).unknown.is_empty(), "{text}");
    }
    for shell in [Shell::Sh, Shell::Zsh] {
        let setting = Setting { shell, ..SETTING };
        for text in [
            "a && b | c > d; (e) & f=1 g \"$h\" $(i)",
            "for x in a b; do c $x; done",
            "if a; then b; fi",
        ] {
            assert_eq!(read_in(text, &setting).unknown, [], "{text}");
        }
    }
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
        ("~", WordKind::Known),
        ("~root/x", WordKind::Dynamic),
        ("of=~/x", WordKind::Known),
        ("a~", WordKind::Literal),
        ("'~'/x", WordKind::Literal),
        ("\\~", WordKind::Literal),
        ("--of=~/x", WordKind::Literal),
        ("$HOME", WordKind::Known),
        ("$PWD/x", WordKind::Known),
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
    for opener in [
        "((",
        "a=(",
        "f()",
        "a=(`",
        "case x in (",
        "coproc ",
        "[[ (",
        "if ",
        "${x:-",
        "$((",
        "<<",
    ] {
        assert!(!read(&opener.repeat(5_000)).unknown.is_empty(), "{opener}");
    }
}
