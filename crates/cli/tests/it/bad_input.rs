//! A table of what goes wrong: the scene, the call, how it ends, what it says, and that nothing
//! in the workspace or beside it was touched.

use crate::world::{BIN, Ran, World, check_plain, finish, is_running, ran, start, wait_until};
use serde_json::{Value, json};
use std::{
    fs::{self, Permissions},
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    process::{Command, Stdio},
};

const FAILED: i32 = 1;
const USAGE: i32 = 2;
const REFUSED: i32 = 3;
const CONFIG: i32 = 4;

/// Everything is allowed by rule, so what is refused is refused for what it is.
#[track_caller]
fn check_untouched(
    ready: impl FnOnce(&World),
    run: impl FnOnce(&World) -> Ran,
    code: i32,
    says: &[&str],
) {
    let world = World::new();
    ready(&world);
    let before = world.files();
    let ran = run(&world).ended_with(code);
    for words in says {
        assert!(ran.said().contains(words), "`{words}` is not in {ran:#?}");
    }
    assert_eq!(world.files(), before);
}

#[track_caller]
fn check_call(ready: impl FnOnce(&World), tool: &str, arguments: &Value, code: i32, says: &[&str]) {
    check_untouched(ready, |world| world.call(tool, arguments), code, says);
}

#[track_caller]
fn check_command(ready: impl FnOnce(&World), arguments: &[&str], code: i32, says: &[&str]) {
    check_untouched(ready, |world| world.run(arguments), code, says);
}

/// Arguments as the model would write them, which need not be JSON.
#[track_caller]
fn check_arguments(tool: &str, text: &str, says: &[&str]) {
    let line = ["call", tool, text, "--on-ask", "deny"];
    check_command(nothing, &line, USAGE, says);
}

fn nothing(_: &World) {}

fn edit(path: &str) -> Value {
    json!({"filePath": path, "oldString": "one", "newString": "1"})
}

fn write(path: &str) -> Value {
    json!({"filePath": path, "content": "new\n"})
}

fn read(path: &str) -> Value {
    json!({"filePath": path})
}

#[test]
fn arguments_that_do_not_fit_come_back_with_every_fault() {
    let table: [(&str, &str, &[&str]); 19] = [
        ("read", "{}", &["filePath: is missing"]),
        (
            "read",
            r#"{"filePath": 3}"#,
            &["filePath: expected string, got number 3"],
        ),
        (
            "read",
            r#"{"filePath": null}"#,
            &["filePath: expected string, got null"],
        ),
        (
            "read",
            r#"{"filePat": "a.txt"}"#,
            &[
                "filePat: is not a known name, did you mean `filePath`?",
                "filePath: is missing",
            ],
        ),
        ("read", "nope", &["input: is not valid JSON", "`nope`"]),
        (
            "read",
            r#"{"filePath": "a.txt""#,
            &["input: is not valid JSON"],
        ),
        ("read", "[1]", &["input: expected a JSON object, got array"]),
        ("read", "", &["filePath: is missing"]),
        (
            "read",
            r#"{"filePath": ""}"#,
            &["filePath: may not be empty"],
        ),
        (
            "read",
            r#"{"filePath": "a.txt", "limit": 0}"#,
            &["limit: must be at least 1"],
        ),
        (
            "read",
            r#"{"filePath": "a.txt", "offset": -1}"#,
            &["offset: must be at least 0"],
        ),
        (
            "read",
            r#"{"filePath": "a.txt", "limit": 1.5}"#,
            &["limit: expected integer"],
        ),
        (
            "read",
            r#"{"filePath": "a\u0000b"}"#,
            &["filePath: ", "NUL"],
        ),
        (
            "bash",
            r#"{"command": " "}"#,
            &["command: may not be empty"],
        ),
        (
            "bash",
            r#"{"command": "touch a\u0000b"}"#,
            &["command: may not contain a NUL"],
        ),
        (
            "bash",
            r#"{"command": "touch made", "timeout": 0}"#,
            &["timeout: must be at least 1"],
        ),
        (
            "bash",
            r#"{"command": "touch made", "timeout": 99999999999}"#,
            &["timeout: must be at most 86400000"],
        ),
        (
            "edit",
            r#"{"filePath": "a.txt", "oldString": "one", "newString": "one"}"#,
            &["newString: ", "identical"],
        ),
        (
            "write",
            r#"{"content": 1, "filePath": true, "mode": "w"}"#,
            &[
                "content: expected string",
                "filePath: expected string",
                "mode: is not a known name",
            ],
        ),
    ];
    for (tool, text, says) in table {
        check_arguments(tool, text, says);
    }
}

