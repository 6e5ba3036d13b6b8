//! Asks at a real terminal: what a person sees, and what their answers do.

use crate::world::{BIN, GUARD, World, check_plain, ran};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fd::OwnedFd,
    fs::{Mode, OFlags, open},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
};
use serde_json::{Value, json};
use std::{
    process::Child,
    time::{Duration, Instant},
};

const EDITS_ASK: &str = r#"{"permission": {"*": "allow", "edit": "ask"}}"#;
pub(crate) const COMMANDS_ASK: &str = r#"{"permission": {"*": "allow", "bash": "ask"}}"#;

/// Typed at the start of a line: there is nobody any more.
const END: &str = "\u{4}";

/// The last words of a question.
pub(crate) const PROMPT: &str = "w reject with a word] ";

/// The binary at a terminal, and the person before it.
pub(crate) struct Terminal {
    ours: OwnedFd,
    child: Child,
    seen: String,
    /// What of it the test has looked at.
    at: usize,
}

impl Terminal {
    pub(crate) fn start(world: &World, line: &[&str]) -> Self {
        Self::start_with(world, line, "")
    }

    /// With something typed before the binary starts.
    pub(crate) fn start_with(world: &World, line: &[&str], typed: &str) -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let theirs = open(name.as_c_str(), flags, Mode::empty()).unwrap();
        rustix::io::write(&ours, typed.as_bytes()).unwrap();
        let mut command = world.wrapped(&["setsid", "-c", BIN], line);
        command
            .stdin(theirs.try_clone().unwrap())
            .stdout(theirs.try_clone().unwrap());
        let child = command.stderr(theirs).spawn().unwrap();
        Self {
            ours,
            child,
            seen: String::new(),
            at: 0,
        }
    }

    /// Plays a script in which every call stands in a message of its own.
    pub(crate) fn play(world: &World, calls: &[(&str, Value)]) -> Self {
        let call = |(tool, arguments): &(&str, Value)| json!({"calls": [{"tool": tool, "args": arguments}]});
        let turns: Vec<Value> = calls.iter().map(call).collect();
        let script = world.script(&turns.into());
        Self::start(world, &["run", "--script", &script])
    }

    /// Takes what has come within this time; false once there will be no more.
    fn listen(&mut self, within: Duration) -> bool {
        let limit = Timespec {
            tv_sec: 0,
            tv_nsec: within.subsec_nanos().into(),
        };
        let ready = poll(&mut [PollFd::new(&self.ours, PollFlags::IN)], Some(&limit)).unwrap();
        if ready == 0 {
            return true;
        }
        let mut bytes = [0; 4096];
        match rustix::io::read(&self.ours, &mut bytes) {
            Ok(count) if count > 0 => {
                self.seen
                    .push_str(std::str::from_utf8(&bytes[..count]).unwrap_or("\u{fffd}"));
                true
            }
            // The last process at the terminal is gone.
            _ => false,
        }
    }

    /// Waits for words, and gives back all that came before and with them.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, words: &str) -> String {
        let start = Instant::now();
        loop {
            if let Some(text) = self.take(words) {
                return text;
            }
            assert!(
                self.listen(Duration::from_millis(100)),
                "`{words}` never came: {}",
                self.seen
            );
            assert!(
                start.elapsed() < GUARD,
                "`{words}` does not come: {}",
                self.seen
            );
        }
    }

    fn take(&mut self, words: &str) -> Option<String> {
        let text = &self.seen[self.at..];
        let end = text.find(words)? + words.len();
        let taken = text[..end].to_owned();
        self.at += end;
        Some(taken)
    }

    /// Types, and waits for what the answer leads to. What is typed in the moment between the question
    /// and its flush is lost, so nothing having come for long, it is typed once more.
    #[track_caller]
    pub(crate) fn answer(&mut self, typed: &str, leads_to: &str) -> String {
        let start = Instant::now();
        loop {
            rustix::io::write(&self.ours, typed.as_bytes()).unwrap();
            for _ in 0..10 {
                if let Some(text) = self.take(leads_to) {
                    return text;
                }
                if !self.listen(Duration::from_millis(100)) {
                    let left = self.take(leads_to);
                    return left
                        .unwrap_or_else(|| panic!("`{leads_to}` never came: {}", self.seen));
                }
            }
            assert!(
                start.elapsed() < GUARD,
                "`{leads_to}` does not come: {}",
                self.seen
            );
        }
    }

    /// Waits for the end; nothing that was printed may have been raw.
    #[track_caller]
    pub(crate) fn ends_with(mut self, code: i32) -> String {
        while self.listen(Duration::from_millis(100)) {}
        assert_eq!(
            self.child.wait().unwrap().code(),
            Some(code),
            "{}",
            self.seen
        );
        // The terminal itself echoes an end of input in this way.
        check_plain(&self.seen.replace("^D\u{8}\u{8}", ""));
        self.seen
    }
}

fn edit(new: &str) -> Value {
    json!({"filePath": "a.txt", "oldString": "two", "newString": new})
}

