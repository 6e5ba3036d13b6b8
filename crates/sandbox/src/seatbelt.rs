//! The walls as macOS would be told them: a profile for its `sandbox-exec`.
//! Must not be taken for a wall: no child is started by it yet, and [`crate::Confinement`] says so there.
//!
//! It says what the full tier says, as far as the language of profiles goes: there is no loopback interface and no
//! `/tmp` of one's own, so servers do not work and `TMPDIR` has to lie in a writable directory; and that a path outside
//! exists can be seen.

use std::fmt::Write as _;
use std::path::Path;

use crate::{Network, PROXY_PORT, Walls};

/// What every program needs to start at all, and none can do harm with.
const BASE: &str = "(version 1)
(deny default)
(allow process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow sysctl-read)
(allow file-read-metadata)
(allow file-read* (literal \"/\"))
(allow file-read* file-write* (literal \"/dev/null\") (literal \"/dev/zero\") (literal \"/dev/tty\"))
(allow file-read* (literal \"/dev/random\") (literal \"/dev/urandom\"))
(allow mach-lookup (global-name \"com.apple.system.opendirectoryd.libinfo\"))
";

/// The machine's network without the sockets of its services, but for the one that looks names up.
const SHARED: &str = "(allow network* (local ip \"*:*\"))
(allow network* (remote ip \"*:*\"))
(allow network-outbound (literal \"/private/var/run/mDNSResponder\"))
";

/// A profile that holds these walls. The last rule that matches decides there, so what is closed stands behind
/// what is open. Limits are none of its matters, and links open nothing: to follow one needs no rule. A path that is
/// not UTF-8 has no place in a profile, and `None` is returned: to leave one out could open what it closes.
pub fn seatbelt_profile(walls: &Walls) -> Option<String> {
    let mut profile = BASE.to_owned();
    let open = [
        ("allow file-read* process-exec", &walls.readable),
        ("allow file-read* file-write* process-exec", &walls.writable),
    ];
    for (rule, paths) in open {
        for path in paths {
            line(&mut profile, rule, "subpath", path)?;
        }
    }
    // Mounts cannot be removed or renamed, and no program may take on its owner's identity.
    for path in &walls.writable {
        line(&mut profile, "deny file-write-unlink", "literal", path)?;
    }
    profile.push_str("(deny file-write-setugid)\n");
    let closed = [
        ("deny file-write*", &walls.write_protected),
        ("deny file-read* file-write* process-exec", &walls.masked),
    ];
    for (rule, paths) in closed {
        for path in paths {
            line(&mut profile, rule, "subpath", path)?;
            let pattern = in_other_letters(path)?;
            // Writing to a string does not fail.
            _ = writeln!(profile, "({rule} (regex #\"{pattern}\"))");
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
        Network::Shared => profile.push_str(SHARED),
    }
    let is_masked = |path: &Path| walls.masked.iter().any(|masked| path.starts_with(masked));
    for socket in walls.sockets.iter().filter(|path| !is_masked(path)) {
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

/// A pattern of a path and all below it in whatever letters: the disks of macOS take them for the same, and nothing
/// tells how a name is spelt that is yet to be made. What has no letters of its own may be anything, so that nothing in
/// a path can mean something in the pattern.
fn in_other_letters(path: &Path) -> Option<String> {
    let mut pattern = String::from("^");
    for letter in path.to_str()?.chars() {
        match letter {
            // Two letters beyond ASCII are taken for one of these.
            'k' | 'K' => pattern.push_str("(k|K|\u{212a})"),
            's' | 'S' => pattern.push_str("(s|S|\u{17f})"),
            letter if letter.is_ascii_alphabetic() => {
                pattern.extend([
                    '[',
                    letter.to_ascii_lowercase(),
                    letter.to_ascii_uppercase(),
                    ']',
                ]);
            }
            letter if letter.is_ascii_digit() || "/-_".contains(letter) => pattern.push(letter),
            '.' => pattern.push_str("[.]"),
            letter if letter.is_ascii() => pattern.push('.'),
            // It may be written in several ways, of different lengths.
            _ => pattern.push_str("[^/]+"),
        }
    }
    pattern.push_str("(/|$)");
    Some(pattern)
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

    /// Where a line stands in a profile.
    #[track_caller]
    fn at(profile: &str, line: &str) -> usize {
        let found = profile.lines().position(|other| other == line);
        found.unwrap_or_else(|| panic!("no {line} in {profile}"))
    }

    #[test]
    fn what_is_not_listed_is_closed() {
        let profile = seatbelt_profile(&Walls::default()).unwrap();
        assert!(profile.starts_with("(version 1)\n(deny default)\n"));
        for open in [
            "subpath",
            "regex",
            "network",
            "process-exec",
            "(allow default)",
        ] {
            assert!(!profile.contains(open), "{open}: {profile}");
        }
    }

    #[test]
    fn what_can_be_read_can_be_executed_and_not_written() {
        let walls = Walls {
            readable: vec!["/usr".into()],
            ..Walls::default()
        };
        let profile = seatbelt_profile(&walls).unwrap();
        at(
            &profile,
            "(allow file-read* process-exec (subpath \"/usr\"))",
        );
        assert_eq!(profile.matches("/usr").count(), 1);
    }

    #[test]
    fn what_can_be_written_stays_where_it_is_and_makes_no_program_run_as_its_owner() {
        let walls = Walls {
            writable: vec!["/w".into()],
            ..Walls::default()
        };
        let profile = seatbelt_profile(&walls).unwrap();
        let open = at(
            &profile,
            "(allow file-read* file-write* process-exec (subpath \"/w\"))",
        );
        assert!(open < at(&profile, "(deny file-write-unlink (literal \"/w\"))"));
        assert!(open < at(&profile, "(deny file-write-setugid)"));
    }

    #[test]
    fn what_is_closed_stands_behind_what_is_open() {
        let profile = seatbelt_profile(&walls()).unwrap();
        let at = |line: &str| at(&profile, line);
        let open = at("(allow file-read* file-write* process-exec (subpath \"/w\"))");
        assert!(at("(allow file-read* process-exec (subpath \"/usr\"))") < open);
        assert!(open < at("(deny file-write* (subpath \"/w/.git/hooks\"))"));
        assert!(open < at("(deny file-read* file-write* process-exec (subpath \"/w/deep/.env\"))"));
        for around in ["/w/deep", "/w/.git", "/w"] {
            at(&format!("(deny file-write-unlink (literal \"{around}\"))"));
        }
        assert!(!profile.contains("network"), "{profile}");
    }

    #[test]
    fn a_name_that_is_yet_to_be_made_is_closed_in_whatever_letters() {
        let rule = |kind: &str, name: &str| format!("({kind} (regex #\"^/[wW]/[.]{name}(/|$)\"))");
        let profile = seatbelt_profile(&walls()).unwrap();
        let git = "[gG][iI][tT]/[hH][oO][oO](k|K|\u{212a})(s|S|\u{17f})";
        at(&profile, &rule("deny file-write*", git));
        let walls = Walls {
            masked: vec!["/w/.é+\"1-_".into()],
            ..Walls::default()
        };
        let profile = seatbelt_profile(&walls).unwrap();
        at(
            &profile,
            &rule("deny file-read* file-write* process-exec", "[^/]+..1-_"),
        );
    }

    #[test]
    fn links_and_limits_change_nothing() {
        let more = Walls {
            links: vec!["/home/u/.rustup".into()],
            limits: crate::Limits {
                processes: Some(1),
                ..crate::Limits::default()
            },
            ..walls()
        };
        assert_eq!(seatbelt_profile(&more), seatbelt_profile(&walls()));
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
        // Not `network*` by itself: that would be the sockets of all services too.
        let shared = with(Network::Shared);
        let opened: Vec<&str> = shared
            .lines()
            .filter(|line| line.contains("network"))
            .collect();
        let (ip, names) = opened.split_at(2);
        assert!(
            ip.iter().all(|line| line.contains(" ip \"*:*\"")),
            "{opened:?}"
        );
        assert_eq!(
            names,
            ["(allow network-outbound (literal \"/private/var/run/mDNSResponder\"))"]
        );
    }

    #[test]
    fn sockets_are_opened_one_by_one_but_for_those_that_are_hidden() {
        let sockets = Walls {
            sockets: vec!["/run/agent.sock".into(), "/w/deep/.env/agent".into()],
            ..walls()
        };
        let profile = seatbelt_profile(&sockets).unwrap();
        assert!(profile.ends_with("(allow network-outbound (literal \"/run/agent.sock\"))\n"));
        assert_eq!(profile.matches("network").count(), 1);
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
