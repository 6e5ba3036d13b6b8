//! Gate 2: two passes, decided again after each answer, and who answered.

use crate::world::{
    BOTH_ASK, command, denied_by, file, intents, refusal, session, two, unanswered_by, unasked,
    unsandboxed,
};
use conform::testkit::{Bench, MemoryHost, no, nobody, yes};
use policy::{
    Action::{Allow, Ask, Deny},
    AnsweredBy,
};
use schema::RawArguments;
use serde_json::json;
use tollgate_gate::{
    Problem,
    call::NotRun,
    g0_offer::Table,
    g2_admit::{Gate, Question, Refusal, Reply},
    journal::Event,
    tool::AnyTool,
};
use tools::{Bash, Edit, Read, Write, builtins};

#[test]
fn a_deny_of_any_access_refuses_before_anybody_is_asked() {
    let bench = Bench::new(&[("read", "*", Ask), ("edit", "a.txt", Deny)]);
    assert_eq!(
        denied_by(bench.run(Edit, two(), unasked)),
        "user:2:1: edit a.txt"
    );
    assert_eq!(bench.journal.verbs(), ["refused"]);
}

#[test]
fn a_deny_added_while_a_person_thinks_wins_over_their_yes() {
    let bench = Bench::new(&BOTH_ASK);
    let result = bench.run(Edit, two(), |question| {
        if question.because.subject().permission == "edit" {
            bench.deny("edit", "a.txt");
        }
        yes()
    });
    assert_eq!(denied_by(result), "added: edit a.txt");
    assert_eq!(bench.host.text("a.txt").unwrap(), "one\ntwo\n");
    assert_eq!(
        bench.journal.verbs(),
        ["intend read", "did read", "refused"]
    );
}

#[test]
fn a_deny_of_a_later_access_ends_the_call_before_the_first_is_used() {
    let bench = Bench::new(&BOTH_ASK);
    let result = bench.run(Edit, two(), |_| {
        bench.deny("edit", "a.txt");
        yes()
    });
    assert_eq!(denied_by(result), "added: edit a.txt");
    assert_eq!(bench.asked(), ["read a.txt"]);
    assert_eq!(bench.journal.verbs(), ["refused"]);
}

#[test]
fn a_deny_of_what_was_already_read_still_ends_the_call() {
    let bench = Bench::new(&BOTH_ASK);
    let result = bench.run(Edit, two(), |question| {
        if question.because.subject().permission == "edit" {
            bench.deny("read", "a.txt");
        }
        yes()
    });
    assert_eq!(denied_by(result), "added: read a.txt");
    assert_eq!(bench.host.text("a.txt").unwrap(), "one\ntwo\n");
}

#[test]
fn the_journal_says_who_answered_when_and_under_which_rules() {
    let bench = Bench::new(&[("read", "*", Allow), ("edit", "*", Ask)]);
    bench.run(Edit, two(), |_| yes()).unwrap();
    let decisions = intents(&bench.journal.records());
    let [read, write] = decisions.as_slice() else {
        panic!("two effects")
    };
    assert!(matches!(read.by(), AnsweredBy::Rule { rule, .. } if rule.origin.line == 1));
    let answer = write.answer().unwrap();
    assert_eq!(
        (answer.who.as_str(), answer.at_ms, write.generation()),
        ("ann", 7, 1)
    );
    assert_eq!(
        write.rule().unwrap().origin.line,
        2,
        "and the rule that asked is not forgotten"
    );
}

#[test]
fn every_record_names_its_call_message_and_session() {
    let bench = Bench::new(&[("*", "*", Allow)]);
    bench.run(Edit, two(), unasked).unwrap();
    bench.run(Edit, two(), unasked).unwrap_err();
    let records = bench.journal.records();
    for record in &records {
        let ids = &record.ids;
        assert_eq!(
            (ids.session.as_str(), ids.message.as_str()),
            ("ses_test", "msg_test")
        );
        assert_eq!(
            (ids.tool_call_id.as_str(), record.tool.as_str()),
            ("call_1", "edit")
        );
    }
    // The model may use one id twice; the calls are still two.
    assert_ne!(
        records.first().unwrap().ids.call,
        records.last().unwrap().ids.call
    );
}