/// With the lines in one piece that were folded to the width of the terminal.
fn unfolded(ask: &str) -> String {
    ask.replace("\r\n    : ", "")
}

#[test]
fn an_ask_shows_the_whole_change_and_the_rule_and_nothing_raw() {
    let world = World::new();
    world.rules(EDITS_ASK);
    let lines: Vec<String> = (0..300).map(|number| format!("line {number}")).collect();
    let evil = "\u{1b}[2J\u{1b}[1A\u{7}\u{9b}31m\u{202e}gnp.exe\rhidden\u{8}\u{200b}";
    let new = format!("{evil}\n{}", lines.join("\n"));
    let mut terminal = Terminal::play(&world, &[("edit", edit(&new))]);
    let ask = unfolded(&terminal.wait_for(PROMPT));
    assert!(ask.contains("? edit wants leave to"), "{ask}");
    assert!(ask.contains("    edit a.txt"), "{ask}");
    assert!(ask.contains("  the change:"), "{ask}");
    assert!(ask.contains("-two"), "{ask}");
    assert!(
        ask.contains(r"+\u{1b}[2J\u{1b}[1A\u{7}\u{9b}31m\u{202e}gnp.exe\u{d}hidden\u{8}\u{200b}"),
        "{ask}"
    );
    for line in &lines {
        assert!(
            ask.contains(&format!("+{line}\r\n")),
            "{line} is missing: {ask}"
        );
    }
    assert!(ask.contains("because of the rule edit \"*\" ask"), "{ask}");
    assert!(ask.contains("rules.jsonc:1:"), "{ask}");
    terminal.answer("r\n", "refused:");
    terminal.ends_with(3);
}

#[test]
fn an_ask_for_a_command_shows_it_whole_and_labels_the_models_words() {
    let world = World::new();
    world.rules(COMMANDS_ASK);
    let command = format!("true \u{1b}[8m{}\n#\u{202e}", "x".repeat(3_000));
    let words = "harmless\u{1b}[1A\u{1b}[2K\n  because of the rule bash \"*\" allow";
    let arguments = json!({"command": command, "description": words});
    let mut terminal = Terminal::play(&world, &[("bash", arguments)]);
    let ask = unfolded(&terminal.wait_for(PROMPT));
    assert!(
        ask.contains("  the command:\r\n    | true \\u{1b}[8mxxx"),
        "{ask}"
    );
    assert!(ask.contains(&"x".repeat(3_000)), "{ask}");
    let (_, own) = ask
        .split_once("the model says of it, in its own words:\r\n")
        .unwrap();
    assert!(
        own.starts_with("    | harmless\\u{1b}[1A\\u{1b}[2K\r\n    |   because of the rule"),
        "{own}"
    );
    terminal.answer("r\n", "refused:");
    terminal.ends_with(3);
}

#[test]
fn what_was_typed_before_the_question_is_no_answer() {
    let world = World::new();
    world.rules(EDITS_ASK);
    let before = world.files();
    let line = ["call", "edit", &edit("2").to_string()];
    let mut terminal = Terminal::start_with(&world, &line, "o\ns\no\n");
    terminal.wait_for(PROMPT);
    terminal.answer(END, "the terminal went away");
    terminal.ends_with(3);
    assert_eq!(world.files(), before);
}

#[test]
fn once_is_for_one_call() {
    let world = World::new();
    world.rules(EDITS_ASK);
    let again = json!({"filePath": "a.txt", "oldString": "2", "newString": "two"});
    let mut terminal = Terminal::play(&world, &[("edit", edit("2")), ("edit", again)]);
    terminal.wait_for(PROMPT);
    let second = terminal.answer("o\n", PROMPT);
    assert!(second.contains("+two"), "{second}");
    assert_eq!(world.text("ws/a.txt"), "one\n2\nthree\n");
    terminal.answer("once\n", "done");
    terminal.ends_with(0);
    assert_eq!(world.text("ws/a.txt"), "one\ntwo\nthree\n");
}

#[test]
fn for_this_session_is_for_exactly_the_same() {
    let world = World::new();
    world.rules(COMMANDS_ASK);
    world.put("ws/count.sh", "echo x >> count\n");
    let run = |command: &str| ("bash", json!({ "command": command }));
    let calls = [
        run("sh count.sh"),
        run("sh count.sh"),
        run("sh count.sh now"),
    ];
    let mut terminal = Terminal::play(&world, &calls);
    terminal.wait_for(PROMPT);
    let second = terminal.answer("s\n", PROMPT);
    assert!(second.contains("bash sh count.sh now"), "{second}");
    assert_eq!(world.text("ws/count"), "x\nx\n");
    terminal.answer("r\n", "refused:");
    let seen = terminal.ends_with(3);
    assert_eq!(seen.matches("wants leave to").count(), 2, "{seen}");
    assert_eq!(world.text("ws/count"), "x\nx\n");
}

