//! Texts on which shell parsers are known to fail without saying so. Each must be right or unknown here. It must not test anything else.

use crate::canonicals;
use crate::command::read;

/// The snippet, the programs bash runs as it stands, and the commands found here. `None` for
/// complete knowledge asks that nothing is unknown.
struct Snippet {
    text: &'static str,
    finds: &'static [&'static str],
    is_understood: bool,
}

const fn right(text: &'static str, finds: &'static [&'static str]) -> Snippet {
    Snippet {
        text,
        finds,
        is_understood: true,
    }
}

const fn cannot_tell(text: &'static str, finds: &'static [&'static str]) -> Snippet {
    Snippet {
        text,
        finds,
        is_understood: false,
    }
}

const SNIPPETS: &[Snippet] = &[
    right("r\\\nm x", &["rm x"]),
    cannot_tell("cat <<E\n`rm x`\nE", &["cat", "rm x"]),
    cannot_tell("echo ${x:-`rm x`}", &["rm x"]),
    cannot_tell("echo \"${x:-`rm x`}\"", &["rm x"]),
    cannot_tell("coproc rm x", &["rm x"]),
    cannot_tell("coproc N { rm x; }", &["rm x"]),
    cannot_tell("coproc { rm x; }", &["rm x"]),
    cannot_tell("time { rm x; }", &["rm x"]),
    cannot_tell("time -p rm x", &["rm x"]),
    cannot_tell("time rm x", &["rm x"]),
    cannot_tell("cat <<'E'; echo done\nbody\nE", &["cat", "echo done"]),
    cannot_tell("cat <<'E' 2>&1 | tail\nbody\nE", &["cat", "tail"]),
    cannot_tell("cat <<'E' && rm -rf /\nbody\nE", &["cat", "rm -rf /"]),
    cannot_tell("cat <<A <<B\nrm a\nA\nrm b\nB\nls", &["cat", "ls"]),
    cannot_tell("cat <<\"E\"F\nrm x\nEF\nls", &["cat", "ls"]),
    cannot_tell("cat <<\\EOF\n$(rm)\nEOF\nls", &["cat", "ls"]),
    cannot_tell("cat <<E\n$(rm -rf x)\nE", &["rm -rf x"]),
    cannot_tell("cat <<E\n$(( $(rm x) ))\nE", &["rm x"]),
    cannot_tell(
        "git log | tee >(cat) <<E\n$(rm -rf x)\nE",
        &["git log", "cat", "rm -rf x"],
    ),
    cannot_tell(
        "git commit -m \"$(cat <<'EOF'\nit's done; rm x\nEOF\n)\"",
        &["cat"],
    ),
    right("exec 3<>f", &["exec"]),
    cannot_tell("{rm,-rf,/}", &[]),
    cannot_tell("{r,}m x", &[]),
    cannot_tell("ls *(rm)", &[]),
    cannot_tell("echo @(a|b)", &[]),
    cannot_tell("case a in (a) rm x;; b) ls;& esac", &["rm x", "ls"]),
    cannot_tell(
        "case a in a|b) rm x;; *) ls;;& esac; id",
        &["rm x", "ls", "id"],
    ),
    cannot_tell("select i in a; do rm $i; done", &["rm $i"]),
    cannot_tell("echo ${x:-$(rm y)}", &["rm y"]),
    cannot_tell("echo $(( $(rm y) ))", &["rm y"]),
    cannot_tell("((x=$(rm y)))", &["rm y"]),
    cannot_tell("for ((i=0;i<$(rm y);i++)); do ls; done", &["rm y", "ls"]),
    cannot_tell("echo \"${a[@]/$(rm y)/}\"", &["rm y"]),
    cannot_tell("echo ${a[$(rm y)]}", &["rm y"]),
    cannot_tell("${ rm x; }", &["rm x"]),
    cannot_tell("rm\r\nls", &["ls"]),
    cannot_tell("declare x=$(rm y)", &["rm y"]),
    cannot_tell("export A=`rm y`", &["rm y"]),
    right("readonly A=1", &["readonly A=1"]),
    right("local A=1", &["local A=1"]),
    right("[ -f x ]", &["[ -f x ]"]),
    cannot_tell("[ -n \"$(rm x)\" ]", &["rm x"]),
    cannot_tell("[[ -n $(rm x) ]]", &["rm x"]),
    cannot_tell("[[ a =~ (b|c) ]] && rm x", &["rm x"]),
    right("\\rm x", &["rm x"]),
    right("'r'm x", &["rm x"]),
    right("\"rm\" x", &["rm x"]),
    right("r''m x", &["rm x"]),
    cannot_tell("$'\\x72m' x", &[]),
    cannot_tell("$X rm", &[]),
    cannot_tell("git log | ; rm", &["git log", "rm"]),
    right("a; b && c || d | e & f", &["a", "b", "c", "d", "e", "f"]),
    right("(a; (b)) | { c; }", &["a", "b", "c"]),
    cannot_tell("for f in a b; do rm $f; done", &["rm $f"]),
    cannot_tell("while a; do b; done", &["a", "b"]),
    cannot_tell("f() { rm x; }; f", &["rm x", "f"]),
    cannot_tell("diff <(rm x) <(ls)", &["rm x", "ls"]),
    cannot_tell("cat <<< `rm x`", &["rm x"]),
    cannot_tell("x=$(a $(b `c`))", &["a $(b `c`)", "b `c`", "c"]),
    right("eval 'rm x'", &["eval 'rm x'"]),
    right("trap 'rm x' EXIT", &["trap 'rm x' EXIT"]),
    right("command rm x", &["command rm x"]),
    right("env A=1 rm x", &["env A=1 rm x"]),
    right("find / -exec rm {} \\;", &["find / -exec rm {} ;"]),
    right("ls | xargs rm", &["ls", "xargs rm"]),
    right("bash -c 'rm x'", &["bash -c 'rm x'"]),
    right(
        "timeout 5 nohup nice watch rm x",
        &["timeout 5 nohup nice watch rm x"],
    ),
    right("ssh h rm x", &["ssh h rm x"]),
];

#[test]
fn every_treacherous_text_is_right_or_unknown() {
    assert_eq!(SNIPPETS.len(), 68);
    for snippet in SNIPPETS {
        let found = canonicals(snippet.text);
        let is_understood = read(snippet.text).unknown.is_empty();
        assert_eq!(is_understood, snippet.is_understood, "{:?}", snippet.text);
        if is_understood {
            assert_eq!(found, snippet.finds, "{:?}", snippet.text);
        }
        for command in snippet.finds {
            assert!(
                found.iter().any(|found| found == command),
                "{:?} has {command}: {found:?}",
                snippet.text
            );
        }
    }
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

#[test]
fn a_wrapper_or_inline_code_is_opaque() {
    for snippet in &SNIPPETS[59..] {
        let line = read(snippet.text);
        assert!(
            line.commands.iter().any(|command| command.opaque.is_some()),
            "{:?}",
            snippet.text
        );
    }
}
