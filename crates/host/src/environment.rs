//! Which of our own environment children get: all but what looks secret, what is ours, and what makes
//! programs run or load something.
//! Must not read the environment itself, nor add anything that decides.

use std::ffi::{OsStr, OsString};

/// Anywhere in a name: what it holds is secret.
const SECRET_PARTS: &[&str] = &[
    "ACCESSKEY",
    "APIKEY",
    "CONNECTION_STRING",
    "CREDENTIAL",
    "DATABASE_URL",
    "KEY",
    "PASSPHRASE",
    "PASSW",
    "SECRET",
    "TOKEN",
    "XAUTHORITY",
];

/// As a word of a name, between underscores.
const SECRET_WORDS: &[&str] = &[
    "APIKEYS",
    "AUTH",
    "BEARER",
    "CERT",
    "COOKIE",
    "COOKIES",
    "CRED",
    "CREDS",
    "DSN",
    "JWT",
    "KUBECONFIG",
    "NETRC",
    "OAUTH",
    "OTP",
    "PASS",
    "PAT",
    "PIN",
    "PRIVATE",
    "PWD",
    "SALT",
    "SESSION",
    "SIGNATURE",
];

/// Services whose variables lead to an account, whatever their names say.
const SECRET_PREFIXES: &[&str] = &[
    "ANTHROPIC",
    "AWS_",
    "AZURE",
    "CLAUDE",
    "CLOUDFLARE_",
    "CLOUDSDK_",
    "COHERE",
    "DEEPSEEK",
    "DIGITALOCEAN_",
    "GCLOUD_",
    "GCP_",
    "GEMINI",
    "GH_",
    "GITHUB_",
    "GITLAB_",
    "GOOGLE_",
    "GROQ",
    "HEROKU_",
    "HF_",
    "HUGGING",
    "KUBE",
    "MISTRAL",
    "OPENAI",
    "OPENROUTER",
    "SLACK_",
    "STRIPE_",
    "TWILIO_",
    "VAULT_",
    "XAI_",
];

/// Ours, and those of the systems we are compatible with: they hold configuration and passwords.
const OWN_PREFIXES: &[&str] = &["KILO_", "OPENCODE_", "TOLLGATE"];

/// Doors to programs that act for the user.
const SOCKETS: &[&str] = &[
    "DBUS_SESSION_BUS_ADDRESS",
    "DOCKER_HOST",
    "GNOME_KEYRING_CONTROL",
    "GPG_AGENT_INFO",
    "SSH_AGENT_PID",
    "SSH_ASKPASS",
    "SSH_AUTH_SOCK",
    "SUDO_ASKPASS",
];

/// They make a shell, loader or interpreter do something before, or instead of, what was judged.
const ACTING: &[&str] = &[
    "BASHOPTS",
    "BASH_ENV",
    "CDPATH",
    "ENV",
    "GLOBIGNORE",
    "IFS",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "NODE_OPTIONS",
    "PERL5DB",
    "PERL5LIB",
    "PERL5OPT",
    "PROMPT_COMMAND",
    "PS4",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "RUBYLIB",
    "RUBYOPT",
    "SHELLOPTS",
    "_JAVA_OPTIONS",
];
const ACTING_PREFIXES: &[&str] = &["BASH_FUNC_", "DYLD_", "LD_"];

/// Of all that starts with `GIT_` only these are mere words; the rest names programs and settings.
const GIT_WORDS: &[&str] = &[
    "GIT_AUTHOR_DATE",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_NAME",
    "GIT_COMMITTER_DATE",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_NAME",
];

/// Set anew for each child, or wrong in it.
const REPLACED: &[&str] = &[
    "OLDPWD", "PATH", "PWD", "TEMP", "TEMPDIR", "TMP", "TMPDIR", "_",
];

/// How the values of well-known keys begin.
const SECRET_VALUES: &[&str] = &[
    "-----BEGIN",
    "AKIA",
    "eyJ",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "sk-",
    "xoxb-",
    "xoxp-",
];

/// The environment of a child: the parent's without what may not go on, with its own `PATH` and
/// `TMPDIR`.
pub(crate) fn of_child(
    parent: &[(OsString, OsString)],
    path: &OsStr,
    temp_dir: &OsStr,
) -> Vec<(OsString, OsString)> {
    let passed = parent
        .iter()
        .filter(|(name, value)| passes(&name.to_string_lossy(), &value.to_string_lossy()));
    let own =
        [("PATH", path), ("TMPDIR", temp_dir)].map(|(name, value)| (name.into(), value.into()));
    passed.cloned().chain(own).collect()
}

/// Whether a variable is secret by its name.
pub(crate) fn is_secret(name: &str) -> bool {
    let name = name.to_uppercase();
    SECRET_PARTS.iter().any(|part| name.contains(part))
        || name.split('_').any(|word| SECRET_WORDS.contains(&word))
        || SECRET_PREFIXES
            .iter()
            .any(|prefix| name.starts_with(prefix))
}

