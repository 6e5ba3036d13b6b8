//! The control plane: what is Tollgate's own is neither read nor changed through a tool, whatever the
//! rules say.
//!
//! Must not: know where it lies.

use crate::pattern::Pattern;
use crate::rule::{Action, Origin, Rule};

/// Something of Tollgate's own, by an absolute path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Own {
    /// A folder with all that lies in it, now or later.
    Folder(String),
    /// One file.
    File(String),
}

/// Hard rules that put these out of reach. A thing with several spellings is given once for each.
pub fn control_plane(owned: &[Own]) -> Vec<Rule> {
    let patterns = owned.iter().flat_map(|own| match own {
        Own::Folder(path) => {
            let path = path.trim_end_matches('/');
            vec![
                Pattern::exact(path),
                Pattern::wildcard(&format!("{path}/*")),
            ]
        }
        Own::File(path) => vec![Pattern::exact(path)],
    });
    let rules = |pattern: Pattern| {
        let origin = Origin::named("Tollgate's own");
        let rule =
            move |name: &&str| Rule::new(*name, pattern.clone(), Action::Deny, origin.clone());
        ["read", "edit"].iter().map(rule)
    };
    patterns.flat_map(rules).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_owned_is_out_of_reach_with_all_that_lies_in_it() {
        let owned = [
            Own::Folder("/c/tollgate/".into()),
            Own::File("/c/key".into()),
        ];
        let is_denied = |rules: &[Rule], permission: &str, path: &str| {
            rules
                .iter()
                .any(|rule| rule.permission == permission && rule.pattern.matches(path))
        };
        let rules = control_plane(&owned);
        assert!(rules.iter().all(|rule| rule.action == Action::Deny));
        for path in ["/c/tollgate", "/c/tollgate/a/b", "/c/key"] {
            for permission in ["read", "edit"] {
                assert!(is_denied(&rules, permission, path), "{permission} {path}");
            }
        }
        for path in ["/c/tollgates", "/c/key/x", "/c"] {
            assert!(!is_denied(&rules, "read", path), "{path}");
        }
    }
}
