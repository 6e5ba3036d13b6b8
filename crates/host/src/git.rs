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
