//! Texts on which shell parsers are known to fail without saying so. Each must be right or unknown here. It must not test anything else.

use crate::{canonicals, read};

/// The snippet and the commands found, in the order of running.
const SNIPPETS: &[(&str, &[&str])] = &[
    ("r\\\nm x", &["rm x"]),
    ("cat <<E\n`rm x`\nE", &["rm x", "cat"]),
    ("echo ${x:-`rm x`}", &["rm x", "echo ${x:-`rm x`}"]),
    ("echo \"${x:-`rm x`}\"", &["rm x", "echo '${x:-`rm x`}'"]),
    ("coproc rm x", &["rm x"]),
    ("coproc N { rm x; }", &["rm x"]),
    ("coproc { rm x; }", &["rm x"]),
    ("time { rm x; }", &["rm x"]),
    ("time -p rm x", &["rm x"]),
    ("time rm x", &["rm x"]),
    ("cat <<'E'; echo done\nbody\nE", &["cat", "echo done"]),
    ("cat <<'E' 2>&1 | tail\nbody\nE", &["cat", "tail"]),
    ("cat <<'E' && rm -rf /\nbody\nE", &["cat", "rm -rf /"]),
    ("cat <<A <<B\nrm a\nA\nrm b\nB\nls", &["cat", "ls"]),
    ("cat <<\"E\"F\nrm x\nEF\nls", &["cat", "ls"]),
    ("cat <<\\EOF\n$(rm)\nEOF\nls", &["cat", "ls"]),
    ("cat <<E\n$(rm -rf x)\nE", &["rm -rf x", "cat"]),
    (
        "cat <<E\n$(( $(rm x | wc -l) ))\nE",
        &["rm x", "wc -l", "cat"],
    ),
    (
        "git log | tee >(cat) <<E\n$(rm -rf x)\nE",
        &["git log", "cat", "rm -rf x", "tee >(cat)"],
    ),
    (
        "git commit -m \"$(cat <<'EOF'\nit's done; rm x\nEOF\n)\"",
        &["cat", "git commit -m 'it'\\''s done; rm x'"],
    ),
    ("exec 3<>f", &["exec"]),
    ("{rm,-rf,/}", &["rm -rf /"]),
    ("{r,}m x", &["rm m x"]),
    ("ls *(rm)", &["ls *(rm)"]),
    ("echo @(a|b)", &["echo @(a|b)"]),
    ("case a in (a) rm x;; b) ls;& esac", &["rm x", "ls"]),
    (
        "case a in a|b) rm x;; *) ls;;& esac; id",
        &["rm x", "ls", "id"],
    ),
    ("select i in a; do rm $i; done", &["rm $i"]),
    ("echo ${x:-$(rm y)}", &["rm y", "echo ${x:-$(rm y)}"]),
    (
        "echo $(( $(rm y | wc -l) ))",
        &["rm y", "wc -l", "echo '$(( $(rm y | wc -l) ))'"],
    ),
    ("((x=$(rm y | wc -l)))", &["rm y", "wc -l"]),
    (
        "for ((i=0;i<$(rm y | wc -l);i++)); do ls; done",
        &["rm y", "wc -l", "ls"],
    ),
    (
        "echo \"${a[@]/$(rm y)/}\"",
        &["rm y", "echo '${a[@]/$(rm y)/}'"],
    ),
    (
        "echo ${a[$(rm y | wc -l)]}",
        &["rm y", "wc -l", "echo '${a[$(rm y | wc -l)]}'"],
    ),
    ("${ rm x; }", &["rm x", "'${ rm x; }'"]),
    ("declare x=$(rm y)", &["rm y", "declare 'x=$(rm y)'"]),
    ("export A=`rm y`", &["rm y", "export 'A=`rm y`'"]),
    ("readonly A=1", &["readonly A=1"]),
    ("local A=1", &["local A=1"]),
    ("[ -f x ]", &["[ -f x ]"]),
    ("[ -n \"$(rm x)\" ]", &["rm x", "[ -n '$(rm x)' ]"]),
    ("[[ -n $(rm x) ]]", &["rm x"]),
    ("[[ a =~ (b|c) ]] && rm x", &["rm x"]),
    ("\\rm x", &["rm x"]),
    ("'r'm x", &["rm x"]),
    ("\"rm\" x", &["rm x"]),
    ("r''m x", &["rm x"]),
    ("$'\\x72m' x", &["rm x"]),
    ("$X rm", &["$X rm"]),
    ("a; b && c || d | e & f", &["a", "b", "c", "d", "e", "f"]),
    ("(a; (b)) | { c; }", &["a", "b", "c"]),
    ("for f in a b; do rm $f; done", &["rm a", "rm b"]),
    ("while a; do b; done", &["a", "b"]),
    ("f() { rm x; }; f", &["f", "rm x"]),
    (
        "diff <(rm x) <(ls)",
        &["rm x", "ls", "diff '<(rm x)' <(ls)"],
    ),
    ("cat <<< `rm x`", &["rm x", "cat"]),
    (
        "x=$(a $(b `c`))",
        &["c", "b `c`", "a '$(b `c`)'", "x=$(a $(b `c`))"],
    ),
    ("eval 'rm x'", &["eval 'rm x'", "rm x"]),
    ("trap 'rm x' EXIT", &["trap 'rm x' EXIT", "rm x"]),
    ("command rm x", &["command rm x", "rm x"]),
    ("env A=1 rm x", &["env A=1 rm x", "rm x"]),
    (
        "find / -exec rm {} \\;",
        &["find / -exec rm {} ;", "rm /**"],
    ),
    ("ls | xargs rm", &["ls", "xargs rm", "rm {}"]),
    ("bash -c 'rm x'", &["bash -c 'rm x'", "rm x"]),
    (
        "timeout 5 nohup nice watch rm x",
        &[
            "timeout 5 nohup nice watch rm x",
            "nohup nice watch rm x",
            "nice watch rm x",
            "watch rm x",
            "rm x",
        ],
    ),
    ("ssh h rm x", &["ssh h rm x", "rm x"]),
    ("rm\r\nls", &["rm\r", "ls"]),
    ("git log | ; rm", &["git log", "rm"]),
];

/// The last two of the table are texts that no shell reads the way they look.
const UNKNOWN_COUNT: usize = 2;

#[test]
fn every_treacherous_text_is_right() {
    assert_eq!(SNIPPETS.len(), 68);
    let known = SNIPPETS.len() - UNKNOWN_COUNT;
    let mut wrong = Vec::new();
    for (index, &(text, expected)) in SNIPPETS.iter().enumerate() {
        let plain = |text: &str| text.replace('\'', "");
        let found: Vec<String> = canonicals(text).iter().map(|it| plain(it)).collect();
        let expected: Vec<String> = expected.iter().map(|it| plain(it)).collect();
        let unknown = read(text).unknown;
        if unknown.is_empty() != (index < known) || found != expected {
            wrong.push(format!("{text:?}: {found:?} {unknown:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_body_of_a_quoted_here_document_runs_nothing() {
    for text in [
        "cat <<\\EOF\n$(rm)\nEOF",
        "cat <<'E'\n`rm`\nE",
        "cat <<A <<B\nrm a\nA\nrm b\nB\n",
    ] {
        assert_eq!(canonicals(text), ["cat"], "{text:?}");
    }
}
