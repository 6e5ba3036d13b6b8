//! That everyday tools work behind the walls.
//! Must not need anything that is not on a developer's machine: bash, python3, git.

use crate::kit::{Room, succeed};

#[test]
fn bash_has_heredocs_substitutions_and_temporary_files() {
    let room = Room::new();
    let script = "cat <<E\nhere\nE\ncat <(echo process) <<< string -; f=$(mktemp) && echo temp > $f && cat $f; seq 3 | sort -rn | tr '\\n' ' '";
    assert_eq!(
        succeed(&room.bash(script)),
        "here\nprocess\nstring\ntemp\n3 2 1 "
    );
}

#[test]
fn python_runs_with_subprocesses_and_temporary_files() {
    let room = Room::new();
    let script = "import subprocess, tempfile, json\nwith tempfile.NamedTemporaryFile() as f: f.write(b'x')\nprint(subprocess.check_output(['echo', 'hi'], text=True), end='')";
    assert_eq!(succeed(&room.python(script)), "hi\n");
}

#[test]
fn git_makes_a_repository_and_a_commit() {
    let room = Room::new();
    let script = "git init -q . && git config user.email a@b && git config user.name a && echo x > f && git add f && \
        git commit -qm first && git log --format=%s && git status --porcelain && git clone -q . clone && ls clone";
    assert_eq!(succeed(&room.bash(script)), "first\nf\n");
}

#[test]
fn a_program_built_inside_can_be_executed() {
    let room = Room::new();
    assert_eq!(
        succeed(&room.bash("printf '#!/bin/sh\\necho built\\n' > x && chmod +x x && ./x")),
        "built\n"
    );
}
