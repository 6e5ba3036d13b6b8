//! `run` with a model at the other end of a connection.

use crate::{
    run::lines,
    server::{KEY, Server, configuration, line},
    world::{BIN, Ran, World, ran},
};
use conform::mock::Answer;
use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket};
use serde_json::{Value, json};
use std::{
    fs,
    net::{Ipv4Addr, SocketAddrV4},
    path::Path,
};

const USAGE: i32 = 2;
const CONFIG: i32 = 4;
const UNREACHABLE: i32 = 6;

fn two_calls() -> Value {
    json!([
        {"text": "I look.", "calls": [
            {"id": "r", "tool": "read", "args": {"filePath": "a.txt"}},
            {"id": "g", "tool": "grep", "args": {"pattern": "two"}},
        ]},
        {"text": "It is in a.txt."},
    ])
}

#[test]
fn words_and_two_calls_of_one_message_go_there_and_back() {
    let world = World::new();
    let server = Server::start(&two_calls(), []);
    server.configure(&world, &json!({}));
    let ran = world
        .run(&line("Where is two?", &["--format", "json"]))
        .ended_with(0);
    let kinds: Vec<Value> = lines(&ran).iter().map(|it| it["type"].clone()).collect();
    assert_eq!(
        kinds,
        ["text", "call", "result", "call", "result", "text", "end"]
    );

    let received = server.received();
    assert_eq!(received.len(), 2);
    assert!(
        received
            .iter()
            .all(|it| it.path == "/v1/chat/completions" && it.body["model"] == "x"),
        "{received:?}"
    );
    let messages = server.messages(1);
    assert_eq!(
        messages[1],
        json!({"role": "user", "content": "Where is two?"})
    );
    let calls: Vec<&Value> = messages[2]["tool_calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["id"])
        .collect();
    assert_eq!(calls, ["r", "g"]);
    for (at, id, says) in [(3, "r", "2: two"), (4, "g", "a.txt")] {
        assert_eq!(messages[at]["tool_call_id"], id);
        assert!(
            messages[at]["content"].as_str().unwrap().contains(says),
            "{}",
            messages[at]
        );
    }
    // The same tools that are listed, and no others.
    let tools = world.run(&["tools", "--json"]).json();
    let names = |list: &Value, at: &str| -> Vec<Value> {
        list.as_array()
            .unwrap()
            .iter()
            .map(|it| it.pointer(at).unwrap().clone())
            .collect()
    };
    assert_eq!(
        names(&received[0].body["tools"], "/function/name"),
        names(&tools, "/name")
    );
}

#[test]
fn the_model_may_be_chosen_in_the_configuration() {
    let world = World::new();
    let server = Server::start(&json!([{"text": "hello"}]), []);
    let base = json!({"provider": {"mock": {
        "options": {"baseURL": server.base_url()}, "models": {"x": {"id": "x-2025"}, "y": {}},
    }}});
    let speak = |more: Value, arguments: &[&str]| {
        let mut config = base.clone();
        config
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        world.rules(&config.to_string());
        world
            .run(&[&["run", "hi"], arguments].concat())
            .ended_with(0);
        server.received().pop().unwrap().body["model"].clone()
    };
    assert_eq!(speak(json!({"model": "mock/x"}), &[]), "x-2025");
    let agent = json!({"model": "mock/x", "agent": {"plan": {"model": "mock/y"}}});
    assert_eq!(speak(agent.clone(), &[]), "x-2025");
    assert_eq!(speak(agent.clone(), &["--agent", "plan"]), "y");
    assert_eq!(
        speak(agent, &["--agent", "plan", "--model", "mock/a/b:c"]),
        "a/b:c"
    );
}

#[test]
fn a_server_that_has_no_time_is_asked_again() {
    let world = World::new();
    let busy = Answer::refusal_until(429, "slow down", "0");
    let server = Server::start(&two_calls(), [busy.clone(), Answer::Stream, busy]);
    server.configure(&world, &json!({}));
    let ran = world.run(&line("Where is two?", &[])).ended_with(0);
    assert!(ran.out.ends_with("It is in a.txt.\n"), "{ran:#?}");
    let received = server.received();
    assert_eq!(received.len(), 4);
    assert_eq!((&received[0], &received[2]), (&received[1], &received[3]));
    // Nothing was done twice.
    let calls = world
        .run(&["log", "--call", "r", "--json"])
        .ended_with(0)
        .out;
    assert_eq!(calls.matches(r#""event":"outcome""#).count(), 1, "{calls}");
}

/// Fails with one clear line that holds these words and no key, and keeps what was said.
#[track_caller]
fn check_unreachable(world: &World, says: &[&str]) -> Ran {
    let ran = world.run(&line("hi", &[])).ended_with(UNREACHABLE);
    assert_eq!(ran.out, "");
    assert_eq!(ran.err.lines().count(), 1, "{ran:#?}");
    for words in [&["tollgate: model `mock/x` cannot be reached: "], says].concat() {
        assert!(ran.err.contains(words), "`{words}` is not in {ran:#?}");
    }
    assert!(!ran.err.contains(KEY), "{ran:#?}");
    ran
}

#[test]
fn a_port_where_nobody_listens_is_a_line_and_an_exit_code() {
    let world = World::new();
    // Taken, so that nobody else gets it, and never listened at.
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = SocketAddrV4::try_from(getsockname(&socket).unwrap()).unwrap();
    let port = address.port();
    let base_url = format!("http://127.0.0.1:{port}/v1");
    world.rules(&configuration(&base_url, &json!(KEY)).to_string());
    check_unreachable(&world, &["no connection", &format!("127.0.0.1:{port}")]);
}

#[test]
fn a_server_that_says_no_is_quoted_without_the_key() {
    let world = World::new();
    let no = Answer::refusal(401, &format!("wrong key {KEY}\u{1b}[2J"));
    let server = Server::start(&json!([]), [no]);
    server.configure(&world, &json!({}));
    let ran = check_unreachable(&world, &["401", "wrong key "]);
    crate::world::check_plain(&ran.err);
    assert_eq!(server.received().len(), 1, "it would fail the same way");
}

#[test]
fn a_model_that_is_not_configured_or_not_chosen_is_said() {
    let world = World::new();
    let config = configuration("http://127.0.0.1:9/v1", &json!(KEY));
    world.rules(&config.to_string());
    for (name, says) in [
        (
            "other/x",
            "provider of `other/x` is not configured; configured: mock",
        ),
        ("x", "`x` is not of the form PROVIDER/MODEL"),
        ("", "`` is not of the form PROVIDER/MODEL"),
        ("\u{1b}[2J/x", "is not configured"),
    ] {
        let ran = world.run(&["run", "--model", name, "hi"]).ended_with(USAGE);
        assert!(ran.err.contains(says), "{ran:#?}");
        crate::world::check_plain(&ran.err);
    }
    let ran = world.run(&["run", "hi"]).ended_with(USAGE);
    assert!(
        ran.err
            .contains("no model is chosen: pass --model PROVIDER/MODEL"),
        "{ran:#?}"
    );
    for base_url in ["nonsense", "ftp://127.0.0.1/", ""] {
        world.rules(&configuration(base_url, &json!(KEY)).to_string());
        let ran = world
            .run(&["run", "--model", "mock/x", "hi"])
            .ended_with(CONFIG);
        assert!(!ran.err.contains(KEY), "{ran:#?}");
    }
    world.rules(r#"{"provider": {"mock": {"options": {}}}}"#);
    let ran = world
        .run(&["run", "--model", "mock/x", "hi"])
        .ended_with(CONFIG);
    assert!(
        ran.err.contains("provider `mock` has no `options.baseURL`"),
        "{ran:#?}"
    );
    // No session is left of what never began.
    let sessions = world
        .run(&["sessions", "list", "--json"])
        .ended_with(0)
        .json();
    assert_eq!(sessions, json!([]));
}

/// Every file below a folder.
fn each_file(folder: &Path, look: &mut impl FnMut(&Path, &[u8])) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            each_file(&path, look);
        } else {
            look(&path, &fs::read(&path).unwrap());
        }
    }
}

#[test]
fn a_key_is_sent_and_stays_nowhere() {
    let world = World::new();
    // In a file, so that the walls alone stand before it.
    let peek = "env; cat /proc/$PPID/environ; cat /proc/$PPID/cmdline";
    world.put("ws/peek.sh", peek);
    let turns = json!([
        {"calls": [{"tool": "bash", "args": {"command": "sh peek.sh"}}]},
        {"text": "hello"},
    ]);
    let server = Server::start(
        &turns,
        [Answer::refusal_until(
            429,
            &format!("slow down, {KEY}"),
            "0",
        )],
    );
    let mut config = configuration(&server.base_url(), &json!("{env:WORD}"));
    config["provider"]["mock"]["options"]["headers"] = json!({"x-word": "{env:WORD}"});
    world.rules(&config.to_string());
    let mut command = world.command(&line("hi", &["--format", "json"]));
    command.env("WORD", KEY).env("TOLLGATE_LOG", "trace");
    let ran = ran(&mut command).ended_with(0);
    assert_eq!(
        server.received()[0].authorization,
        Some(format!("Bearer {KEY}"))
    );
    assert!(!ran.err.is_empty(), "the log was asked for");
    assert!(!ran.said().contains(KEY), "{ran:#?}");
    for received in server.received() {
        assert!(!received.body.to_string().contains(KEY), "{received:?}");
    }
    let mut file_count = 0;
    each_file(&world.path("data"), &mut |path, bytes| {
        file_count += 1;
        let has_key = bytes.windows(KEY.len()).any(|it| it == KEY.as_bytes());
        assert!(!has_key, "{}", path.display());
    });
    assert!(file_count > 0);
    let doctor = world.run(&["doctor"]);
    assert!(!doctor.said().contains(KEY), "{doctor:#?}");
}

#[test]
fn without_a_terminal_an_ask_is_a_denial_at_once_and_the_loop_goes_on() {
    let world = World::new();
    let turns = json!([
        {"calls": [{"id": "e", "tool": "edit", "args": {"filePath": "a.txt", "oldString": "one", "newString": "1"}}]},
        {"calls": [{"id": "r", "tool": "read", "args": {"filePath": "a.txt"}}]},
        {"text": "I could not."},
    ]);
    let server = Server::start(&turns, []);
    server.configure(&world, &json!({"edit": "ask"}));
    let before = world.files();
    let line = ["run", "--model", "mock/x", "--format", "json", "Change it."];
    let ran = ran(&mut world.wrapped(&["setsid", "-w", BIN], &line)).ended_with(3);
    let lines = lines(&ran);
    let statuses: Vec<&Value> = lines
        .iter()
        .filter(|it| it["type"] == "result")
        .map(|it| &it["status"])
        .collect();
    assert_eq!(statuses, ["refused", "ok"]);
    let end = lines.last().unwrap();
    assert_eq!(
        (&end["stop"], &end["exit_code"], &end["text"]),
        (&json!("model"), &json!(3), &json!("I could not."))
    );
    let [refused] = &end["refused"].as_array().unwrap()[..] else {
        panic!("{end}")
    };
    assert_eq!((&refused["id"], &refused["gate"]), (&json!("e"), &json!(2)));
    assert!(
        refused["why"]
            .as_str()
            .unwrap()
            .contains("there is no terminal"),
        "{refused}"
    );
    // The model hears the same.
    assert_eq!(
        server.messages(1).last().unwrap()["content"],
        refused["why"]
    );
    assert_eq!(world.files(), before);
}
