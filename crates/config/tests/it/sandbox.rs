//! What the key `sandbox` comes to, and that two words about it never come to more than either.
//! Must not build a wall.

use std::path::{Path, PathBuf};

use policy::{Action, Origin, Pattern, Rule, RuleBook, RuleLayers, Subject, decide};
use tollgate_config::{AllowedHost, Bounds, Network, Reference, Surroundings, parse};

/// A home, one value for every reference, a folder that is not there, one that may not be opened, and one bundle
/// under two names.
struct Around<'s> {
    home: Option<&'s str>,
    value: Option<&'s str>,
}

const AROUND: Around<'static> = Around {
    home: Some("/home/u"),
    value: None,
};

impl Surroundings for Around<'_> {
    fn look_up(&self, _: &Reference) -> Option<String> {
        self.value.map(str::to_owned)
    }

    fn home(&self) -> Option<&Path> {
        self.home.map(Path::new)
    }

    fn folder(&self, path: &Path) -> Result<Option<PathBuf>, String> {
        match path.to_str() {
            Some("/missing") => Ok(None),
            Some("/ours") => Err("`/ours` is not to be opened".to_owned()),
            Some("/link") => Ok(Some("/real".into())),
            _ => Ok(Some(path.to_owned())),
        }
    }

    fn bundle(&self, name: &str) -> Result<(String, Vec<String>), String> {
        match name {
            "python" | "pip" => Ok(("python".to_owned(), vec!["pypi.org:443".to_owned()])),
            _ => Err(format!("there is no bundle `{name}`")),
        }
    }
}

