//! What holds for any text. It must not hold a text for right or wrong.

use proptest::prelude::*;
use tollgate_powershell as powershell;

use command::Line;

use crate::tables::SETTING;

/// Parts that texts are made of: more of them hit something than random characters do.
const PARTS: [&str; 72] = [
    "git push",
    "rm x",
    "Remove-Item",
    "-Path",
    "-Recurse",
    "a,b",
    "'a b'",
    "\"a $x b\"",
    "$(",
    "@(",
    "@{",
    "{",
    "}",
    "(",
    ")",
    ";",
    "|",
    "&&",
    "||",
    "&",
    "\n",
    "\r\n",
    "`\n",
    "`",
    "\"",
    "'",
    "@'\n",
    "\n'@",
    "@\"\n",
    "\n\"@",
    "$x",
    "$env:PATH",
    "${a}",
    "=",
    "+=",
    ",",
    ".",
    "::",
    "[int]",
    "[IO.File]",
    ".Delete()",
    "if (1)",
    "else",
    "foreach",
    "while",
    "function f",
    "try",
    "catch",
    "return",
    "#",
    "<#",
    "#>",
    ">",
    "2>&1",
    "*>",
    "<",
    "--%",
    "%",
    "?",
    "cd sub",
    "C:\\x",
    "..\\",
    "~/",
    "\\\\srv\\s",
    "é",
    "“",
    "\t",
    "iex 'ls'",
    "pwsh -c 'ls'",
    "cmd /c dir",
    "@p",
    " ",
];

fn check(text: &str, line: &Line) {
    let is_place = |range: &std::ops::Range<usize>| text.get(range.clone()).is_some();
    for command in &line.commands {
        assert!(is_place(&command.range), "{command:?}");
        assert!(
            command.words.iter().all(|it| is_place(&it.range)),
            "{command:?}"
        );
        assert!(command.redirects.iter().all(|it| is_place(&it.range)));
        assert!(command.opaque.iter().all(|it| is_place(&it.range)));
        let via = command.via.as_ref();
        assert!(via.is_none_or(|it| it.command < line.commands.len()));
    }
    let by = |by: Option<usize>| by.is_none_or(|it| it < line.commands.len());
    assert!(
        line.touches
            .iter()
            .all(|it| is_place(&it.range) && by(it.by))
    );
    assert!(line.hosts.iter().all(|it| is_place(&it.range) && by(it.by)));
    assert!(
        line.unknown.iter().all(|it| is_place(&it.range)),
        "{:?}",
        line.unknown
    );
    assert!(line.flagged.iter().all(|it| is_place(&it.range)));
}

fn check_both(text: &str) {
    let line = powershell::read(text, &SETTING);
    check(text, &line);
    assert_eq!(line, powershell::read(text, &SETTING), "{text:?}");
    check(text, &powershell::cmd::read(text, &SETTING));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_text_has_an_answer(text in any::<String>()) {
        check_both(&text);
    }

    #[test]
    fn a_text_of_likely_parts_has_an_answer(
        parts in prop::collection::vec((prop::sample::select(PARTS.to_vec()), any::<bool>()), 0..24),
    ) {
        let text: String = parts.iter().flat_map(|(part, spaced)| [*part, if *spaced { " " } else { "" }]).collect();
        check_both(&text);
    }

    /// Nothing that is put behind a command on a line of its own hides it.
    #[test]
    fn a_command_is_found_whatever_follows_it_or_the_text_is_not_told(
        parts in prop::collection::vec(prop::sample::select(PARTS.to_vec()), 0..12),
    ) {
        let text = format!("git push\n{}", parts.join(" "));
        let line = powershell::read(&text, &SETTING);
        let is_found = line.commands.iter().any(|it| it.canonical() == "git push");
        prop_assert!(is_found || !line.unknown.is_empty(), "{text:?}");
    }

    /// A group in an argument is followed, wherever it stands.
    #[test]
    fn a_group_in_a_word_is_found_or_the_text_is_not_told(
        before in prop::sample::select(vec!["", "a", "\"b ", "-x:", "--y=", "--z=\"", "'c'", "$v", "@'\n", "x,", "[d]"]),
        group in prop::sample::select(vec!["$(git push)", "(git push)", "@(git push)", "{git push}"]),
        after in prop::sample::select(vec!["", "a", "\"", ".Length", "\n'@", ",y", "[0]", "'e'"]),
    ) {
        let text = format!("foo {before}{group}{after}");
        let line = powershell::read(&text, &SETTING);
        let is_found = line.commands.iter().any(|it| it.canonical() == "git push");
        let is_data = text.contains("@'\n") && text.contains("\n'@");
        // In a string only `$(` starts a group.
        let is_text = before.contains('"') && after.contains('"') && !group.starts_with('$');
        prop_assert!(is_found || is_data || is_text || !line.unknown.is_empty(), "{text:?} {line:?}");
    }
}

#[test]
fn size_and_depth_are_bounded() {
    let long = "a;".repeat(command::TEXT_BYTES_MAX);
    for text in [
        long,
        "(".repeat(20_000),
        "$(".repeat(10_000),
        "{ ".repeat(10_000) + &" }".repeat(10_000),
        "foo (".repeat(2_000) + &")".repeat(2_000),
        "1+".repeat(20_000) + "1",
    ] {
        let line = powershell::read(&text, &SETTING);
        assert!(!line.unknown.is_empty(), "{}", &text[..20]);
    }
    let many = "git push;".repeat(5_000);
    let line = powershell::read(&many, &SETTING);
    assert_eq!((line.commands.len(), line.unknown.len()), (5_000, 0));
    let deep = (0..20).fold("git push".to_owned(), |text, _| {
        format!("iex '{}'", text.replace('\'', "''"))
    });
    if deep.len() <= command::TEXT_BYTES_MAX {
        assert!(!powershell::read(&deep, &SETTING).unknown.is_empty());
    }
    let wide = format!(
        "$x = '{}'; {}",
        "a".repeat(4_000),
        "foo \"$x$x$x$x\"; ".repeat(2_000)
    );
    let line = powershell::read(&wide, &SETTING);
    check(&wide, &line);
    assert!(!line.unknown.is_empty());
}
