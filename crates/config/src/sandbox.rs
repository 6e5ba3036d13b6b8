//! What the key `sandbox` comes to: machines as rules name them, folders as paths, and how two such words
//! become one that is no looser than either. Must not build a wall, or decide.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use policy::{Action, Origin, Pattern, Rule};
use serde::{Deserialize, Serialize};

use crate::text::{Reference, Text, Unresolved};
use crate::{Network, Sandbox};

/// The port of a machine that is named without one.
const PORT: u16 = 443;

/// The permission for machines.
const NETWORK: &str = "network";

/// A machine that may be reached: an exact name, and one port.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct AllowedHost {
    name: String,
    port: u16,
}

/// What is no [`AllowedHost`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{}` is no exact name of a machine with an optional port, such as `api.example.com:443`",
    crate::error::visible(.0)
)]
pub struct NoHost(String);

/// What a session may reach and write beyond its workspace: the key `sandbox`, with references followed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bounds {
    /// Whether the network is open or closed as a whole; `None`: the rules are asked about each machine.
    pub network: Option<Network>,
    /// The machines that may be reached unasked. An open network needs none.
    pub hosts: BTreeSet<AllowedHost>,
    /// Folders outside the workspace that commands may write to, absolute.
    pub writable: BTreeSet<PathBuf>,
    /// Named openings. Their machines are among `hosts`.
    pub bundles: BTreeSet<String>,
    /// Whether git in commands runs the hooks that are there.
    pub has_git_hooks: bool,
}

/// What the key `sandbox` is read against, for who reads no environment and no disk.
pub trait Surroundings {
    /// What a reference stands for.
    fn look_up(&self, reference: &Reference) -> Option<String>;

    /// What `~` stands for.
    fn home(&self) -> Option<&Path>;

    /// The folder as commands would have it: its real path, or `None` if it is not there, and then opens
    /// nothing.
    ///
    /// # Errors
    /// It may not be opened; why not.
    fn folder(&self, path: &Path) -> Result<Option<PathBuf>, String>;

    /// The usual name of a bundle, and its machines.
    ///
    /// # Errors
    /// There is none of this name; which there are.
    fn bundle(&self, name: &str) -> Result<(String, Vec<String>), String>;
}

/// Why the key `sandbox` comes to nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BoundsError {
    /// A reference stands for nothing.
    #[error(transparent)]
    Unresolved(#[from] Unresolved),
    /// A machine is not named exactly.
    #[error("{origin}: {source}")]
    Host {
        /// Where it is written.
        origin: Origin,
        /// What is written.
        source: NoHost,
    },
    /// A folder is not named from the root or from home.
    #[error("{origin}: `{}` is no absolute path", crate::error::visible(path))]
    Path {
        /// Where it is written.
        origin: Origin,
        /// What is written.
        path: String,
    },
    /// A folder may not be opened.
    #[error("{origin}: {why}")]
    Folder {
        /// Where it is written.
        origin: Origin,
        /// Why not.
        why: String,
    },
    /// There is no bundle of this name.
    #[error("{origin}: {why}")]
    Bundle {
        /// Where it is written.
        origin: Origin,
        /// Which there are.
        why: String,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Snapshot {
    network: Option<String>,
    allowed_hosts: Vec<String>,
    writable_paths: Vec<String>,
    /// What was kept by a version without them had none.
    #[serde(default)]
    bundles: Vec<String>,
    #[serde(default)]
    git_hooks: bool,
}

impl AllowedHost {
    /// Reads `NAME` or `NAME:PORT`; names of other scripts as they go over the wire.
    ///
    /// # Errors
    /// A wildcard, an address, a URL, or no name at all.
    pub fn read(written: &str) -> Result<Self, NoHost> {
        let wrong = || NoHost(written.to_owned());
        let (name, port) = match written.split_once(':') {
            None => (written, PORT),
            Some((name, port)) => (name, read_port(port).ok_or_else(wrong)?),
        };
        let name = name.strip_suffix('.').unwrap_or(name);
        // What the standard would drop or replace is no exact name.
        if name.chars().any(|it| it.is_ascii() && !is_plain(it)) {
            return Err(wrong());
        }
        let name = idna::domain_to_ascii_strict(name).map_err(|_| wrong())?;
        if !is_name(&name) {
            return Err(wrong());
        }
        Ok(Self { name, port })
    }
}

fn read_port(text: &str) -> Option<u16> {
    let is_number = text.bytes().all(|it| it.is_ascii_digit());
    let port = text.parse().ok().filter(|it| *it > 0);
    port.filter(|_| is_number)
}

fn is_plain(it: char) -> bool {
    it.is_ascii_alphanumeric() || matches!(it, '-' | '.')
}

fn is_name(name: &str) -> bool {
    let is_label = |label: &str| {
        let is_inner = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-';
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(is_inner)
    };
    let is_number = |label: &str| {
        let digits = label.strip_prefix("0x").unwrap_or(label);
        digits.bytes().all(|it| it.is_ascii_hexdigit())
            && label.starts_with(|it: char| it.is_ascii_digit())
    };
    // A last label that is a number makes an address of it, in one spelling or another.
    let last = name.rsplit('.').next().unwrap_or_default();
    name.len() <= 253 && name.split('.').all(is_label) && !is_number(last)
}

/// `name:port`.
impl fmt::Display for AllowedHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.name, self.port)
    }
}