#[test]
fn an_ask_that_nobody_can_answer_is_a_denial_that_names_its_rule() {
    let bench = Bench::new(&[("bash", "*", Ask)]);
    let result = bench.run(Bash, command("true"), |_| nobody());
    let Refusal::Unanswered { why, asked_by } = refusal(result) else {
        panic!("another refusal")
    };
    assert_eq!(
        (why.as_str(), asked_by.rule().unwrap().origin.line),
        ("no terminal", 1)
    );
    assert_eq!(bench.asked().len(), 1, "nobody is asked a second time");
    assert_eq!(bench.host.ran(), [""; 0]);
}

#[test]
fn what_no_rule_speaks_of_is_asked() {
    let bench = Bench::new(&[]);
    let result = bench.run(Read, file("a.txt"), |_| nobody());
    assert_eq!(unanswered_by(result), "no rule");
}

#[test]
fn a_no_ends_the_call_and_later_asks_are_not_put() {
    let bench = Bench::new(&BOTH_ASK);
    let word = Some("use b.txt".to_owned());
    let reject = || Reply::Reject {
        who: "ann".into(),
        word: word.clone(),
    };
    let Refusal::Rejected {
        who,
        word: said,
        asked_by,
    } = refusal(bench.run(Edit, two(), |_| reject()))
    else {
        panic!("another refusal")
    };
    assert_eq!((who.as_str(), said), ("ann", word));
    assert_eq!(asked_by.subject().permission, "read");
    assert_eq!(bench.asked(), ["read a.txt"]);
    assert_eq!(bench.journal.verbs(), ["refused"]);
}

#[test]
fn the_journal_keeps_every_refusal_with_its_gate() {
    let bench = Bench::new(&BOTH_ASK);
    bench.run(Edit, two(), |_| no()).unwrap_err();
    let records = bench.journal.records();
    let Some(Event::Refused(refusal)) = records.last().map(|it| &it.event) else {
        panic!("{records:?}")
    };
    assert_eq!(refusal.gate(), Gate::Admit);
}

