//! Opening a host: where its directories may lie.

use crate::world::{World, mode};
use std::fs;
use tollgate_host::OpenError;

#[test]
fn private_directories_are_made_private() {
    let world = World::new();
    let _host = world.host();
    assert_eq!(mode(&world.path("state/session")), 0o700);
    assert_eq!(mode(&world.path("state/tmp")), 0o700);
}

#[test]
fn a_missing_workspace_is_said() {
    let world = World::new();
    let gone = world.path("gone");
    let error = world.open(|options| options.workspace = gone).unwrap_err();
    assert!(error.to_string().starts_with("the workspace `"), "{error}");
    assert!(matches!(
        error,
        OpenError::Directory {
            role: "workspace",
            ..
        }
    ));
}

#[test]
fn the_state_and_the_workspace_must_not_lie_in_each_other() {
    let world = World::new();
    let inside = world.path("ws/src");
    let around = world.path("");
    let state = world.path("state");
    assert!(matches!(
        world.open(|options| options.state_dir = inside),
        Err(OpenError::Overlap { .. })
    ));
    assert!(matches!(
        world.open(|options| options.workspace = around),
        Err(OpenError::Overlap { .. })
    ));
    assert!(matches!(
        world.open(|options| options.workspace = state),
        Err(OpenError::Overlap { .. })
    ));
}

#[test]
fn a_link_does_not_hide_that_the_state_lies_in_the_workspace() {
    let world = World::new();
    std::os::unix::fs::symlink(world.path("ws/src"), world.path("link")).unwrap();
    let link = world.path("link");
    assert!(matches!(
        world.open(|options| options.state_dir = link),
        Err(OpenError::Overlap { .. })
    ));
}

#[test]
fn a_home_is_no_workspace() {
    let world = World::new();
    let home = world.path("home");
    assert!(matches!(
        world.open(|options| options.workspace = home),
        Err(OpenError::HomeIsWorkspace(_))
    ));
}

#[test]
fn a_session_directory_elsewhere_or_open_to_others_is_refused() {
    let world = World::new();
    let elsewhere = world.path("outside/session");
    assert!(matches!(
        world.open(|options| options.session_dir = elsewhere),
        Err(OpenError::SessionElsewhere(_))
    ));
    let shared = world.path("state/shared");
    fs::create_dir(&shared).unwrap();
    std::process::Command::new("chmod")
        .arg("755")
        .arg(&shared)
        .status()
        .unwrap();
    assert!(matches!(
        world.open(|options| options.temp_dir = shared),
        Err(OpenError::NotPrivate { .. })
    ));
}
