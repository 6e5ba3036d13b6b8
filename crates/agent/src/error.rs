//! Why an agent is not there, not started or not changed, in words for a person.
//! Must not decide which of these it is.

use std::fmt;

/// Why there is no such agent to start, or no such change to make.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AgentError {
    /// No agent has this name, or it is disabled.
    Unknown {
        /// The name.
        name: String,
        /// The names that a person may start.
        known: Vec<String>,
    },
    /// Only another agent may start it.
    Subagent {
        /// The name.
        name: String,
        /// The names that a person may start.
        known: Vec<String>,
    },
    /// It is hidden, so it cannot be the default.
    Hidden {
        /// The name.
        name: String,
    },
    /// A built-in read-only agent stays read-only.
    StaysReadonly {
        /// The name.
        name: String,
    },
    /// It is no agent for others to start: a person's, or one that cannot be started by name.
    NotForAgents {
        /// The name.
        name: String,
        /// The names that an agent may start.
        known: Vec<String>,
    },
    /// It is ours, and nobody starts it by name.
    System {
        /// The name.
        name: String,
    },
    /// A setting would open an agent of ours.
    OpensSystem {
        /// The name.
        name: String,
        /// The key of the setting.
        key: &'static str,
    },
    /// Agents have started agents as deep as they may.
    TooDeep {
        /// How many may stand below the first.
        depth_max: usize,
    },
    /// Every agent that a person may start is disabled or hidden.
    NoneLeft,
}

impl fmt::Display for AgentError {
    /// For a person; characters that could deceive a terminal are escaped.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, known } => {
                let name = name.escape_debug();
                write!(f, "there is no agent `{name}`; there are {}", Known(known))
            }
            Self::Subagent { name, known } => {
                let name = name.escape_debug();
                write!(
                    f,
                    "`{name}` is started by other agents only; there are {}",
                    Known(known)
                )
            }
            Self::Hidden { name } => {
                let name = name.escape_debug();
                write!(
                    f,
                    "the agent `{name}` is hidden, so it cannot be `default_agent`"
                )
            }
            Self::StaysReadonly { name } => write!(
                f,
                "the agent `{}` is read-only and stays so: make an agent of another name",
                name.escape_debug()
            ),
            Self::NotForAgents { name, known } => {
                let name = name.escape_debug();
                write!(
                    f,
                    "`{name}` is not for other agents to start; there are {}",
                    Known(known)
                )
            }
            Self::System { name } => {
                let name = name.escape_debug();
                write!(
                    f,
                    "`{name}` works for Tollgate itself and is not started by name"
                )
            }
            Self::OpensSystem { name, key } => {
                let name = name.escape_debug();
                write!(
                    f,
                    "`agent.{name}.{key}` would open an agent that works for Tollgate itself: it stays \
                     closed"
                )
            }
            Self::TooDeep { depth_max } => {
                write!(
                    f,
                    "agents may start agents {depth_max} deep, and this is one more"
                )
            }
            Self::NoneLeft => f.write_str("every agent that you could start is disabled or hidden"),
        }
    }
}

impl std::error::Error for AgentError {}

/// Names in a sentence.
struct Known<'a>(&'a [String]);

impl fmt::Display for Known<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(names) = self;
        let names: Vec<_> = names
            .iter()
            .map(|name| name.escape_debug().to_string())
            .collect();
        f.write_str(&names.join(", "))
    }
}
