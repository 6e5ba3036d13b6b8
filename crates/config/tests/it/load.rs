//! Files that cannot be read at all. Must not need a special machine or user.

use std::{fs, path::Path};

use tempfile::TempDir;
use tollgate_config::{ConfigError, FILE_BYTES_MAX, load};

fn written(bytes: &[u8]) -> Result<usize, String> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("c.jsonc");
    fs::write(&path, bytes).unwrap();
    reason(&path)
}

/// How many rules were read, or why none.
fn reason(path: &Path) -> Result<usize, String> {
    match load(path, None) {
        Ok(config) => Ok(config.rules.len()),
        Err(ConfigError::Unreadable { label, reason, .. }) => {
            assert_eq!(label, path.display().to_string());
            Err(reason)
        }
        Err(other) => Err(other.to_string()),
    }
}

#[test]
fn a_file_is_read_and_its_rules_name_it_as_it_was_named() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("c.jsonc");
    fs::write(&path, r#"{"permission": {"read": "ask"}}"#).unwrap();
    let config = load(&path, None).unwrap();
    assert_eq!(&*config.rules[0].origin.source, path.to_str().unwrap());
}

#[test]
fn a_missing_file_is_an_error() {
    let folder = TempDir::new().unwrap();
    let reason = reason(&folder.path().join("none.jsonc")).unwrap_err();
    assert!(
        reason.contains("No such file") || reason.contains("cannot find"),
        "{reason}"
    );
}

#[test]
fn a_directory_is_an_error() {
    let folder = TempDir::new().unwrap();
    assert_eq!(reason(folder.path()), Err("it is a directory".to_owned()));
}

#[cfg(unix)]
#[test]
fn a_device_is_an_error() {
    let reason = reason(Path::new("/dev/zero"));
    assert_eq!(reason, Err("it is not a regular file".to_owned()));
}

#[cfg(unix)]
#[test]
fn a_pipe_is_an_error_and_is_not_waited_for() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo")
        .arg(&path)
        .status()
        .unwrap();
    assert!(made.success());
    assert_eq!(reason(&path), Err("it is not a regular file".to_owned()));
}

#[test]
fn a_file_that_is_too_large_is_an_error() {
    let size = usize::try_from(FILE_BYTES_MAX).unwrap();
    let mut text = br#"{"permission": "ask"}"#.to_vec();
    text.resize(size, b' ');
    assert_eq!(written(&text), Ok(1));
    text.push(b' ');
    assert_eq!(
        written(&text),
        Err("it is larger than 1048576 bytes".to_owned())
    );
}

#[test]
fn text_that_is_not_utf_8_is_an_error() {
    assert_eq!(
        written(b"{\"permission\": {\"read\": \"d\xe9ny\"}}"),
        Err("byte 26 is not UTF-8 text".to_owned())
    );
    assert_eq!(
        written(b"\xff\xfe{\0"),
        Err("byte 0 is not UTF-8 text".to_owned())
    );
}

#[test]
fn an_empty_file_is_an_error() {
    for text in ["", " \n", "// nothing yet\n"] {
        let error = written(text.as_bytes()).unwrap_err();
        assert!(error.ends_with("has a fault"), "{text:?}: {error}");
    }
}
