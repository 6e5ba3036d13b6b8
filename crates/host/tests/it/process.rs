//! Commands: their output, their end, their environment and their walls.

use crate::world::{LIMITS, Stop, World};
use gate::{
    g3_confine::Confinement,
    host::{Ended, Exit, Host as _},
};
use std::{fs, net::TcpListener, time::Duration};

fn text(ended: &Ended) -> String {
    String::from_utf8_lossy(&ended.tail).into_owned()
}

/// Waits until something is so; a limit only keeps a broken test from hanging.
fn wait_until(is_so: impl Fn() -> bool) -> bool {
    (0..500).any(|_| {
        let so = is_so();
        if !so {
            std::thread::sleep(Duration::from_millis(10));
        }
        so
    })
}

#[test]
fn a_command_gives_its_output_in_order_and_its_code() {
    let world = World::new();
    let ended = world
        .run(
            &world.host(),
            "echo one; echo two >&2; echo three; pwd; exit 3",
        )
        .unwrap();
    assert_eq!(ended.exit, Exit::Code(3));
    assert_eq!(
        text(&ended),
        format!("one\ntwo\nthree\n{}\n", world.path("ws").display())
    );
    assert_eq!(
        (ended.bytes_total, ended.kept_at),
        (ended.tail.len() as u64, None)
    );
}

#[test]
fn a_signal_is_told_and_stdin_is_empty() {
    let world = World::new();
    assert_eq!(
        world.run(&world.host(), "cat; kill -9 $$").unwrap().exit,
        Exit::Signal(9)
    );
}

#[test]
fn a_command_starts_where_it_was_judged_to() {
    let world = World::new();
    let host = world.host();
    let ended = world.run_for(&host, "pwd", Some("src"), 60_000).unwrap();
    assert_eq!(text(&ended).trim(), world.path("ws/src").to_str().unwrap());
    for workdir in ["src/a.txt", "none"] {
        assert!(matches!(
            world.run_for(&host, "pwd", Some(workdir), 60_000),
            Err(Stop::Failed(_))
        ));
    }
    let (src, outside) = (world.path("ws/src"), world.path("outside/dir"));
    world.swap_after(0, move || {
        fs::remove_dir_all(&src).unwrap();
        std::os::unix::fs::symlink(outside, src).unwrap();
    });
    assert!(matches!(
        world.run_for(&host, "pwd", Some("src"), 60_000),
        Err(Stop::Changed(_))
    ));
}

#[test]
fn output_that_is_no_text_survives() {
    let world = World::new();
    assert_eq!(
        world
            .run(&world.host(), r"printf '\xff\x00\xfe'")
            .unwrap()
            .tail,
        [0xff, 0, 0xfe]
    );
}

#[test]
fn much_output_is_kept_whole_while_memory_holds_its_end() {
    let world = World::new();
    let ended = world
        .run(
            &world.host(),
            "head -c 100000000 /dev/zero | tr '\\0' x; echo; echo end",
        )
        .unwrap();
    assert_eq!(ended.exit, Exit::Code(0));
    assert_eq!(ended.bytes_total, 100_000_005);
    assert!(ended.tail.ends_with(b"xxx\nend\n"));
    assert!(
        ended.tail.len() >= 2 * LIMITS.bytes_max && ended.tail.len() < 200_000,
        "{}",
        ended.tail.len()
    );
    let kept = ended.kept_at.unwrap();
    assert_eq!(fs::metadata(&kept).unwrap().len(), 100_000_005);
    assert!(kept.starts_with(world.path("state/session").to_str().unwrap()));
}

#[test]
fn many_short_lines_are_kept_too() {
    let world = World::new();
    let ended = world.run(&world.host(), "seq 1 200").unwrap();
    assert_eq!(fs::read(ended.kept_at.unwrap()).unwrap(), ended.tail);
}

#[test]
fn a_command_whose_time_is_over_is_killed() {
    let world = World::new();
    let ended = world
        .run_for(&world.host(), "echo begun; sleep 600", None, 300)
        .unwrap();
    assert_eq!(
        (ended.exit, text(&ended).as_str()),
        (Exit::TimedOut, "begun\n")
    );
}

#[test]
fn a_command_that_ignores_the_request_to_end_is_killed_all_the_same() {
    let world = World::new();
    let ended = world
        .run_for(
            &world.host(),
            "trap '' TERM; echo begun; while :; do sleep 1; done",
            None,
            300,
        )
        .unwrap();
    assert_eq!(ended.exit, Exit::TimedOut);
}

/// Whether a process with this word among its arguments is there.
fn is_running(word: &str) -> bool {
    fs::read_dir("/proc")
        .unwrap()
        .filter_map(Result::ok)
        .any(|entry| {
            fs::read(entry.path().join("cmdline")).is_ok_and(|line| {
                line.split(|byte| *byte == 0)
                    .any(|arg| arg == word.as_bytes())
            })
        })
}

#[test]
fn nobody_who_holds_the_output_delays_the_end_or_outlives_it() {
    let world = World::new();
    // A word of this test alone, to be found among all processes.
    let word = format!("{}.5", 700_000 + std::process::id());
    let command = format!("sleep {word} & setsid sleep {word} & echo done");
    let ended = world.run(&world.host(), &command).unwrap();
    assert_eq!(
        (ended.exit, text(&ended).as_str()),
        (Exit::Code(0), "done\n")
    );
    assert!(wait_until(|| !is_running(&word)), "left behind");
}

