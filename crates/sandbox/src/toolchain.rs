//! The directories every command may read: the system's, and the toolchains of a home directory.
//! Must not list anything that commonly holds a secret.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Where Unix systems keep programs, libraries, settings and the kernel's own files.
const SYSTEM: &[&str] = &[
    "/bin",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/opt",
    "/proc",
    "/sbin",
    "/sys",
    "/usr",
];

/// For each tool, its directory in the home directory and what in there is programs and packages.
/// Settings and credentials (`~/.npmrc`, `~/.cargo/credentials.toml`, `~/.m2/settings.xml`) stay out.
const TOOLCHAINS: &[(&str, &[&str])] = &[
    (".asdf", &["bin", "installs", "lib", "plugins", "shims"]),
    (".bun", &["bin", "install/cache", "install/global"]),
    (".cargo", &["bin", "env", "git", "registry"]),
    (".deno", &["bin"]),
    (
        ".local",
        &[
            "bin",
            "lib",
            "share/mise/installs",
            "share/mise/shims",
            "share/pipx",
            "share/pnpm",
            "share/uv",
        ],
    ),
    (".m2", &["repository", "wrapper"]),
    (".npm", &["_cacache"]),
    (".nvm", &["alias", "nvm.sh", "versions"]),
    (
        ".pyenv",
        &[
            "bin", "libexec", "plugins", "pyenv.d", "shims", "version", "versions",
        ],
    ),
    (
        ".rbenv",
        &["bin", "libexec", "plugins", "shims", "version", "versions"],
    ),
    (".rustup", &["settings.toml", "toolchains", "update-hashes"]),
    (".sdkman", &["candidates"]),
    (".volta", &["bin", "tools"]),
    ("go", &["bin", "pkg"]),
];

/// The system directories that exist here, free of symbolic links and without those below another.
/// The devices every program expects (`/dev/null` and the like) are always open and not listed.
/// Terminals are not among them: whoever may open one can read what a person types there.
pub fn system_readable() -> Vec<PathBuf> {
    let real: BTreeSet<PathBuf> = SYSTEM
        .iter()
        .filter_map(|path| fs::canonicalize(path).ok())
        .collect();
    real.iter()
        .filter(|path| !path.ancestors().skip(1).any(|above| real.contains(above)))
        .cloned()
        .collect()
}

/// The toolchains and package caches that exist below `home`, free of symbolic links.
///
/// A tool's own directory may be a link (people move `~/.rustup` to another disk); what lies inside may not,
/// or a link planted in a package cache could open anything.
/// Cargo's settings are listed only if they hold no token.
pub fn toolchain_readable(home: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for (tool, parts) in TOOLCHAINS {
        let Ok(root) = fs::canonicalize(home.join(tool)) else {
            continue;
        };
        found.extend(
            parts
                .iter()
                .map(|part| root.join(part))
                .filter(|path| is_real(path)),
        );
        if *tool == ".cargo" {
            found.extend(
                ["config", "config.toml"]
                    .map(|name| root.join(name))
                    .into_iter()
                    .filter(|path| is_free_of_tokens(path)),
            );
        }
    }
    found
}

/// The tools' own directories in `home` that are symbolic links: [`toolchain_readable`] lists what they lead to.
pub fn toolchain_links(home: &Path) -> Vec<PathBuf> {
    TOOLCHAINS
        .iter()
        .map(|(tool, _)| home.join(tool))
        .filter(|path| path.is_symlink())
        .collect()
}

/// Whether a path exists and reaches its place without a symbolic link.
fn is_real(path: &Path) -> bool {
    fs::canonicalize(path).is_ok_and(|real| real == path)
}

fn is_free_of_tokens(path: &Path) -> bool {
    let text = fs::read_to_string(path).unwrap_or_else(|_| String::from("token"));
    is_real(path)
        && !["token", "secret", "password"]
            .iter()
            .any(|word| text.to_lowercase().contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn toolchains_are_listed_but_not_credentials_nor_planted_links() {
        let home = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(home.path()).unwrap();
        let cargo = home.join(".cargo");
        fs::create_dir_all(cargo.join("bin")).unwrap();
        fs::create_dir_all(home.join(".ssh")).unwrap();
        fs::write(cargo.join("credentials.toml"), "x").unwrap();
        fs::write(cargo.join("config.toml"), "[net]\noffline = true\n").unwrap();
        fs::write(home.join(".npmrc"), "x").unwrap();
        std::os::unix::fs::symlink(home.join(".ssh"), cargo.join("registry")).unwrap();
        assert_eq!(
            toolchain_readable(&home),
            [cargo.join("bin"), cargo.join("config.toml")]
        );
        fs::write(cargo.join("config.toml"), "[registry]\nToken = \"x\"\n").unwrap();
        assert_eq!(toolchain_readable(&home), [cargo.join("bin")]);
    }

    #[cfg(unix)]
    #[test]
    fn system_directories_are_real_and_not_nested() {
        let system = system_readable();
        assert!(system.contains(&PathBuf::from("/usr")));
        assert!(system.iter().all(|path| is_real(path)));
        assert!(!system.iter().any(|path| path.starts_with("/home")
            || path.starts_with("/root")
            || path.starts_with("/dev")));
    }
}