#[test]
fn a_tool_is_offered_unless_its_permission_is_closed_whole() {
    let closed = Bench::new(&[("*", "*", Allow), ("edit", "*", Deny)]);
    let names = |bench: &Bench| {
        let table = Table::lay(&builtins(), &bench.rules.current()).unwrap();
        table
            .tools()
            .iter()
            .map(|tool| tool.name().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        names(&closed),
        ["question", "bash", "read", "glob", "grep", "todowrite"],
        "`write` has the permission of `edit`"
    );
    for tool in [AnyTool::new(Edit), AnyTool::new(Write)] {
        let name = tool.name().to_owned();
        let arguments = RawArguments::Json(json!({}));
        let result = closed
            .run_on(&closed.host, &[tool], &name, arguments, unasked)
            .unwrap_err();
        assert_eq!(
            result.gate(),
            Some(Gate::Offer),
            "even with wrong arguments"
        );
        let NotRun::UnknownTool { tool, offered } = result else {
            panic!("{result:?}")
        };
        assert_eq!((tool, offered), (name, vec![]));
    }

    let narrow = Bench::new(&[("edit", "*", Deny), ("edit", "b.txt", Allow)]);
    assert_eq!(names(&narrow).len(), builtins().len());
    assert_eq!(
        denied_by(narrow.run(Edit, two(), unasked)),
        "user:1:1: edit *"
    );
}

#[test]
fn a_tool_closed_while_the_turn_runs_is_still_refused() {
    let bench = Bench::new(&[("*", "*", Allow)]);
    let tools = [AnyTool::new(Edit)];
    let before = Table::lay(&tools, &bench.rules.current()).unwrap();
    assert_eq!(before.tools().len(), 1);
    bench.deny("edit", "*");
    let result = bench.run_on(
        &bench.host,
        &tools,
        "edit",
        RawArguments::Json(two()),
        unasked,
    );
    assert_eq!(result.unwrap_err().gate(), Some(Gate::Offer));
}

#[test]
fn two_tools_of_one_name_make_no_table() {
    let bench = Bench::new(&[]);
    let tools = [AnyTool::new(Read), AnyTool::new(Edit), AnyTool::new(Read)];
    let error = Table::lay(&tools, &bench.rules.current()).unwrap_err();
    assert_eq!(error.to_string(), "two tools are called `read`");
}

#[test]
fn wrong_arguments_are_told_before_anything_is_decided() {
    let bench = Bench::new(&[("edit", "a.txt", Deny)]);
    let result = bench
        .run(Edit, json!({"filePath": "a.txt"}), unasked)
        .unwrap_err();
    assert_eq!(result.gate(), Some(Gate::Decode));
    let NotRun::InvalidArguments { faults, .. } = result else {
        panic!("{result:?}")
    };
    let paths: Vec<&str> = faults.iter().map(|fault| fault.path.as_str()).collect();
    assert_eq!(paths, ["oldString", "newString"]);
    assert_eq!(bench.journal.verbs(), [""; 0]);
}

#[test]
fn a_yes_for_the_session_holds_for_the_very_same_thing() {
    let bench = Bench::new(&[("read", "*", Allow), ("edit", "*", Ask), ("bash", "*", Ask)]);
    let write = |path: &str, text: &str| json!({"filePath": path, "content": text});
    bench.run(Write, write("a.txt", "1"), session).unwrap();
    // The same file by another name is the same thing; other bytes for it are, too.
    bench.run(Write, write("/w/./a.txt", "2"), unasked).unwrap();
    bench.run(Write, write("b.txt", "1"), |_| no()).unwrap_err();
    bench
        .run(Write, write("a.txt.bak", "1"), |_| no())
        .unwrap_err();

    bench.run(Bash, command("rm  -f 'x y'"), session).unwrap();
    bench.run(Bash, command("rm  -f 'x y'"), unasked).unwrap();
    for other in [
        "rm -f x y",
        "rm -f 'x z'",
        "rm -f \"x y\"",
        "/bin/rm -f 'x y'",
        "sudo rm  -f 'x y'",
    ] {
        refusal(bench.run(Bash, command(other), |_| no()));
    }
    // Beside something else it is asked about for the something else.
    bench
        .run(Bash, command("rm  -f 'x y' && rm z"), |_| no())
        .unwrap_err();
    assert_eq!(bench.asked().last().unwrap(), "bash rm z");
}

#[test]
fn a_yes_for_plain_words_is_none_for_the_same_words_in_quotes() {
    let bench = Bench::new(&[("bash", "*", Ask)]);
    bench.run(Bash, command("rm x y"), session).unwrap();
    bench.run(Bash, command("rm x y"), unasked).unwrap();
    for other in ["rm 'x y'", "rm  x y", "rm x\\ y"] {
        refusal(bench.run(Bash, command(other), |_| no()));
    }
    assert_eq!(bench.host.ran().len(), 2);
}

#[test]
fn a_yes_for_a_word_whose_value_the_line_gives_is_none_for_another_value() {
    let bench = Bench::new(&[("bash", "*", Ask)]);
    bench.run(Bash, command("D=a; rm \"$D\""), session).unwrap();
    bench.run(Bash, command("D=a; rm \"$D\""), unasked).unwrap();
    for other in ["D=b; rm \"$D\"", "rm \"$D\""] {
        refusal(bench.run(Bash, command(other), |_| no()));
    }
}

#[test]
fn a_star_in_what_was_approved_has_no_meaning() {
    let bench = Bench::new(&[("bash", "*", Ask)]);
    bench.run(Bash, command("echo 'a*'"), session).unwrap();
    bench.run(Bash, command("echo abc"), |_| no()).unwrap_err();
    bench.run(Bash, command("rm *"), session).unwrap();
    bench.run(Bash, command("rm x"), |_| no()).unwrap_err();
}

#[test]
fn a_yes_for_the_session_lifts_no_deny() {
    let bench = Bench::new(&[("bash", "*", Ask)]);
    bench.run(Bash, command("rm x"), session).unwrap();
    bench.deny("bash", "rm *");
    assert_eq!(
        denied_by(bench.run(Bash, command("rm x"), unasked)),
        "added: bash rm *"
    );
}

#[test]
fn without_a_sandbox_every_command_that_may_do_more_than_look_is_asked_each_time() {
    for rules in [&[("*", "*", Allow)][..], &[("bash", "*", Ask)][..]] {
        let bench = Bench::on(unsandboxed(), rules);
        for _ in 0..2 {
            let answer = |question: &Question<'_>| {
                assert!(question.keepable.levels.is_empty());
                session(question)
            };
            bench.run(Bash, command("make x"), answer).unwrap();
        }
        assert_eq!(bench.asked(), ["bash make x", "bash make x"]);
        assert_eq!(bench.rules.current().generation(), 1, "nothing was kept");
    }
    let bench = Bench::on(unsandboxed(), &[("*", "*", Allow)]);
    bench.run(Bash, command("true"), unasked).unwrap();
    bench.run(Bash, command("touch x"), unasked).unwrap();
    // A word that is not known as it stands may be more than it seems.
    bench.run(Bash, command("echo $X"), |_| no()).unwrap_err();
}