#[test]
fn a_call_that_is_cancelled_kills_its_command() {
    let world = World::new();
    let host = world.host();
    let word = format!("{}.5", 800_000 + std::process::id());
    let cancel = world.bench.cancel.clone();
    let stop = std::thread::scope(|scope| {
        scope.spawn(|| {
            let _begun = wait_until(|| is_running(&word));
            cancel.cancel();
        });
        world.run(&host, &format!("sleep {word}")).unwrap_err()
    });
    assert!(matches!(stop, Stop::Other(_)), "{stop:?}");
    assert!(wait_until(|| !is_running(&word)), "left behind");
}

#[test]
fn the_environment_goes_on_without_secrets() {
    let world = World::new();
    let host = world.host_with(&[
        ("HOME", "/somewhere"),
        ("LAB_SECRET", "hunter2"),
        ("API_KEY", "hunter2"),
        ("LD_PRELOAD", "/evil.so"),
        ("PATH", "/evil"),
        ("WHERE", "https://me:hunter2@example.org"),
    ]);
    let said = text(&world.run(&host, "env | sort").unwrap());
    assert!(said.contains("HOME=/somewhere\n"), "{said}");
    assert!(
        said.contains(&format!("TMPDIR={}\n", world.path("state/tmp").display())),
        "{said}"
    );
    for secret in ["hunter2", "evil"] {
        assert!(!said.contains(secret), "{said}");
    }
    assert_eq!(
        text(
            &world
                .run(&host, "f=$(mktemp) && echo ok > $f && cat $f")
                .unwrap()
        ),
        "ok\n"
    );
}

/// Whether this machine holds walls; where it does not, there is nothing to try.
fn is_walled(world: &World) -> bool {
    !matches!(world.host().confinement(), Confinement::NotEnforced { .. })
}

#[test]
fn walls_hold_around_a_command() {
    let world = World::new();
    if !is_walled(&world) {
        return;
    }
    world.put("home/.ssh/id", "secret");
    world.put("state/tollgate.db", "secret");
    let host = world.host();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    for command in [
        "cat ../home/.ssh/id".to_owned(),
        "cat ../outside/secret".to_owned(),
        "cat ../state/tollgate.db".to_owned(),
        "echo x > ../outside/secret".to_owned(),
        "ls ../state/session".to_owned(),
        format!("exec 3<>/dev/tcp/127.0.0.1/{port}"),
    ] {
        // What a word of the line names would be open to it.
        world.put("ws/script.sh", &command);
        let ended = world.run(&host, "bash script.sh").unwrap();
        assert!(
            matches!(ended.exit, Exit::Code(1..)),
            "{command}: {ended:?}"
        );
        assert!(!text(&ended).contains("secret\n"), "{command}: {ended:?}");
    }
    // That the state's name is there at all is for the temporary directory in it.
    world.put("ws/script.sh", "echo x > ../state/tollgate.db");
    drop(world.run(&host, "bash script.sh"));
    assert_eq!(world.text("state/tollgate.db"), "secret");
    assert_eq!(world.text("outside/secret"), "secret");
    let ended = world
        .run(&host, "echo made > made && cat made src/a.txt")
        .unwrap();
    assert_eq!(
        (ended.exit, text(&ended).as_str()),
        (Exit::Code(0), "made\nold")
    );
}

#[test]
fn a_command_that_cannot_start_says_so() {
    let world = World::new();
    let host = world.host();
    let long = format!("true {}", "x".repeat(300_000));
    let stop = world.run(&host, &long).unwrap_err();
    assert!(
        matches!(&stop, Stop::Failed(why) if why.starts_with("the command did not start") && !why.contains("state")),
        "{stop:?}"
    );
}

#[test]
fn without_walls_a_command_runs_in_a_group_that_dies_with_it() {
    let world = World::new();
    let host = world.open(|options| {
        // A program that is no supervisor, so that there are no walls.
        options.launcher = sandbox::Launcher::open_program("/bin/true".as_ref()).unwrap();
    });
    let host = host.unwrap();
    assert!(matches!(
        host.confinement(),
        Confinement::NotEnforced { .. }
    ));
    let word = format!("{}.5", 900_000 + std::process::id());
    let ended = world
        .run(
            &host,
            &format!("cat; sleep {word} & echo done; pwd; env; exit 4"),
        )
        .unwrap();
    let temp = world.path("state/tmp");
    assert_eq!(ended.exit, Exit::Code(4));
    let said = text(&ended);
    assert!(
        said.starts_with(&format!("done\n{}\n", world.path("ws").display())),
        "{said}"
    );
    assert!(
        said.contains(&format!("TMPDIR={}\n", temp.display())),
        "{said}"
    );
    assert!(wait_until(|| !is_running(&word)), "left behind");
    assert_eq!(
        world.run(&host, "kill -9 $$").unwrap().exit,
        Exit::Signal(9)
    );
    assert_eq!(
        world
            .run_for(&host, &format!("sleep {word}"), None, 300)
            .unwrap()
            .exit,
        Exit::TimedOut
    );
    assert!(wait_until(|| !is_running(&word)), "left behind");
}

#[test]
fn a_command_that_begins_with_a_dash_is_no_option_of_the_shell() {
    let world = World::new();
    let ended = world.run(&world.host(), "-x; echo ran").unwrap();
    let said = String::from_utf8_lossy(&ended.tail).into_owned();
    assert!(said.contains("-x: ") && said.ends_with("ran\n"), "{said}");
}