#[test]
fn an_unknown_tool_is_told_the_nearest_and_all_there_are() {
    let says: &[&str] = &[
        "no tool `reed`",
        "Did you mean `read`?",
        "question, bash, read, glob, grep, edit, write, todowrite.",
    ];
    check_call(nothing, "reed", &read("a.txt"), REFUSED, says);
    check_call(nothing, "", &json!({}), REFUSED, &["no tool ``"]);
}

#[test]
fn text_that_is_not_where_the_model_thinks_is_a_failure() {
    let twice = |world: &World| world.put("ws/a.txt", "one\none\n");
    check_call(
        twice,
        "edit",
        &edit("a.txt"),
        FAILED,
        &["multiple matches", "(2)"],
    );
    let absent = json!({"filePath": "a.txt", "oldString": "zzz", "newString": "1"});
    check_call(
        nothing,
        "edit",
        &absent,
        FAILED,
        &["Could not find oldString"],
    );
    let beyond = json!({"filePath": "a.txt", "offset": 99});
    check_call(
        nothing,
        "read",
        &beyond,
        FAILED,
        &["Offset 99 is out of range", "3 lines"],
    );
}

#[test]
fn a_missing_file_is_a_failure() {
    check_call(
        nothing,
        "read",
        &read("none.txt"),
        FAILED,
        &["File not found", "none.txt"],
    );
    check_call(
        nothing,
        "edit",
        &edit("none.txt"),
        FAILED,
        &["none.txt not found"],
    );
    check_call(
        nothing,
        "read",
        &read("none/none.txt"),
        FAILED,
        &["File not found"],
    );
    check_call(
        nothing,
        "read",
        &read("a.txt/x"),
        USAGE,
        &["filePath: ", "no directory"],
    );
}

#[test]
fn a_directory_is_listed_and_never_written() {
    let path = "Path is a directory, not a file";
    check_call(nothing, "edit", &edit("sub"), FAILED, &[path]);
    check_call(nothing, "write", &write("sub"), FAILED, &[path]);
    check_call(nothing, "write", &write("."), FAILED, &[path]);
    check_call(
        nothing,
        "read",
        &read("sub"),
        0,
        &["<type>directory</type>", "b.txt", "(1 entries)"],
    );
}

#[test]
fn what_is_not_utf_8_text_is_neither_shown_nor_edited() {
    let put = |bytes: &'static [u8]| move |world: &World| world.put("ws/x", bytes);
    let binary = b"\x00\x01\x02one";
    check_call(
        put(binary),
        "read",
        &read("x"),
        FAILED,
        &["Cannot read binary file"],
    );
    let picture = b"\x89PNG\r\n\x1a\none";
    check_call(put(picture), "read", &read("x"), FAILED, &["a PNG image"]);
    let latin = b"caf\xe9 one";
    check_call(put(latin), "read", &read("x"), FAILED, &["not UTF-8"]);
    check_call(put(latin), "edit", &edit("x"), FAILED, &["not UTF-8"]);
}

#[test]
fn a_fifo_is_never_opened() {
    let fifo = |world: &World| {
        let made = Command::new("mkfifo").arg(world.path("ws/pipe")).status();
        assert!(made.unwrap().success());
    };
    let says: &[&str] = &["`pipe` is not a regular file"];
    for (tool, arguments) in [
        ("read", read("pipe")),
        ("edit", edit("pipe")),
        ("write", write("pipe")),
    ] {
        check_call(fifo, tool, &arguments, FAILED, says);
    }
    // The rule allows it, and nobody ever writes: the time is what ends it.
    let command = json!({"command": "cat pipe", "timeout": 300});
    check_call(fifo, "bash", &command, 0, &["exceeding timeout 300 ms"]);
    check_command(
        fifo,
        &["tools", "--config", "pipe"],
        CONFIG,
        &["not a regular file"],
    );
    check_command(
        fifo,
        &["run", "--script", "pipe"],
        USAGE,
        &["not a regular file"],
    );
    check_command(
        fifo,
        &["tools", "--dir", "pipe"],
        CONFIG,
        &["not a directory"],
    );
}

