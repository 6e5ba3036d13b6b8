//! The walls as macOS would be told them: a profile for its `sandbox-exec`.
//! Must not be taken for a wall: no child is started by it yet, and [`crate::Confinement`] says so there.

use std::fmt::Write as _;
use std::path::Path;

use crate::{Network, PROXY_PORT, Walls};

/// What every program needs to start at all, and none can do harm with.
const BASE: &str = "(version 1)
(deny default)
(allow process-fork)
(allow process-exec)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow sysctl-read)
(allow file-read-metadata)
(allow file-read* (literal \"/\"))
(allow file-read* file-write* (literal \"/dev/null\") (literal \"/dev/zero\") (literal \"/dev/tty\"))
(allow file-read* (literal \"/dev/random\") (literal \"/dev/urandom\"))
(allow mach-lookup (global-name \"com.apple.system.opendirectoryd.libinfo\"))
";

/// A profile that holds these walls. The last rule that matches decides there, so what is closed stands behind
/// what is open. Limits are none of its matters. A path that is not UTF-8 has no place in a profile, and `None`
/// is returned: to leave one out could open what it closes.
pub fn seatbelt_profile(walls: &Walls) -> Option<String> {
    let mut profile = BASE.to_owned();
    let open = [
        ("allow file-read*", &walls.readable),
        ("allow file-read* file-write*", &walls.writable),
    ];
    let closed = [
        ("deny file-write*", &walls.write_protected),
        ("deny file-read* file-write*", &walls.masked),
    ];
    for (rule, paths) in open.into_iter().chain(closed) {
        for path in paths {
            line(&mut profile, rule, "subpath", path)?;
        }
    }
    // A directory around what is closed could be renamed away, and what is closed with it.
    for path in walls.write_protected.iter().chain(&walls.masked) {
        for around in path.ancestors().skip(1) {
            if walls.writable.iter().any(|open| around.starts_with(open)) {
                line(&mut profile, "deny file-write-unlink", "literal", around)?;
            }
        }
    }
    match walls.network {
        Network::Private => {}
        Network::Proxied => {
            let port = PROXY_PORT;
            let rule = format!("(allow network-outbound (remote ip \"localhost:{port}\"))\n");
            profile.push_str(&rule);
        }
        Network::Shared => profile.push_str("(allow network*)\n"),
    }
    for socket in &walls.sockets {
        let rule = "allow network-outbound";
        line(&mut profile, rule, "literal", socket)?;
    }
    Some(profile)
}

fn line(profile: &mut String, rule: &str, filter: &str, path: &Path) -> Option<()> {
    let path = path.to_str()?.replace('\\', "\\\\").replace('"', "\\\"");
    // Writing to a string does not fail.
    _ = writeln!(profile, "({rule} ({filter} \"{path}\"))");
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walls() -> Walls {
        Walls {
            readable: vec!["/usr".into()],
            writable: vec!["/w".into()],
            masked: vec!["/w/deep/.env".into()],
            write_protected: vec!["/w/.git/hooks".into()],
            ..Walls::default()
        }
    }

    #[test]
    fn what_is_closed_stands_behind_what_is_open() {
        let profile = seatbelt_profile(&walls()).unwrap();
        let at = |text: &str| profile.find(text).unwrap();
        assert!(profile.starts_with("(version 1)\n(deny default)\n"));
        let writable = at("(allow file-read* file-write* (subpath \"/w\"))");
        assert!(at("(allow file-read* (subpath \"/usr\"))") < writable);
        assert!(writable < at("(deny file-write* (subpath \"/w/.git/hooks\"))"));
        assert!(writable < at("(deny file-read* file-write* (subpath \"/w/deep/.env\"))"));
        for around in ["/w/deep", "/w/.git", "/w"] {
            at(&format!("(deny file-write-unlink (literal \"{around}\"))"));
        }
        assert!(!profile.contains("network"), "{profile}");
    }

    #[test]
    fn the_network_is_closed_but_for_what_is_said() {
        let with = |network| {
            let walls = Walls { network, ..walls() };
            seatbelt_profile(&walls).unwrap()
        };
        let proxied = with(Network::Proxied);
        assert!(proxied.ends_with("(allow network-outbound (remote ip \"localhost:3128\"))\n"));
        assert_eq!(proxied.matches("network").count(), 1);
        assert!(with(Network::Shared).ends_with("(allow network*)\n"));
        let agent = Walls {
            sockets: vec!["/run/agent.sock".into()],
            ..walls()
        };
        let profile = seatbelt_profile(&agent).unwrap();
        assert!(profile.ends_with("(allow network-outbound (literal \"/run/agent.sock\"))\n"));
    }

    #[test]
    fn no_path_can_end_its_quotes() {
        let evil = Walls {
            writable: vec!["/w\") (allow default) (\"\\".into()],
            ..Walls::default()
        };
        let profile = seatbelt_profile(&evil).unwrap();
        assert!(
            profile.contains(r#"(subpath "/w\") (allow default) (\"\\"))"#),
            "{profile}"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_path_that_cannot_be_written_down_gives_no_profile() {
        use std::os::unix::ffi::OsStringExt as _;
        let path = std::ffi::OsString::from_vec(b"/w/\xff".to_vec());
        let odd = Walls {
            masked: vec![path.into()],
            ..walls()
        };
        assert_eq!(seatbelt_profile(&odd), None);
    }
}
