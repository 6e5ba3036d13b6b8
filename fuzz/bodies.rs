//! What holds for every text, as bodies for whatever makes the texts: `cargo xtask fuzz` and the targets
//! of cargo-fuzz next to it. A body panics where it does not hold. It must not read a file or a clock.

use std::ops::Range;
use std::sync::Arc;

use command::{Line, Setting, Shell, Simple, read};
use policy::{Action, Origin, Pattern, Rule, RuleBook, RuleLayers, Subject, decide};

/// Something that holds for every text.
pub(crate) type Body = fn(&[u8]);

/// Every body, by its name.
pub(crate) const BODIES: [(&str, Body); 2] = [("shell", shell), ("decision", decision)];

/// The reader answers, always the same, and only with places that are in the text.
pub(crate) fn shell(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for shell in [Shell::Bash, Shell::Sh, Shell::Zsh] {
        let setting = Setting { shell, ..SETTING };
        let line = read(&text, &setting);
        assert!(
            places(&line).all(|place| text.get(place).is_some()),
            "a place outside"
        );
        assert_eq!(line, read(&text, &setting), "two answers");
        let by = line.touches.iter().filter_map(|touch| touch.by);
        let by = by.chain(line.hosts.iter().filter_map(|host| host.by));
        let via = line
            .commands
            .iter()
            .filter_map(|command| command.via.as_ref());
        let mut indices = by.chain(via.map(|via| via.command));
        assert!(
            indices.all(|index| index < line.commands.len()),
            "no such command"
        );
    }
}

/// A line is decided, whatever it and the rules are: the first line of the data is a pattern to deny, the
/// rest is the text. What the pattern matches as it stands is denied.
pub(crate) fn decision(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (pattern, text) = text.split_once('\n').unwrap_or(("rm *", &text));
    let rule = |pattern, action| Rule::new("bash", pattern, action, Origin::named("fuzz"));
    let denied = Pattern::wildcard(pattern);
    let base = vec![
        rule(Pattern::wildcard("*"), Action::Allow),
        rule(denied.clone(), Action::Deny),
    ];
    let rules = RuleBook::new(RuleLayers {
        base,
        ..RuleLayers::default()
    })
    .current();
    for command in &read(text, &SETTING).commands {
        let subjects: Arc<[Subject]> = Arc::from([subject(command)]);
        let action = decide(&rules, &subjects, None).action();
        let is_denied = denied.matches(&command.canonical());
        assert!(
            !is_denied || action == Action::Deny,
            "{action:?} in spite of the rule"
        );
    }
}

const SETTING: Setting<'static> = Setting {
    directory: "/work",
    home: Some("/home/u"),
    shell: Shell::Bash,
};

fn subject(command: &Simple) -> Subject {
    let (canonical, source) = (command.canonical(), command.source.clone());
    Subject::command("bash", canonical, source, command.others())
}

/// Every place a line names.
fn places(line: &Line) -> impl Iterator<Item = Range<usize>> {
    let unknown = line.unknown.iter().map(|unknown| &unknown.range);
    let flagged = line.flagged.iter().map(|flagged| &flagged.range);
    let touches = line.touches.iter().map(|touch| &touch.range);
    let hosts = line.hosts.iter().map(|host| &host.range);
    let commands = line.commands.iter().flat_map(|command| {
        let words = command.words.iter().map(|word| &word.range);
        let redirects = command
            .redirects
            .iter()
            .flat_map(|it| [&it.range, &it.target.range]);
        let assignments = command
            .assignments
            .iter()
            .flat_map(|it| [&it.range, &it.value.range]);
        let opaque = command.opaque.iter().map(|opaque| &opaque.range);
        let own = std::iter::once(&command.range);
        own.chain(words)
            .chain(redirects)
            .chain(assignments)
            .chain(opaque)
    });
    let all = unknown
        .chain(flagged)
        .chain(touches)
        .chain(hosts)
        .chain(commands);
    all.cloned()
}