fn bounds(sandbox: &str) -> Bounds {
    let text = format!(r#"{{"sandbox": {sandbox}}}"#);
    let config = parse(&text, "t.jsonc", Some("/home/u")).unwrap();
    config.sandbox.bounds(&AROUND).unwrap()
}

fn shown(bounds: &Bounds) -> (Option<Network>, Vec<String>) {
    let hosts = bounds.hosts.iter().map(ToString::to_string).collect();
    (bounds.network, hosts)
}

#[test]
fn a_machine_is_an_exact_name_and_a_port() {
    for (written, want) in [
        ("api.github.com", Some("api.github.com:443")),
        ("API.GitHub.com.:8443", Some("api.github.com:8443")),
        ("bücher.example", Some("xn--bcher-kva.example:443")),
        ("localhost:3000", Some("localhost:3000")),
        ("*.github.com", None),
        ("10.0.0.1", None),
        ("0x7f.1", None),
        ("2130706433", None),
        ("0x7f000001", None),
        ("[::1]:80", None),
        ("::1", None),
        ("https://a.b", None),
        ("a.b/x", None),
        ("u@a.b", None),
        ("a.b:0", None),
        ("a.b:+1", None),
        ("a.b:65536", None),
        ("a.b:", None),
        ("-a.b", None),
        ("a-.b", None),
        ("a_b.c", None),
        ("a..b", None),
        ("", None),
        (".", None),
        ("a b", None),
        ("a.b\0.c", None),
        ("a.b%00", None),
    ] {
        let read = AllowedHost::read(written).map(|it| it.to_string());
        assert_eq!(read.ok().as_deref(), want, "{written:?}");
    }
    let label = "a".repeat(63);
    assert!(AllowedHost::read(&format!("{label}.b")).is_ok());
    assert!(AllowedHost::read(&format!("{label}a.b")).is_err());
    let long = [label.as_str(); 4].join(".");
    assert!(AllowedHost::read(&long).is_err(), "over 253 in all");
}

#[test]
fn machines_are_sorted_and_each_once_and_an_open_network_needs_none() {
    let both = bounds(r#"{"allowed_hosts": ["b.c", "a.b:80", "B.C:443"]}"#);
    assert_eq!(
        shown(&both),
        (None, vec!["a.b:80".into(), "b.c:443".into()])
    );
    let open = bounds(r#"{"network": "allow", "allowed_hosts": ["b.c"]}"#);
    assert_eq!(shown(&open), (Some(Network::Allow), vec![]));
    assert_eq!(bounds("{}"), Bounds::default());
}

#[test]
fn folders_start_at_the_root_or_at_home() {
    let read = bounds(r#"{"writable_paths": ["~/.cache/x", "/srv", "~"]}"#);
    let paths: Vec<_> = read
        .writable
        .iter()
        .map(|it| it.to_str().unwrap())
        .collect();
    assert_eq!(paths, ["/home/u", "/home/u/.cache/x", "/srv"]);
    for (path, home) in [
        ("cache", Some("/home/u")),
        ("~/x", None),
        ("~other/x", Some("/h")),
    ] {
        let text = format!(r#"{{"sandbox": {{"writable_paths": ["{path}"]}}}}"#);
        let config = parse(&text, "t.jsonc", None).unwrap();
        let around = Around { home, ..AROUND };
        let error = config.sandbox.bounds(&around).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("t.jsonc:1:33: `{path}` is no absolute path")
        );
    }
}

#[test]
fn what_a_reference_stands_for_is_looked_at_too() {
    let text = r#"{"sandbox": {"allowed_hosts": ["{env:HOST}"]}}"#;
    let sandbox = parse(text, "t.jsonc", None).unwrap().sandbox;
    let read = |host| {
        sandbox.bounds(&Around {
            value: Some(host),
            ..AROUND
        })
    };
    assert_eq!(shown(&read("a.b").unwrap()).1, ["a.b:443"]);
    let error = read("*").unwrap_err().to_string();
    assert!(
        error.starts_with("t.jsonc:1:32: `*` is no exact name"),
        "{error}"
    );
    assert!(sandbox.bounds(&AROUND).is_err());
}

#[test]
fn a_folder_is_what_it_leads_to_and_one_that_is_not_there_opens_nothing() {
    let read = bounds(r#"{"writable_paths": ["/link", "/missing", "/a"]}"#);
    assert_eq!(read.writable, ["/a", "/real"].map(PathBuf::from).into());
    let text = r#"{"sandbox": {"writable_paths": ["/a", "/ours"]}}"#;
    let error = parse(text, "t.jsonc", None)
        .unwrap()
        .sandbox
        .bounds(&AROUND)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "t.jsonc:1:39: `/ours` is not to be opened"
    );
}

#[test]
fn a_bundle_has_one_name_and_its_machines_are_those_of_allowed_hosts() {
    let pypi = || vec!["pypi.org:443".to_owned()];
    let both = bounds(r#"{"bundles": ["pip", "python"]}"#);
    assert_eq!(both.bundles, ["python".to_owned()].into());
    assert_eq!(shown(&both), (None, pypi()));
    let closed = bounds(r#"{"network": "deny", "bundles": ["pip"]}"#);
    assert_eq!(shown(&closed), (Some(Network::Deny), pypi()));
    let open = bounds(r#"{"network": "allow", "bundles": ["pip"]}"#);
    assert_eq!(shown(&open), (Some(Network::Allow), vec![]));
    let text = r#"{"sandbox": {"bundles": ["docker"]}}"#;
    let error = parse(text, "t.jsonc", None)
        .unwrap()
        .sandbox
        .bounds(&AROUND)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "t.jsonc:1:26: there is no bundle `docker`"
    );
}

#[test]
fn bundles_and_hooks_hold_where_both_words_open_them() {
    let open = bounds(r#"{"bundles": ["python"], "git_hooks": true}"#);
    assert!(open.has_git_hooks && !bounds(r#"{"git_hooks": false}"#).has_git_hooks);
    assert_eq!(open.within(&open), open);
    for less in ["{}", r#"{"git_hooks": true}"#, r#"{"bundles": ["pip"]}"#] {
        let less = bounds(less);
        assert_eq!(open.within(&less), less);
        assert_eq!(less.within(&open), less);
    }
}

#[test]
fn two_words_come_to_what_both_allow() {
    let hosts = |list: &str| format!(r#"{{"allowed_hosts": [{list}]}}"#);
    let deny = |list: &str| format!(r#"{{"network": "deny", "allowed_hosts": [{list}]}}"#);
    let allow = r#"{"network": "allow"}"#.to_owned();
    let d = Some(Network::Deny);
    for (one, other, network, left) in [
        (deny(r#""a", "b""#), deny(r#""b""#), d, &["b:443"][..]),
        (deny(r#""a""#), deny(r#""b""#), d, &[]),
        (allow.clone(), deny(r#""a""#), d, &["a:443"]),
        (allow.clone(), hosts(r#""a""#), None, &["a:443"]),
        (allow.clone(), "{}".to_owned(), None, &[]),
        (allow.clone(), allow.clone(), Some(Network::Allow), &[]),
        (hosts(r#""a", "b""#), hosts(r#""b""#), None, &["b:443"]),
        (hosts(r#""a""#), deny(r#""a""#), d, &["a:443"]),
    ] {
        for (one, other) in [(&one, &other), (&other, &one)] {
            let both = bounds(one).within(&bounds(other));
            let left = left.iter().map(|it| (*it).to_owned()).collect();
            assert_eq!(shown(&both), (network, left), "{one} {other}");
        }
    }
    let paths = |list: &str| bounds(&format!(r#"{{"writable_paths": [{list}]}}"#));
    let both = paths(r#""/a", "/b/c", "/d""#).within(&paths(r#""/a/x", "/b", "/dd""#));
    let left: Vec<_> = both
        .writable
        .iter()
        .map(|it| it.to_str().unwrap())
        .collect();
    assert_eq!(left, ["/a/x", "/b/c"]);
}

#[test]
fn what_a_session_began_with_is_read_again_or_not_at_all() {
    for sandbox in [
        "{}",
        r#"{"network": "allow"}"#,
        r#"{"network": "deny", "allowed_hosts": ["a.b:1"], "writable_paths": ["/x"]}"#,
        r#"{"bundles": ["python"], "git_hooks": true}"#,
    ] {
        let began = bounds(sandbox);
        assert_eq!(Bounds::from_snapshot(&began.to_snapshot()), Ok(began));
    }
    let of_old = r#"{"network": null, "allowed_hosts": [], "writable_paths": []}"#;
    assert_eq!(Bounds::from_snapshot(of_old), Ok(Bounds::default()));
    for text in [
        "",
        "{}",
        r#"{"network": "open", "allowed_hosts": [], "writable_paths": []}"#,
        r#"{"network": null, "allowed_hosts": ["*"], "writable_paths": []}"#,
        r#"{"network": null, "allowed_hosts": [], "writable_paths": [], "more": 1}"#,
    ] {
        assert!(Bounds::from_snapshot(text).is_err(), "{text}");
    }
}

/// What is said to a machine, with a person's own rules between.
fn action(bounds: &Bounds, own: &[(&str, Action)], machine: &str) -> Action {
    let rule = |(pattern, action): &(&str, Action)| {
        Rule::new(
            "network",
            Pattern::wildcard(pattern),
            *action,
            Origin::named("own"),
        )
    };
    let preset = [("*", Action::Ask)];
    let mut base: Vec<Rule> = preset.iter().map(rule).collect();
    base.extend(bounds.rules_before());
    base.extend(own.iter().map(rule));
    base.extend(bounds.rules_behind());
    let layers = RuleLayers {
        base,
        ..RuleLayers::default()
    };
    let subjects = [Subject::name("network", machine)].into();
    decide(&RuleBook::new(layers).current(), &subjects, None).action()
}

#[test]
fn machines_become_rules() {
    use Action::{Allow, Ask, Deny};
    let listed = r#""allowed_hosts": ["a.b", "c.d:80"]"#;
    let unsaid = bounds(&format!("{{{listed}}}"));
    let closed = bounds(&format!(r#"{{"network": "deny", {listed}}}"#));
    let open = bounds(r#"{"network": "allow"}"#);
    for (machine, want) in [
        ("a.b:443", [Allow, Allow, Allow]),
        // As a command's words may name it.
        ("a.b", [Allow, Allow, Allow]),
        ("a.b:80", [Ask, Deny, Allow]),
        ("c.d:80", [Allow, Allow, Allow]),
        ("c.d", [Ask, Deny, Allow]),
        ("x.a.b:443", [Ask, Deny, Allow]),
    ] {
        let got = [&unsaid, &closed, &open].map(|it| action(it, &[], machine));
        assert_eq!(got, want, "{machine}");
    }
    let own = [("*", Allow), ("a.b:*", Deny)];
    assert_eq!(action(&closed, &own, "e.f:443"), Deny, "closed is closed");
    for it in [&unsaid, &open] {
        assert_eq!(action(it, &own, "a.b:443"), Deny, "an own rule comes later");
    }
}