fn passes(name: &str, value: &str) -> bool {
    let is_secret = is_secret(name);
    let name = name.to_uppercase();
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    let is_ours = starts(OWN_PREFIXES);
    let acts = ACTING.contains(&name.as_str())
        || starts(ACTING_PREFIXES)
        || (name.starts_with("GIT_") && !GIT_WORDS.contains(&name.as_str()));
    let is_dropped = SOCKETS.contains(&name.as_str()) || REPLACED.contains(&name.as_str());
    !(is_secret || is_ours || acts || is_dropped || holds_secret(value))
}

/// An address with a user in it, a key in one of the well-known forms, or a function for the shell.
fn holds_secret(value: &str) -> bool {
    SECRET_VALUES
        .iter()
        .any(|start| value.trim_start().starts_with(start))
        || value.split("://").skip(1).any(|rest| {
            let end = rest.find(|c: char| matches!(c, '/' | '?' | '#') || c.is_whitespace());
            end.map_or(rest, |end| rest.split_at(end).0).contains('@')
        })
        || value.starts_with("() {")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_names_pass() {
        for name in [
            "HOME",
            "USER",
            "LOGNAME",
            "LANG",
            "LC_ALL",
            "TERM",
            "TZ",
            "SHELL",
            "CARGO_HOME",
            "RUSTUP_HOME",
            "GOPATH",
            "JAVA_HOME",
            "EDITOR",
            "COLORTERM",
            "GIT_AUTHOR_NAME",
            "GIT_COMMITTER_EMAIL",
            "VIRTUAL_ENV",
            "NVM_DIR",
            "npm_config_cache",
            "CC",
            "MAKEFLAGS",
            "PYENV_ROOT",
            "XDG_CACHE_HOME",
            "DISPLAY",
            "http_proxy",
        ] {
            assert!(passes(name, "/some/value"), "{name}");
        }
    }

    #[test]
    fn secret_names_do_not_pass_in_any_case() {
        for name in [
            "API_KEY",
            "OPENAI_API_KEY",
            "openai_organization",
            "ANTHROPIC_BASE_URL",
            "AWS_PROFILE",
            "GITHUB_ACTOR",
            "GH_HOST",
            "CARGO_REGISTRY_TOKEN",
            "LAB_SECRET",
            "DB_PASSWORD",
            "MYSQL_PWD",
            "PGPASSFILE_PASS",
            "PGPASSWORD",
            "MY_PAT",
            "SENTRY_DSN",
            "DATABASE_URL",
            "SSH_AUTH_SOCK",
            "DOCKER_AUTH_CONFIG",
            "SESSION_COOKIE",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "npm_config__authToken",
            "SIGNING_PRIVATE",
            "JWT",
            "Passwd",
            "XAUTHORITY",
        ] {
            assert!(!passes(name, "x"), "{name}");
        }
    }

    #[test]
    fn names_that_act_or_are_ours_do_not_pass() {
        for name in [
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "DYLD_INSERT_LIBRARIES",
            "BASH_ENV",
            "ENV",
            "BASH_FUNC_ls%%",
            "PROMPT_COMMAND",
            "GIT_SSH_COMMAND",
            "GIT_CONFIG_COUNT",
            "GIT_DIR",
            "NODE_OPTIONS",
            "PYTHONPATH",
            "PERL5OPT",
            "TOLLGATE_CONFIG",
            "OPENCODE_CONFIG",
            "KILO_SERVER_PASSWORD",
            "GPG_AGENT_INFO",
            "DBUS_SESSION_BUS_ADDRESS",
            "PATH",
            "TMPDIR",
            "PWD",
            "SHELLOPTS",
            "IFS",
        ] {
            assert!(!passes(name, "x"), "{name}");
        }
    }

    #[test]
    fn values_that_hold_a_secret_do_not_pass_under_any_name() {
        for (value, is_passed) in [
            ("postgres://u:p@host/db", false),
            ("https://abcdef@host", false),
            ("a b https://u:p@h?x", false),
            ("https://host/path@2x.png", true),
            ("https://host?to=me@example.org", true),
            ("me@example.org", true),
            ("-----BEGIN PRIVATE KEY-----", false),
            ("ghp_0123", false),
            (" sk-0123", false),
            ("skull", true),
            ("() { :; }; echo", false),
        ] {
            assert_eq!(passes("PLAIN", value), is_passed, "{value}");
        }
    }

    #[test]
    fn a_child_has_one_path_and_one_temporary_directory() {
        let parent = [("PATH", "/old"), ("TMPDIR", "/old"), ("HOME", "/h")]
            .map(|(n, v)| (n.into(), v.into()));
        let got = of_child(&parent, OsStr::new("/bin"), OsStr::new("/t"));
        let want =
            [("HOME", "/h"), ("PATH", "/bin"), ("TMPDIR", "/t")].map(|(n, v)| (n.into(), v.into()));
        assert_eq!(got, want);
    }
}