#[test]
fn without_a_sandbox_files_are_read_as_the_rules_say() {
    let bench = Bench::on(unsandboxed(), &[("*", "*", Allow)]);
    assert!(
        bench
            .run(Read, file("a.txt"), unasked)
            .unwrap()
            .output
            .contains("1: one")
    );
}

#[test]
fn without_a_sandbox_a_deny_is_still_a_deny() {
    let bench = Bench::on(unsandboxed(), &[("*", "*", Allow), ("bash", "rm *", Deny)]);
    assert_eq!(
        denied_by(bench.run(Bash, command("rm x"), unasked)),
        "user:2:1: bash rm *"
    );
}

#[test]
fn a_file_of_several_names_is_asked_about_each_time() {
    let bench = Bench::new(&[("*", "*", Allow)]);
    bench.host.link("a.txt");
    for _ in 0..2 {
        bench.run(Read, file("a.txt"), session).unwrap();
    }
    assert_eq!(bench.asked(), ["read a.txt", "read a.txt"]);
    let Refusal::Unanswered { asked_by, .. } = refusal(bench.run(Edit, two(), |_| nobody())) else {
        panic!("another refusal")
    };
    let why = asked_by.subject().ask_because.clone().unwrap();
    assert_eq!(why, "the file has 2 names (hard links)");
}

#[test]
fn a_file_outside_is_asked_by_its_directory_and_by_itself() {
    let host = || MemoryHost::with(&[("/etc/hosts", "x\n")]);
    let bench = Bench::on(host(), &[("read", "*", Allow)]);
    bench.run(Read, file("/etc/hosts"), |_| yes()).unwrap();
    assert_eq!(
        bench.asked(),
        ["external_directory /etc/*"],
        "one yes is for the whole access"
    );

    let rules = [("*", "*", Allow), ("read", "/etc/hosts", Deny)];
    let bench = Bench::on(host(), &rules);
    assert_eq!(
        denied_by(bench.run(Read, file("../etc/hosts"), unasked)),
        "user:2:1: read /etc/hosts"
    );
    let rules = [("*", "*", Allow), ("external_directory", "/etc/*", Deny)];
    let bench = Bench::on(host(), &rules);
    let by = denied_by(bench.run(Read, file("/etc/hosts"), unasked));
    assert_eq!(by, "user:2:1: external_directory /etc/*");
}

#[test]
fn a_listing_is_covered_by_the_yes_to_the_read_before_it() {
    let bench = Bench::on(MemoryHost::with(&[("src/a", ""), ("src/b/c", "")]), &[]);
    let listing = bench.run(Read, file("src"), |_| yes()).unwrap();
    assert!(listing.output.contains("a\nb/\n"), "{}", listing.output);
    assert_eq!(bench.asked(), ["read src"]);
    assert_eq!(
        bench.journal.verbs(),
        ["intend read", "did read", "intend list", "did list"]
    );
}

#[test]
fn refusals_of_earlier_gates_are_not_problems_of_the_tool() {
    let bench = Bench::new(&[]);
    let result = bench.run_on(
        &bench.host,
        &builtins(),
        "bsh",
        RawArguments::Json(json!({})),
        unasked,
    );
    let NotRun::UnknownTool { tool, offered } = result.unwrap_err() else {
        panic!("known?")
    };
    assert_eq!(
        (tool.as_str(), offered),
        (
            "bsh",
            [
                "question",
                "bash",
                "read",
                "glob",
                "grep",
                "edit",
                "write",
                "todowrite"
            ]
            .map(str::to_owned)
            .to_vec()
        )
    );
    let failed = NotRun::Stopped(Problem::failed("x"));
    assert_eq!(failed.gate(), None, "a failure is no refusal");
}