impl Sandbox {
    /// What it comes to.
    ///
    /// # Errors
    /// A reference stands for nothing, or what it stands for is no machine, folder or bundle.
    pub fn bounds(&self, around: &dyn Surroundings) -> Result<Bounds, BoundsError> {
        let resolve = |text: &Text| text.resolve(&|it| around.look_up(it));
        let mut bounds = Bounds {
            network: self.network,
            has_git_hooks: self.has_git_hooks == Some(true),
            ..Bounds::default()
        };
        let mut machines: Vec<(Origin, String)> = Vec::new();
        for text in self.allowed_hosts.iter().flatten() {
            machines.push((text.origin().clone(), resolve(text)?));
        }
        for text in self.bundles.iter().flatten() {
            let origin = text.origin().clone();
            let (name, hosts) =
                around
                    .bundle(&resolve(text)?)
                    .map_err(|why| BoundsError::Bundle {
                        origin: origin.clone(),
                        why,
                    })?;
            machines.extend(hosts.into_iter().map(|host| (origin.clone(), host)));
            bounds.bundles.insert(name);
        }
        if self.network != Some(Network::Allow) {
            for (origin, written) in machines {
                let host = AllowedHost::read(&written);
                let host = host.map_err(|source| BoundsError::Host { origin, source })?;
                bounds.hosts.insert(host);
            }
        }
        for text in self.writable_paths.iter().flatten() {
            let path = folder(text, resolve(text)?, around.home())?;
            let origin = text.origin().clone();
            let real = around.folder(&path);
            let real = real.map_err(|why| BoundsError::Folder { origin, why })?;
            bounds.writable.extend(real);
        }
        Ok(bounds)
    }
}

fn folder(text: &Text, written: String, home: Option<&Path>) -> Result<PathBuf, BoundsError> {
    let below_home = match written.as_str() {
        "~" => Some("."),
        other => other.strip_prefix("~/"),
    };
    let path = match (below_home, home) {
        (Some(rest), Some(home)) => home.join(rest).components().collect(),
        _ => PathBuf::from(&written),
    };
    if path.is_absolute() {
        return Ok(path);
    }
    Err(BoundsError::Path {
        origin: text.origin().clone(),
        path: written,
    })
}