#[test]
fn a_link_to_outside_is_judged_by_where_it_leads() {
    let link = |world: &World| {
        symlink("../out/secret.txt", world.path("ws/link")).unwrap();
        symlink("../out", world.path("ws/way")).unwrap();
        symlink("../out/new.txt", world.path("ws/nothing")).unwrap();
        world.rules(r#"{"permission": {"*": "allow", "external_directory": "deny"}}"#);
    };
    let says: &[&str] = &["Denied: `external_directory`", "/out/"];
    for path in [
        "link",
        "nothing",
        "way/secret.txt",
        "way/new.txt",
        "../out/secret.txt",
        "way/../../out/new.txt",
    ] {
        check_call(link, "write", &write(path), REFUSED, says);
        check_call(link, "edit", &edit(path), REFUSED, says);
        check_call(link, "read", &read(path), REFUSED, says);
    }
    check_call(
        link,
        "bash",
        &json!({"command": "echo x > link"}),
        REFUSED,
        says,
    );
    check_call(
        link,
        "bash",
        &json!({"command": "pwd", "workdir": "way"}),
        REFUSED,
        says,
    );
}

#[test]
fn a_link_in_a_ring_leads_nowhere() {
    let ring = |world: &World| symlink("ring", world.path("ws/ring")).unwrap();
    let says: &[&str] = &["filePath: ", "cannot be resolved"];
    check_call(ring, "read", &read("ring"), USAGE, says);
    check_call(ring, "write", &write("ring"), USAGE, says);
    check_call(ring, "edit", &edit("ring"), USAGE, says);
}

#[test]
fn a_file_with_a_name_outside_is_asked_about_whatever_the_rules_allow() {
    let hard =
        |world: &World| fs::hard_link(world.path("out/secret.txt"), world.path("ws/hard")).unwrap();
    let says: &[&str] = &["needs an approval", "2 names (hard links)"];
    check_call(hard, "read", &read("hard"), REFUSED, says);
    check_call(hard, "write", &write("hard"), REFUSED, says);
    check_call(hard, "edit", &edit("hard"), REFUSED, says);
}

#[test]
fn a_read_only_file_is_left_as_it_is() {
    let read_only = |world: &World| {
        let mode = Permissions::from_mode(0o444);
        fs::set_permissions(world.path("ws/a.txt"), mode).unwrap();
    };
    let says: &[&str] = &["`a.txt`: the file is read-only"];
    check_call(read_only, "edit", &edit("a.txt"), FAILED, says);
    check_call(read_only, "write", &write("a.txt"), FAILED, says);
    check_call(read_only, "read", &read("a.txt"), 0, &["1: one"]);
}

#[test]
fn control_characters_in_a_name_are_never_printed_raw() {
    let name = "a\u{1b}[31m\rb\u{202e}.txt";
    let world = World::new();
    world.rules(r#"{"permission": {"edit": "ask"}}"#);
    for tool in ["write", "edit"] {
        let before = world.files();
        let arguments = if tool == "edit" {
            edit(name)
        } else {
            write(name)
        };
        let ran = world.call(tool, &arguments);
        assert_ne!(ran.code, Some(0));
        check_plain(&ran.said());
        assert_eq!(world.files(), before);
    }
    let ran = world.call(name, &json!({})).ended_with(REFUSED);
    check_plain(&ran.said());
}

#[test]
fn a_name_with_control_characters_is_a_name_like_any_other() {
    let world = World::new();
    let name = "a\u{1b}[31m b.txt";
    world.call("write", &write(name)).ended_with(0);
    assert_eq!(world.text(&format!("ws/{name}")), "new\n");
}

#[test]
fn output_without_end_costs_little_memory_and_is_kept_whole() {
    const BYTES: u64 = 100_000_000;
    const PEAK_KIB_MAX: u64 = 60 * 1024;
    let world = World::new();
    let command = json!({"command": format!("head -c {BYTES} /dev/zero | tr '\\0' x")}).to_string();
    let mut call = world.command(&["call", "bash", &command, "--on-ask", "deny"]);
    let child = call
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let waiting = std::thread::spawn(move || finish(child));
    let mut peak_kib = 0;
    while !waiting.is_finished() {
        peak_kib = peak_kib.max(high_water_kib(&status));
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let ran = waiting.join().unwrap().ended_with(0);
    assert!(peak_kib > 1024, "it was not measured: {peak_kib} KiB");
    assert!(peak_kib < PEAK_KIB_MAX, "{peak_kib} KiB");
    assert!(ran.out.len() < 60_000, "{} bytes", ran.out.len());
    let kept = ran
        .out
        .lines()
        .find_map(|line| line.strip_prefix("Full output saved to: "))
        .unwrap();
    assert!(
        Path::new(kept).starts_with(world.path("data/output")),
        "{kept}"
    );
    let meta = fs::metadata(kept).unwrap();
    assert_eq!(
        (meta.len(), meta.permissions().mode() & 0o777),
        (BYTES, 0o600)
    );
}

/// The most memory a process ever had, in KiB; 0 if it has ended.
fn high_water_kib(status: &str) -> u64 {
    let text = fs::read_to_string(status).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.trim().strip_suffix(" kB"));
    number.map_or(0, |number| number.parse().unwrap())
}

#[test]
fn a_command_that_hangs_is_ended_when_its_time_is_over() {
    let says: &[&str] = &["exceeding timeout 300 ms"];
    for command in [
        "sleep 1000.301",
        "sleep 1000.301; touch made",
        "trap '' TERM; sleep 1000.301 & wait; wait",
    ] {
        let arguments = json!({"command": command, "timeout": 300});
        check_call(nothing, "bash", &arguments, 0, says);
        wait_until("the command is gone", || !is_running("1000.301"));
    }
}

#[test]
fn a_command_takes_with_it_all_that_it_started() {
    for (command, word) in [
        ("setsid sleep 1000.302 & echo left", "1000.302"),
        (
            "setsid setsid sh -c 'sleep 1000.303; touch made' & echo left",
            "1000.303",
        ),
        // It holds the pipe, which nobody waits for.
        ("sleep 1000.304 & echo left", "1000.304"),
        (
            "nohup sleep 1000.305 > /dev/null 2>&1 & echo left",
            "1000.305",
        ),
    ] {
        // Another run of these tests at the same time has words of its own.
        let own = format!("{word}{}", std::process::id());
        let command = command.replace(word, &own);
        check_call(nothing, "bash", &json!({"command": command}), 0, &["left"]);
        assert!(!is_running(&own), "{command}");
    }
}

#[test]
fn a_workspace_that_is_gone_is_said() {
    let moved = "mkdir gone && cd gone && rmdir ../gone && exec \"$@\"";
    for line in [
        ["check", "read", "a.txt"].as_slice(),
        &["call", "read", "{}"],
        &["tools"],
    ] {
        let run = |world: &World| ran(&mut world.wrapped(&["sh", "-c", moved, "sh", BIN], line));
        check_untouched(
            nothing,
            run,
            CONFIG,
            &["the current directory cannot be used"],
        );
    }
    let line = ["call", "read", "{}", "--dir", "none"];
    check_command(
        nothing,
        &line,
        CONFIG,
        &["the workspace `none` cannot be used"],
    );
}

#[test]
fn a_workspace_that_is_moved_away_ends_every_later_call() {
    let world = World::new();
    let turns = json!([{"calls": [
        {"id": "wait", "tool": "bash", "args": {"command": "touch ready; until [ -e go ]; do sleep 0.01; done"}},
        {"id": "write", "tool": "write", "args": {"filePath": "new.txt", "content": "x"}},
        {"id": "read", "tool": "read", "args": {"filePath": "a.txt"}},
        {"id": "bash", "tool": "bash", "args": {"command": "touch new.txt"}},
    ]}]);
    let child = start(&mut world.play(&turns, &[]));
    wait_until("the first call runs", || world.path("ws/ready").exists());
    fs::rename(world.path("ws"), world.path("moved")).unwrap();
    fs::create_dir(world.path("ws")).unwrap();
    world.put("moved/go", "");
    let ran = finish(child);
    assert_eq!(
        ran.out.matches("was removed or moved").count(),
        3,
        "{ran:#?}"
    );
    assert_eq!(fs::read_dir(world.path("ws")).unwrap().count(), 0);
    assert!(!world.path("moved/new.txt").exists());
}

#[test]
fn a_home_is_no_workspace() {
    let says: &[&str] = &["is a home directory, not a workspace"];
    for line in [
        ["call", "read", "{}"].as_slice(),
        &["tools"],
        &["check", "read", "key.txt"],
    ] {
        let run = |world: &World| ran(world.command(line).current_dir(world.path("home")));
        check_untouched(nothing, run, CONFIG, says);
        let run = |world: &World| ran(world.command(line).env("HOME", world.path("ws")));
        check_untouched(nothing, run, CONFIG, says);
    }
}

#[test]
fn a_state_folder_that_a_tool_could_reach_is_refused() {
    let within = |world: &World| fs::create_dir(world.path("ws/data")).unwrap();
    let run = |world: &World| {
        let line = ["call", "read", r#"{"filePath": "a.txt"}"#];
        ran(world
            .command(&line)
            .env("TOLLGATE_DATA_DIR", world.path("ws/data")))
    };
    check_untouched(
        within,
        run,
        CONFIG,
        &["state directory", "lies in the workspace"],
    );
    let run = |world: &World| {
        let line = ["call", "read", r#"{"filePath": "a.txt"}"#];
        ran(world
            .command(&line)
            .env("TOLLGATE_DATA_DIR", world.path("")))
    };
    check_untouched(
        nothing,
        run,
        CONFIG,
        &["workspace", "lies in the state directory"],
    );
}

#[test]
fn without_a_home_there_is_no_state_folder_and_checks_still_work() {
    let homeless = |world: &World, home: &str, line: &[&str]| {
        let mut command = world.command(line);
        ran(command.env_remove("TOLLGATE_DATA_DIR").env("HOME", home))
    };
    let call = ["call", "write", r#"{"filePath": "a.txt", "content": "x"}"#];
    for (home, says) in [
        (
            "/dev/null/x",
            "state folder `/dev/null/x/.local/share/tollgate` cannot be made",
        ),
        ("", "no absolute HOME"),
        ("relative", "no absolute HOME"),
    ] {
        check_untouched(
            nothing,
            |world| homeless(world, home, &call),
            CONFIG,
            &[says, "TOLLGATE_DATA_DIR"],
        );
        let check = ["check", "read", "a.txt"];
        check_untouched(
            nothing,
            |world| homeless(world, home, &check),
            0,
            &["allow"],
        );
    }
}

#[test]
fn a_store_that_cannot_be_used_stops_a_call_before_its_effect() {
    let call = json!({"filePath": "a.txt", "content": "x"});
    let garbage = |world: &World| {
        fs::create_dir(world.path("data")).unwrap();
        world.put(
            "data/tollgate.db",
            "this is no database, however long it is read".repeat(100),
        );
    };
    check_call(garbage, "write", &call, CONFIG, &["tollgate.db"]);
    let folder = |world: &World| fs::create_dir_all(world.path("data/tollgate.db")).unwrap();
    check_call(folder, "write", &call, CONFIG, &["tollgate.db"]);
}

#[test]
fn a_full_disk_below_the_store_stops_a_call_before_its_effect() {
    /// Mounts 1 MiB over `$1`, lets the first command use it, fills it, and runs the rest.
    const ON_FULL_DISK: &str = r#"
        mount -t tmpfs -o size=1m,mode=700 tmpfs "$1" || exit 99
        folder=$1; shift
        [ "$FIRST" = unused ] || "$@" > /dev/null || exit 98
        cat /dev/zero > "$folder/fill" 2> /dev/null
        exec "$@""#;
    let may = Command::new("unshare")
        .args(["-Urm", "true"])
        .stderr(Stdio::null())
        .status();
    if !may.is_ok_and(|status| status.success()) {
        println!("skipped: this system gives no namespace to mount a small disk in");
        return;
    }
    let ready = |world: &World| fs::create_dir(world.path("data")).unwrap();
    let run = |first: &'static str, line: &'static [&'static str]| {
        move |world: &World| {
            let data = world.path("data");
            let before = [
                "unshare",
                "-Urm",
                "sh",
                "-c",
                ON_FULL_DISK,
                "sh",
                data.to_str().unwrap(),
                BIN,
            ];
            ran(world.wrapped(&before, line).env("FIRST", first))
        }
    };
    let line = &[
        "call",
        "bash",
        r#"{"command": "touch made"}"#,
        "--on-ask",
        "deny",
    ];
    check_untouched(ready, run("unused", line), CONFIG, &["tollgate.db", "full"]);
    let line = &[
        "call",
        "read",
        r#"{"filePath": "a.txt"}"#,
        "--on-ask",
        "deny",
    ];
    check_untouched(ready, run("used", line), CONFIG, &["full"]);
}

#[test]
fn a_script_says_only_what_a_model_can_say() {
    let table: [(&str, &[&str]); 10] = [
        ("{", &["the script is not valid", "not JSON"]),
        ("", &["not JSON"]),
        ("[]", &["must be an object"]),
        ("{}", &["turns: is missing"]),
        (r#"{"turns": [{}]}"#, &["turns[0]: needs `text` or `calls`"]),
        (
            r#"{"turns": [{"text": "a", "foo": 1}]}"#,
            &["turns[0].foo: unknown key"],
        ),
        (
            r#"{"turns": [{"calls": [{"tool": "write", "args": {}, "approve": true}]}]}"#,
            &["turns[0].calls[0].approve: ", "can never answer an ask"],
        ),
        (
            r#"{"turns": [], "permission": {"*": "allow"}}"#,
            &["permission: ", "can never answer an ask"],
        ),
        (
            r#"{"turns": [{"calls": [{"id": "a", "tool": "read", "args": "{}"}, {"id": "a", "tool": "read", "args": "{}"}]}]}"#,
            &["`a` is used twice"],
        ),
        (
            r#"{"turns": [{"calls": [{"tool": 3}]}]}"#,
            &["tool: must be a string", "args: is missing"],
        ),
    ];
    for (text, says) in table {
        let ready = |world: &World| world.put("ws/script.json", text);
        check_command(ready, &["run", "--script", "script.json"], USAGE, says);
    }
    check_command(
        nothing,
        &["run", "--script", "none.json"],
        USAGE,
        &["script `none.json`: No such file"],
    );
    check_command(
        nothing,
        &["run", "--script", "sub"],
        USAGE,
        &["script `sub`: not a regular file"],
    );
    let latin = |world: &World| world.put("ws/script.json", b"{\"turns\": [\"\xe9\"]}");
    check_command(
        latin,
        &["run", "--script", "script.json"],
        USAGE,
        &["UTF-8"],
    );
    let large = |world: &World| {
        let file = fs::File::create(world.path("ws/script.json")).unwrap();
        file.set_len(17 * 1024 * 1024).unwrap();
    };
    check_command(
        large,
        &["run", "--script", "script.json"],
        USAGE,
        &["at most 16777216 bytes"],
    );
}

#[test]
fn a_faulty_configuration_lets_nothing_run() {
    let line = ["call", "write", r#"{"filePath": "a.txt", "content": "x"}"#];
    for (text, says) in [
        (
            r#"{"permision": {}}"#,
            ["unknown key `permision`", "did you mean `permission`?"],
        ),
        (
            r#"{"permission": {"edit": "alow"}}"#,
            ["`alow` is not an action", "nothing of it is used"],
        ),
        (
            r#"{"permission": {"edit": "allow"}"#,
            ["nothing of it is used", "rules.jsonc"],
        ),
    ] {
        check_command(|world| world.rules(text), &line, CONFIG, &says);
    }
    let none = [line.as_slice(), &["--config", "none.jsonc"]].concat();
    check_command(
        nothing,
        &none,
        CONFIG,
        &["cannot read the configuration `none.jsonc`"],
    );
}

#[test]
fn a_command_line_that_does_not_fit_is_a_matter_of_usage() {
    let table: [(&[&str], &str); 12] = [
        (&[], "Usage: tollgate"),
        (&["frob"], "unrecognized subcommand"),
        (&["call"], "<TOOL>"),
        (&["call", "read"], "<JSON>"),
        (&["run"], "--script"),
        (&["check"], "<WHAT>"),
        (&["check", "read"], "check takes PERMISSION and PATTERN"),
        (
            &["check", "--tool", "read", "a", "b"],
            "takes the arguments as one JSON text",
        ),
        (
            &["tools", "--agent", "cod"],
            "there is no agent `cod`; there are code, plan",
        ),
        (&["tools", "--preset", "loose"], "unknown preset `loose`"),
        (
            &["call", "read", "{}", "--on-ask", "allow"],
            "invalid value 'allow'",
        ),
        (&["tour", "--yes"], "unexpected argument"),
    ];
    for (line, says) in table {
        check_command(nothing, line, USAGE, &[says]);
    }
}
