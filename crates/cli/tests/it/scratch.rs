//! What a session that was cut off left in `TMPDIR` is removed, and nothing that lies behind it.
//! Must not need more than namespaces: without them it says that it was skipped.

use crate::world::{BIN, World, ran};
use std::{
    fs,
    os::unix::fs::MetadataExt as _,
    process::{Command, Stdio},
};

#[test]
fn what_is_mounted_in_a_folder_that_was_left_is_not_touched() {
    let may = Command::new("unshare")
        .args(["-Urm", "true"])
        .stderr(Stdio::null())
        .status();
    if !may.is_ok_and(|status| status.success()) {
        println!("skipped: this system gives no namespace to mount something in");
        return;
    }
    let world = World::new();
    let said = "A temporary directory of Tollgate. It is removed when nobody holds this file.\n";
    world.put_deep("tmp/tollgate-left/owner.lock", said);
    world.put_deep("tmp/tollgate-left/tmp/file", "");
    fs::create_dir(world.path("tmp/tollgate-left/tmp/in")).unwrap();
    let modes = || fs::metadata(world.path("out")).unwrap().mode();
    let before = modes();
    let line = ["call", "read", r#"{"filePath": "a.txt"}"#];
    let mounted = [
        "unshare",
        "-Urm",
        "sh",
        "-c",
        r#"mount --bind ../out ../tmp/tollgate-left/tmp/in && exec "$@""#,
        "sh",
        BIN,
    ];
    let kept = ran(&mut world.wrapped(&mounted, &line)).ended_with(0);
    assert_eq!(world.text("out/secret.txt"), "one outside secret\n");
    assert_eq!(modes(), before);
    assert!(!world.path("tmp/tollgate-left/tmp/file").exists());
    let what = "tollgate-left/tmp/in` cannot be removed: something is mounted there";
    assert!(kept.err.contains(what), "{kept:#?}");
    let gone = world.run(&line).ended_with(0);
    assert_eq!(gone.err, "");
    assert!(
        !world.path("tmp/tollgate-left").exists(),
        "it was tried again"
    );
    assert_eq!(world.text("out/secret.txt"), "one outside secret\n");
}