impl Bounds {
    /// What both allow: of a session and what it starts, or of what a session began with and what is
    /// written since. Never looser than either.
    #[must_use]
    pub fn within(&self, other: &Self) -> Self {
        let network = match (self.network, other.network) {
            (Some(Network::Deny), _) | (_, Some(Network::Deny)) => Some(Network::Deny),
            (Some(Network::Allow), Some(Network::Allow)) => Some(Network::Allow),
            (None, _) | (_, None) => None,
        };
        let hosts = match (self.network, other.network) {
            (Some(Network::Allow), _) => other.hosts.clone(),
            (_, Some(Network::Allow)) => self.hosts.clone(),
            _ => self.hosts.intersection(&other.hosts).cloned().collect(),
        };
        let is_in = |path: &Path, of: &Self| of.writable.iter().any(|it| path.starts_with(it));
        let own = self.writable.iter().filter(|it| is_in(it, other));
        let others = other.writable.iter().filter(|it| is_in(it, self));
        Self {
            network,
            hosts,
            writable: own.chain(others).cloned().collect(),
            bundles: self.bundles.intersection(&other.bundles).cloned().collect(),
            has_git_hooks: self.has_git_hooks && other.has_git_hooks,
        }
    }

    /// As a text to keep with the session that begins with it.
    pub fn to_snapshot(&self) -> String {
        let network = self.network.map(|it| match it {
            Network::Allow => "allow".to_owned(),
            Network::Deny => "deny".to_owned(),
        });
        let path = |it: &PathBuf| it.to_string_lossy().into_owned();
        let snapshot = Snapshot {
            network,
            allowed_hosts: self.hosts.iter().map(ToString::to_string).collect(),
            writable_paths: self.writable.iter().map(path).collect(),
            bundles: self.bundles.iter().cloned().collect(),
            git_hooks: self.has_git_hooks,
        };
        serde_json::json!(snapshot).to_string()
    }

    /// Reads such a text again.
    ///
    /// # Errors
    /// It is not one. What the session began with is not known then, and nothing should be opened.
    pub fn from_snapshot(text: &str) -> Result<Self, String> {
        let read: Snapshot = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let network = match read.network.as_deref() {
            None => None,
            Some("allow") => Some(Network::Allow),
            Some("deny") => Some(Network::Deny),
            Some(other) => return Err(format!("`{}` is no network", crate::error::visible(other))),
        };
        let hosts = read.allowed_hosts.iter().map(|it| AllowedHost::read(it));
        let hosts: Result<_, NoHost> = hosts.collect();
        let writable = read.writable_paths.into_iter().map(PathBuf::from);
        Ok(Self {
            network,
            hosts: hosts.map_err(|error| error.to_string())?,
            writable: writable.filter(|it| it.is_absolute()).collect(),
            bundles: read.bundles.into_iter().collect(),
            has_git_hooks: read.git_hooks,
        })
    }

    /// The rules about machines that stand in front of a person's own.
    pub fn rules_before(&self) -> Vec<Rule> {
        match self.network {
            Some(Network::Allow) => vec![rule("*", Action::Allow)],
            Some(Network::Deny) => Vec::new(),
            None => self.host_rules(),
        }
    }

    /// Those that stand behind them: what closes the network is not opened by the way.
    pub fn rules_behind(&self) -> Vec<Rule> {
        if self.network != Some(Network::Deny) {
            return Vec::new();
        }
        let mut rules = vec![rule("*", Action::Deny)];
        rules.extend(self.host_rules());
        rules
    }

    fn host_rules(&self) -> Vec<Rule> {
        let mut rules = Vec::new();
        for host in &self.hosts {
            // A command's words may name no port. What is dialled always has one, and is asked about too.
            if host.port == PORT {
                rules.push(rule(&host.name, Action::Allow));
            }
            rules.push(rule(&host.to_string(), Action::Allow));
        }
        rules
    }
}

/// The rule of whoever closes the network.
pub(crate) fn closed_network(origin: Origin) -> Rule {
    Rule::new(NETWORK, Pattern::wildcard("*"), Action::Deny, origin)
}

fn rule(pattern: &str, action: Action) -> Rule {
    let origin = Origin::named("sandbox");
    Rule::new(NETWORK, Pattern::wildcard(pattern), action, origin)
}
