//! Manifests against layers.toml: who depends on whom, and whether a crate that may not touch the
//! machine still says so. It resolves nothing and reaches no network.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::Findings;

/// layers.toml; its own head says what the keys mean.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Layers {
    testing: Testing,
    layer: BTreeMap<String, Layer>,
    #[serde(rename = "crate")]
    crates: BTreeMap<String, Allowed>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Testing {
    ours: BTreeSet<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Layer {
    clippy: Option<PathBuf>,
    attributes: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Allowed {
    #[serde(default)]
    layers: Vec<String>,
    #[serde(default)]
    own_lints: bool,
    ours: BTreeSet<String>,
    outside: Option<BTreeSet<String>>,
}

/// The part of `cargo metadata` that is looked at.
#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Debug, Deserialize)]
struct Package {
    name: String,
    manifest_path: PathBuf,
    dependencies: Vec<Dependency>,
    targets: Vec<Target>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    name: String,
    kind: Option<String>,
    path: Option<PathBuf>,
}

#[derive(Debug, Deserialize)]
struct Target {
    kind: Vec<String>,
}

/// Checks every member of the workspace at `root`.
pub(super) fn check(root: &Path, findings: &mut Findings) -> Result<()> {
    let layers = fs::read_to_string(root.join("layers.toml")).context("cannot read layers.toml")?;
    let layers: Layers = toml::from_str(&layers).context("in layers.toml")?;
    let packages = metadata(root)?.packages;
    let present: BTreeSet<&str> = packages.iter().map(short_name).collect();
    for name in layers
        .crates
        .keys()
        .filter(|name| !present.contains(name.as_str()))
    {
        findings.fault(format!("layers.toml: no crate `{name}` in the workspace"));
    }
    for package in &packages {
        let name = short_name(package);
        let Some(allowed) = layers.crates.get(name) else {
            findings.fault(format!("{name}: not in layers.toml"));
            continue;
        };
        check_edges(name, package, allowed, &layers.testing, findings);
        check_lints(name, package, allowed, findings)?;
        let folder = package.manifest_path.parent().unwrap_or(root);
        if allowed.layers.is_empty() && folder != root && folder.join("clippy.toml").exists() {
            findings.fault(format!(
                "{name}: its own clippy.toml hides the one at the root"
            ));
        }
        for layer in &allowed.layers {
            match layers.layer.get(layer) {
                Some(layer) => check_layer(root, name, package, layer, findings)?,
                None => findings.fault(format!("layers.toml: {name}: no layer `{layer}`")),
            }
        }
    }
    Ok(())
}

fn metadata(root: &Path) -> Result<Metadata> {
    let output = Command::new(crate::check::cargo())
        .args([
            "metadata",
            "--format-version",
            "1",
            "--no-deps",
            "--offline",
        ])
        .current_dir(root)
        .output()
        .context("cannot run cargo metadata")?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "cargo metadata: {errors}");
    serde_json::from_slice(&output.stdout).context("cannot understand cargo metadata")
}

/// Folder and package differ by our prefix only.
fn short_name(package: &Package) -> &str {
    let name = package.name.as_str();
    name.strip_prefix("tollgate-").unwrap_or(name)
}

fn check_edges(
    name: &str,
    package: &Package,
    allowed: &Allowed,
    testing: &Testing,
    findings: &mut Findings,
) {
    for dependency in &package.dependencies {
        let other = dependency.name.as_str();
        let is_for_tests = dependency.kind.as_deref() == Some("dev");
        if dependency.path.is_some() {
            let other = other.strip_prefix("tollgate-").unwrap_or(other);
            let may_test = is_for_tests && testing.ours.contains(other);
            if !allowed.ours.contains(other) && !may_test {
                findings.fault(format!(
                    "{name}: may not depend on our `{other}` (layers.toml)"
                ));
            }
            continue;
        }
        let is_listed = allowed
            .outside
            .as_ref()
            .is_none_or(|names| names.contains(other));
        if !is_listed && !is_for_tests {
            findings.fault(format!(
                "{name}: may not depend on outside `{other}` (layers.toml)"
            ));
        }
    }
}

fn check_lints(
    name: &str,
    package: &Package,
    allowed: &Allowed,
    findings: &mut Findings,
) -> Result<()> {
    if allowed.own_lints {
        return Ok(());
    }
    let manifest: toml::Table = toml::from_str(&fs::read_to_string(&package.manifest_path)?)?;
    let shared = manifest
        .get("lints")
        .and_then(|lints| lints.get("workspace"));
    if shared.and_then(toml::Value::as_bool) != Some(true) {
        findings.fault(format!(
            "{name}: its manifest lacks `lints.workspace = true`"
        ));
    }
    Ok(())
}

/// The lines a layer wants in lib.rs, and, where it has a clippy.toml, that very file and no code
/// that runs while the crate is built. The lines forbid what that file lists, and nothing further
/// in lifts a `forbid`.
fn check_layer(
    root: &Path,
    name: &str,
    package: &Package,
    layer: &Layer,
    findings: &mut Findings,
) -> Result<()> {
    let folder = package.manifest_path.parent().unwrap_or(root);
    let lib = fs::read_to_string(folder.join("src/lib.rs")).unwrap_or_default();
    for attribute in &layer.attributes {
        if !lib.lines().any(|line| line == attribute) {
            findings.fault(format!("{name}: src/lib.rs lacks the line `{attribute}`"));
        }
    }
    let Some(pattern) = &layer.clippy else {
        return Ok(());
    };
    let wanted = fs::read_to_string(root.join(pattern)).context("a layer's clippy.toml")?;
    let found = fs::read_to_string(folder.join("clippy.toml")).unwrap_or_default();
    if wanted != found {
        let pattern = pattern.display();
        findings.fault(format!(
            "{name}: its clippy.toml is not a copy of {pattern}"
        ));
    }
    for kind in package.targets.iter().flat_map(|target| &target.kind) {
        if !["lib", "test", "example", "bench"].contains(&kind.as_str()) {
            findings.fault(format!(
                "{name}: a `{kind}` target has no place in a pure crate"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYERS: &str = r#"
        [testing]
        ours = ["kit"]
        [layer.pure]
        clippy = "pure.toml"
        attributes = ["one line"]
        [crate.kit]
        ours = []
        [crate.host]
        ours = []
        [crate.tool]
        layers = ["pure"]
        ours = []
        outside = ["serde"]
    "#;

    /// Faults of a workspace with the crates kit, host and tool; `manifest` is the tail of the
    /// manifest of tool, `files` replaces files of the workspace.
    fn faults(manifest: &str, files: &[(&str, &str)]) -> Vec<String> {
        let root = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put(
            "Cargo.toml",
            "[workspace]\nmembers = [\"*\"]\nexclude = [\"target\"]\nresolver = \"3\"\n[workspace.lints.rust]\n",
        );
        put("layers.toml", LAYERS);
        put("pure.toml", "# pure");
        for (name, tail) in [("kit", ""), ("host", ""), ("tool", manifest)] {
            let head = "version = \"0.1.0\"\n[lints]\nworkspace = true\n";
            let package = format!("[package]\nname = \"tollgate-{name}\"\n{head}{tail}\n");
            put(&format!("{name}/Cargo.toml"), &package);
            put(&format!("{name}/src/lib.rs"), "one line\n");
        }
        put("tool/clippy.toml", "# pure");
        for (name, text) in files {
            put(name, text);
        }
        let mut findings = Findings::default();
        check(root.path(), &mut findings).unwrap();
        findings.faults
    }

    const HOST: &str = "host = { package = \"tollgate-host\", path = \"../host\" }";
    const KIT: &str = "kit = { package = \"tollgate-kit\", path = \"../kit\" }";

    #[test]
    fn listed_edges_and_test_edges_pass() {
        let tail =
            format!("[dependencies]\nserde = \"1\"\n[dev-dependencies]\nlibc = \"1\"\n{KIT}");
        assert_eq!(faults(&tail, &[]), [""; 0]);
    }

    #[test]
    fn edges_that_are_not_listed_are_all_refused() {
        let tail = format!(
            "[dependencies]\nlibc = \"1\"\n{KIT}\n[build-dependencies]\ncc = \"1\"\n\
             [target.'cfg(unix)'.dependencies]\nrustix = \"1\"\n[dev-dependencies]\n{HOST}"
        );
        let found = faults(&tail, &[]).join("\n");
        for part in [
            "our `kit`",
            "our `host`",
            "outside `libc`",
            "outside `cc`",
            "outside `rustix`",
        ] {
            assert!(found.contains(part), "{part}: {found}");
        }
    }

    #[test]
    fn a_renamed_crate_is_known_by_its_own_name() {
        let tail = "[dependencies]\nserde = { package = \"libc\", version = \"1\" }";
        assert!(faults(tail, &[])[0].contains("outside `libc`"));
    }

    #[test]
    fn a_pure_crate_keeps_its_lines_its_clippy_file_and_no_build_script() {
        let files = [
            ("tool/src/lib.rs", "// one line\n"),
            ("tool/clippy.toml", "# pure, nearly"),
            ("tool/build.rs", ""),
        ];
        let found = faults("", &files);
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].contains("lacks the line `one line`"));
        assert!(found[1].contains("is not a copy of pure.toml"));
        assert!(found[2].contains("a `custom-build` target"));
    }

    #[test]
    fn a_crate_with_lints_of_its_own_or_without_a_line_is_refused() {
        let plain = "[package]\nname = \"tollgate-host\"\n";
        let stray = "[package]\nname = \"tollgate-stray\"\n";
        let files = [
            ("host/Cargo.toml", plain),
            ("stray/Cargo.toml", stray),
            ("stray/src/lib.rs", ""),
            ("kit/clippy.toml", ""),
        ];
        let found = faults("", &files).join("\n");
        assert!(found.contains("host: its manifest lacks"), "{found}");
        assert!(found.contains("stray: not in layers.toml"), "{found}");
        assert!(found.contains("kit: its own clippy.toml"), "{found}");
    }

    #[test]
    fn a_line_for_a_crate_that_is_gone_is_refused() {
        let layers = format!("{LAYERS}\n[crate.gone]\nours = []");
        let found = faults("", &[("layers.toml", &layers)]);
        assert_eq!(found, ["layers.toml: no crate `gone` in the workspace"]);
    }
}