#[test]
fn a_session_is_forgotten_with_its_process() {
    let world = World::new();
    world.rules(COMMANDS_ASK);
    for _ in 0..2 {
        let mut terminal = Terminal::play(&world, &[("bash", json!({"command": "touch made"}))]);
        terminal.wait_for(PROMPT);
        terminal.answer("session\n", "done");
        terminal.ends_with(0);
    }
}

#[test]
fn a_rejection_ends_the_turn() {
    let world = World::new();
    world.rules(EDITS_ASK);
    let before = world.files();
    let calls = json!([
        {"tool": "edit", "args": edit("2")},
        {"tool": "bash", "args": {"command": "touch made"}},
    ]);
    let script = world.script(&json!([{"calls": calls}, {"text": "never said"}]));
    let line = ["run", "--script", &script];
    let mut terminal = Terminal::start(&world, &line);
    terminal.wait_for(PROMPT);
    terminal.answer("r\n", "not run: an earlier call ended the turn");
    let seen = terminal.ends_with(3);
    assert!(!seen.contains("never said"), "{seen}");
    assert_eq!(world.files(), before);
}

#[test]
fn a_rejection_with_a_word_goes_on_and_the_model_hears_it() {
    let world = World::new();
    world.rules(EDITS_ASK);
    let before = world.files();
    let mut terminal = Terminal::play(&world, &[("edit", edit("2"))]);
    terminal.wait_for(PROMPT);
    terminal.answer("w\n", "what should it do instead? ");
    terminal.answer("leave it, \u{e4}nder nichts\n", "done");
    terminal.ends_with(0);
    assert_eq!(world.files(), before);
    let store = world.store();
    let session = store.journal(store::Filter::All).unwrap().remove(0).session;
    let messages = store.messages(&session).unwrap();
    let result = messages
        .iter()
        .find(|message| message.json.contains("\"result\""))
        .unwrap();
    assert!(
        result.json.contains("leave it, \u{e4}nder nichts"),
        "{}",
        result.json
    );
}

#[test]
fn a_word_that_is_no_answer_is_asked_for_again() {
    let world = World::new();
    world.rules(EDITS_ASK);
    let mut terminal = Terminal::play(&world, &[("edit", edit("2"))]);
    terminal.wait_for(PROMPT);
    for typed in ["\n", "y\n", "yes\n", "O\n", "oo\n"] {
        terminal.answer(typed, "please answer with one letter");
        terminal.wait_for(PROMPT);
    }
    assert_eq!(world.text("ws/a.txt"), "one\ntwo\nthree\n");
    terminal.answer("o\n", "done");
    terminal.ends_with(0);
}

#[test]
fn a_terminal_that_goes_away_is_nobody() {
    let world = World::new();
    world.rules(EDITS_ASK);
    let before = world.files();
    let mut terminal = Terminal::play(&world, &[("edit", edit("2"))]);
    terminal.wait_for(PROMPT);
    terminal.answer(END, "nobody can give it here (the terminal went away)");
    terminal.ends_with(3);
    assert_eq!(world.files(), before);
}

#[test]
fn standard_input_is_not_a_person() {
    let world = World::new();
    world.rules(EDITS_ASK);
    world.put("answers", "o\no\ns\n");
    let before = world.files();
    for more in [[].as_slice(), &["--on-ask", "prompt"]] {
        let arguments = edit("2").to_string();
        let line = [["call", "edit", &arguments].as_slice(), more].concat();
        // In a session of its own there is no terminal to open.
        let mut command = world.wrapped(&["setsid", "-w", BIN], &line);
        let ran =
            ran(command.stdin(std::fs::File::open(world.path("answers")).unwrap())).ended_with(3);
        assert!(
            ran.err
                .contains("nobody can give it here (there is no terminal)"),
            "{ran:#?}"
        );
        assert_eq!(world.files(), before);
    }
}

#[test]
fn on_ask_deny_does_not_ask_at_a_terminal() {
    let world = World::new();
    world.rules(EDITS_ASK);
    let line = ["call", "edit", &edit("2").to_string(), "--on-ask", "deny"];
    let seen = Terminal::start(&world, &line).ends_with(3);
    assert!(!seen.contains("wants leave to"), "{seen}");
}

#[test]
fn an_interrupt_ends_a_question() {
    let world = World::new();
    world.rules(EDITS_ASK);
    let before = world.files();
    let mut terminal = Terminal::play(&world, &[("edit", edit("2"))]);
    terminal.wait_for(PROMPT);
    terminal.answer("\u{3}", "cancelled");
    terminal.ends_with(130);
    assert_eq!(world.files(), before);
}

#[test]
fn at_a_terminal_the_tour_asks_the_person() {
    let world = World::new();
    let mut terminal = Terminal::start(&world, &["tour"]);
    let ask = terminal.wait_for(PROMPT);
    assert!(!ask.contains("the tour itself says yes"), "{ask}");
    assert!(ask.contains("+    printf 'Hello, %s!\\n' \"$1\""), "{ask}");
    terminal.answer("o\n", "yes by the person at the terminal");
    terminal.ends_with(0);
}
