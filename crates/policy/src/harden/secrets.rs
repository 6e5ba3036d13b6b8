//! Secrets: keys, tokens, passwords and histories at their well-known places, see `data/secrets.tsv`.
//! An allow is meant for one only if it names the place: an allow of a whole home does not.
//!
//! Must not: look at anything but the path.

use super::places::Places;
use super::{Around, Guarded, spellings, written};
use crate::rule::Rule;
use crate::subject::{Subject, SubjectKind};
use std::sync::LazyLock;

const TABLE: &str = include_str!("../../data/secrets.tsv");

static PLACES: LazyLock<Places> =
    LazyLock::new(|| Places::read(TABLE, "read", "hardening: secrets"));

/// Speaks where no rule that names the place allows or asks.
pub(crate) fn guard(subject: &Subject, around: Around<'_>) -> Option<Guarded> {
    if subject.kind != SubjectKind::Path || subject.permission != "read" {
        return None;
    }
    let place = spellings(subject).find_map(|path| PLACES.find(path, |_| true))?;
    if around.found.is_some_and(is_meant) {
        return None;
    }
    Some(Guarded {
        rule: &place.rule,
        note: place.why,
        once_only: None,
    })
}

/// Whether a path is one of a secret.
pub(crate) fn holds(path: &str) -> bool {
    PLACES.find(path, |_| true).is_some()
}

/// Whether a rule names a place of the table: `*.ssh/*` and `~/.npmrc` do, `/home/u/*` does not.
fn is_meant(rule: &Rule) -> bool {
    let is_broad = rule.permission.contains(['*', '?']) || rule.pattern.is_about_arguments();
    let text = written(rule);
    let inner = text.trim_start_matches(['*', '/']).trim_end_matches('*');
    !is_broad && (holds(text) || holds(inner))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::Pattern;
    use crate::rule::{Action, Origin};

    #[test]
    fn the_table_is_in_order() {
        let classes = ["key", "cloud", "token", "history", "store", "browser"];
        super::super::places::check_table(TABLE, &classes);
        assert!(TABLE.lines().count() > 150);
    }

    #[test]
    fn secrets_are_told_by_their_places() {
        for path in [
            "/home/u/.ssh/id_ed25519",
            "/home/U/.SSH/config",
            "id_rsa",
            "backup/id_rsa",
            "certs/server.pem",
            "deploy.key",
            "/root/.aws/credentials",
            "/home/u/.config/gcloud/credentials.db",
            "/home/u/.azure/msal_token_cache.json",
            "/home/u/.kube/config",
            "/home/u/.docker/config.json",
            "/home/u/.netrc",
            ".npmrc",
            "/home/u/.pypirc",
            "/home/u/.git-credentials",
            "/home/u/.gnupg/secring.gpg",
            "/home/u/.cargo/credentials.toml",
            "infra/terraform.tfstate",
            ".git/config",
            "sub/.git/config",
            "/home/u/.bash_history",
            "/home/u/.mozilla/firefox/x/logins.json",
            "/home/u/.password-store/mail.gpg",
            "/Users/u/Library/Keychains/login.keychain-db",
        ] {
            assert!(holds(path), "{path}");
        }
        for path in [
            "src/main.rs",
            "src/ssh/config",
            "/home/u/.ssh/id_ed25519.pub",
            "id_rsa.pub",
            "docker/config.json",
            ".git/HEAD",
            "src/keys.rs",
            "src/aws/credentials.rs",
            "package.json",
        ] {
            assert!(!holds(path), "{path}");
        }
    }

    #[test]
    fn an_allow_is_meant_if_it_names_the_place() {
        for (pattern, want) in [
            ("*", false),
            ("/home/u/*", false),
            ("*.config*", false),
            ("path:**", false),
            ("arg:filePath=.npmrc", false),
            ("*.ssh/*", true),
            ("path:**/.ssh/**", true),
            ("/home/u/.ssh/known_hosts", true),
            (".npmrc", true),
            ("*.npmrc", true),
            ("*id_rsa*", true),
            ("certs/*.pem", true),
        ] {
            let pattern = Pattern::read(pattern).unwrap();
            let rule = Rule::new("read", pattern, Action::Allow, Origin::named("t"));
            assert_eq!(is_meant(&rule), want, "{rule}");
        }
    }
}
