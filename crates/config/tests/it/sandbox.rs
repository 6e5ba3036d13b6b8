//! What the key `sandbox` comes to, and that two words about it never come to more than either.
//! Must not build a wall.

use std::path::Path;

use policy::{Action, Origin, Pattern, Rule, RuleBook, RuleLayers, Subject, decide};
use tollgate_config::{AllowedHost, Bounds, Network, parse};

fn bounds(sandbox: &str) -> Bounds {
    let text = format!(r#"{{"sandbox": {sandbox}}}"#);
    let config = parse(&text, "t.jsonc", Some("/home/u")).unwrap();
    let read = config.sandbox.bounds(&|_| None, Some(Path::new("/home/u")));
    read.unwrap()
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
        let error = config
            .sandbox
            .bounds(&|_| None, home.map(Path::new))
            .unwrap_err();
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
    let read = |host: &str| sandbox.bounds(&|_| Some(host.to_owned()), None);
    assert_eq!(shown(&read("a.b").unwrap()).1, ["a.b:443"]);
    let error = read("*").unwrap_err().to_string();
    assert!(
        error.starts_with("t.jsonc:1:32: `*` is no exact name"),
        "{error}"
    );
    assert!(sandbox.bounds(&|_| None, None).is_err());
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
    ] {
        let began = bounds(sandbox);
        assert_eq!(Bounds::from_snapshot(&began.to_snapshot()), Ok(began));
    }
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
