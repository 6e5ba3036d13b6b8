//! What git needs to know of its user where it cannot read the user's own configuration.
//! Must not hand on anything else of that configuration: it may name programs, and hold logins.

use std::{ffi::OsString, fs, path::Path};

/// The most that is read of a configuration, in bytes.
const CONFIG_BYTES_MAX: u64 = 256 * 1024;

/// Variables that name the user to git, and keep it from a configuration that it may not read: there,
/// git gives up where a file is unreadable and not merely absent. What `environment` already says stays.
pub(crate) fn identity(
    home: Option<&Path>,
    environment: &[(OsString, OsString)],
) -> Vec<(OsString, OsString)> {
    let files = home.map(|home| [home.join(".config/git/config"), home.join(".gitconfig")]);
    let texts = files.iter().flatten().filter_map(|file| read(file));
    let (mut name, mut email) = (None, None);
    for text in texts {
        // As in git, what is written last counts, and the file in the home itself is read last.
        for (key, value) in user(&text) {
            match key.as_str() {
                "name" => name = Some(value),
                "email" => email = Some(value),
                _ => {}
            }
        }
    }
    let named = ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"].map(|variable| (variable, name.clone()));
    let mailed = ["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"].map(|it| (it, email.clone()));
    let is_new = |variable: &str| environment.iter().all(|(name, _)| name != variable);
    let known = named
        .into_iter()
        .chain(mailed)
        .filter(|(variable, _)| is_new(variable));
    let known = known.filter_map(|(variable, value)| Some((variable, value?)));
    known
        .chain([("GIT_CONFIG_GLOBAL", "/dev/null".to_owned())])
        .map(|(variable, value)| (variable.into(), value.into()))
        .collect()
}

/// Settings under which git runs nothing beside what it was asked for, and takes no lock.
const LOOK_ONLY: [(&str, &str); 5] = [
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("diff.external", ""),
    ("log.showSignature", "false"),
];

/// Keeps git from whatever the repository would have it run, for a command that only looks. Converters
/// of text (`textconv`) have names of their own and are held by the walls alone.
pub(crate) fn look_only(environment: &mut Vec<(OsString, OsString)>) {
    let is_ours = |name: &OsString| {
        let name = name.to_string_lossy();
        name.starts_with("GIT_CONFIG_")
            && name
                .rsplit('_')
                .next()
                .is_some_and(|end| end == "COUNT" || end.parse::<u32>().is_ok())
    };
    let programs = [
        "GIT_EXTERNAL_DIFF",
        "GIT_PAGER",
        "PAGER",
        "GIT_SSH",
        "GIT_SSH_COMMAND",
    ];
    environment.retain(|(name, _)| !is_ours(name) && !programs.iter().any(|it| name == it));
    let mut put = |name: String, value: &str| environment.push((name.into(), value.into()));
    put("GIT_OPTIONAL_LOCKS".to_owned(), "0");
    put("GIT_PAGER".to_owned(), "cat");
    put("PAGER".to_owned(), "cat");
    put("GIT_CONFIG_COUNT".to_owned(), &LOOK_ONLY.len().to_string());
    for (number, (key, value)) in LOOK_ONLY.into_iter().enumerate() {
        put(format!("GIT_CONFIG_KEY_{number}"), key);
        put(format!("GIT_CONFIG_VALUE_{number}"), value);
    }
}

fn read(file: &Path) -> Option<String> {
    let found = fs::metadata(file).ok()?;
    let is_plain = found.is_file() && found.len() <= CONFIG_BYTES_MAX;
    is_plain.then(|| fs::read_to_string(file).ok()).flatten()
}

/// The plain `key = value` lines of the section `[user]`. Includes are not followed.
fn user(text: &str) -> Vec<(String, String)> {
    let mut is_user = false;
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            is_user = line.eq_ignore_ascii_case("[user]");
        } else if let Some((key, value)) = line.split_once('=').filter(|_| is_user) {
            let value = value.trim().trim_matches('"');
            let is_plain = !value.is_empty() && !value.contains(['\\', '"', '#', ';']);
            if is_plain {
                found.push((key.trim().to_ascii_lowercase(), value.to_owned()));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(config: &str, environment: &[(&str, &str)]) -> Vec<(String, String)> {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join(".gitconfig"), config).unwrap();
        let environment: Vec<_> = environment
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        let found = identity(Some(home.path()), &environment);
        let text = |it: OsString| it.into_string().unwrap();
        found
            .into_iter()
            .map(|(name, value)| (text(name), text(value)))
            .collect()
    }

    #[test]
    fn only_the_name_and_the_address_go_on() {
        let config = "[core]\n\tpager = evil\n[User]\n\tname = \"Some One\"\n\temail = a@example.invalid\n\
                      \tsigningkey = K\n[url \"https://u:p@x\"]\n\tname = no\n";
        let found = of(config, &[]);
        let want = [
            ("GIT_AUTHOR_NAME", "Some One"),
            ("GIT_COMMITTER_NAME", "Some One"),
            ("GIT_AUTHOR_EMAIL", "a@example.invalid"),
            ("GIT_COMMITTER_EMAIL", "a@example.invalid"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ];
        assert_eq!(
            found,
            want.map(|(name, value)| (name.to_owned(), value.to_owned()))
        );
    }

    #[test]
    fn what_the_environment_says_stays_and_what_is_not_plain_is_left_out() {
        let config = "[user]\n\tname = a\\tb\n\temail = x@example.invalid\n";
        let found = of(config, &[("GIT_AUTHOR_EMAIL", "other")]);
        let names: Vec<_> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["GIT_COMMITTER_EMAIL", "GIT_CONFIG_GLOBAL"]);
    }
}
