//! How grave a command is taken to be, and what stands at the end of a command that is not known. It must not
//! judge a rule.

use crate::command::{Class, Simple};
use crate::read;

/// The gravest of what a line runs.
fn class(text: &str) -> Class {
    let line = read(text);
    let classes = line.commands.iter().map(|it| it.class);
    classes.max().unwrap_or(Class::ReadOnly)
}

/// Ordinary work whose words look like graver work.
const ORDINARY: &[&str] = &[
    "npm run build",
    "npm run build:release",
    "npm run test:publish",
    "npm run start -- --release",
    "npm test -- deploy",
    "yarn dev",
    "yarn next build",
    "yarn expo start",
    "yarn add release-it",
    "pnpm add vercel netlify-cli",
    "pnpm exec playwright test",
    "npx prisma generate",
    "npx prisma migrate dev --name drop_users",
    "npx typeorm migration:create DropUsers",
    "alembic upgrade head",
    "alembic revision --autogenerate -m drop_users",
    "alembic revision -m 'drop users'",
    "python manage.py migrate",
    "python manage.py runserver",
    "python manage.py makemigrations",
    "php artisan migrate",
    "php artisan cache:clear",
    "php artisan make:migration drop_users_table",
    "rails db:migrate",
    "rails g migration DropUsers",
    "bin/rails db:seed",
    "bundle exec rake spec",
    "mix ecto.migrate",
    "./gradlew assembleRelease",
    "./gradlew :app:bundleRelease",
    "./gradlew publishToMavenLocal",
    "./gradlew clean build",
    "mvn clean install",
    "mvn -q -pl db clean verify",
    "make clean",
    "make -j4 build",
    "make RELEASE=1",
    "just test",
    "task build",
    "nx test api",
    "turbo run build",
    "cargo run -- deploy",
    "cargo run --release",
    "cargo release",
    "cargo watch -x test",
    "bazel test //x:push_test",
    "dotnet build",
    "dotnet publish -c Release -o out",
    "dart pub get",
    "flutter run --release",
    "composer install",
    "git reset",
    "git reset HEAD",
    "git reset HEAD src/a.rs",
    "git reset -q HEAD -- a.rs",
    "git reset src/a.rs",
    "git reset --soft HEAD",
    "git pull --rebase",
    "git fetch --prune",
    "git branch -d done",
    "git stash pop",
    "git rebase --continue",
    "git merge --continue",
    "git cherry-pick --continue",
    "git remote add upstream https://example.com/r.git",
    "git tag v1",
    "git worktree add ../x",
    "git bisect start",
    "curl -X POST http://localhost:3000/api -d '{}'",
    "curl -s -X DELETE http://127.0.0.1:8080/x",
    "curl --json '{}' 'http://[::1]:80/'",
    "ansible --version",
    "aws --version",
    "docker compose down",
    "docker run --rm node:20 npm test",
    "podman ps -a",
    "kubectl get pods",
    "k get pods",
    "oc get pods",
    "tofu plan",
    "terragrunt run-all plan",
    "jj log",
    "jj commit -m 'rm what is old'",
    "hg status",
    "svn status",
    "svn update",
    "./run.sh test unit http",
    "./scripts/check.sh --fix",
    "my-tool commit -m 'git push later'",
    "my-tool --title 'rm -rf nothing'",
    "rm -f *.log",
    "rm -f /tmp/x*",
    "rm a b c",
    "sort -o out.txt in.txt",
    "pipx install twine httpie",
    "uv tool install twine",
    "gpg --verify a.sig",
    "pass show x",
    "vagrant up",
    "wsl --list",
    "ssh-add -l",
    "7z x a.7z",
    "influx query x",
    "redis-cli GET x",
];

#[test]
fn ordinary_work_is_no_graver_for_a_word_in_it() {
    let grave = ORDINARY.iter().filter(|text| class(text) > Class::Ordinary);
    let grave: Vec<String> = grave
        .map(|text| format!("{text}: {:?}", class(text)))
        .collect();
    assert_eq!(grave, [""; 0]);
}

#[test]
fn what_is_sent_elsewhere_too_is_published() {
    for text in [
        "curl -X POST https://example.com/ -d x",
        "curl -d x http://localhost/ https://example.com/",
        "curl -d x -x proxy.example.com:80 http://localhost/",
        "curl -d x \"http://$HOST/\"",
        "curl -d x http://localhost.example.com/",
        "curl -d x http://127.0.0.1.example.com/",
    ] {
        assert_eq!(class(text), Class::Publish, "{text}");
    }
}

#[test]
fn a_remote_that_is_only_noted_reaches_no_machine() {
    let hosts = |text: &str| read(text).hosts.len();
    assert_eq!(hosts("git remote add up https://example.com/r.git"), 0);
    assert_eq!(hosts("git remote add -f up https://example.com/r.git"), 1);
    for text in [
        "git remote add up 'ext::sh -c x'",
        "git remote add up \"$URL\"",
    ] {
        assert!(read(text).commands[0].opaque.is_some(), "{text}");
    }
}

#[test]
fn each_end_of_an_unknown_command_is_a_spelling_of_it() {
    let cases: &[(&str, &[&str])] = &[
        ("retry -n 3 git push", &["git push"]),
        ("retry 3 /usr/bin/git -C . push", &["git push"]),
        ("./with-env.sh git-push", &["git push"]),
        ("cargo no-such-command git push", &["git push"]),
        ("python3 retry.py git push", &["git push"]),
        ("python3 -m no.such git push", &["git push"]),
        ("npm run again -- git push", &["git push"]),
        ("retry 'git  push -f'", &["git push -f"]),
        ("retry --shell='git push'", &["git push"]),
        ("GIT push", &["git push"]),
        ("/mnt/c/Git.exe -C . push", &["git push"]),
    ];
    for (text, wanted) in cases {
        let others = read(text).commands[0].others();
        for wanted in *wanted {
            assert!(others.iter().any(|it| it == wanted), "{text}: {others:?}");
        }
    }
}

#[test]
fn a_command_that_is_known_has_no_ends() {
    for text in [
        "echo git push",
        "grep -rn 'git push' docs",
        "git commit -m 'git push'",
        "ls git push",
        "npm install git push",
        "rg rm src",
    ] {
        let others = read(text).commands[0].others();
        let is_end = |it: &String| it.starts_with("git push") || it.starts_with("rm ");
        assert!(!others.iter().any(is_end), "{text}: {others:?}");
    }
}

#[test]
fn an_end_that_runs_a_text_is_followed_and_only_may_run() {
    let line = read("retry sh -c 'git push'");
    let names: Vec<String> = line.commands.iter().map(Simple::canonical).collect();
    assert_eq!(
        names,
        ["retry sh -c 'git push'", "sh -c 'git push'", "git push"]
    );
    assert!(
        line.commands[1]
            .via
            .as_ref()
            .is_some_and(|via| via.is_named)
    );
    assert!(line.unknown.is_empty());
}

#[test]
fn more_ends_than_are_looked_at_cannot_be_told() {
    let of = |count: usize| format!("x {}", "y ".repeat(count));
    assert!(read(&of(16)).commands[0].opaque.is_none());
    assert!(read(&of(17)).commands[0].opaque.is_some());
    assert!(
        read(&format!("x {}", "src/a.rs 12 ".repeat(500))).commands[0]
            .opaque
            .is_none()
    );
    let long = format!("x y {}", "a.rs".repeat(10_000));
    assert!(read(&long).commands[0].opaque.is_some());
}

/// Ends of ends would be twice as many with each word.
#[test]
fn what_runs_a_text_behind_another_is_followed_once() {
    for text in [
        format!("x {}", "eval y ".repeat(14)),
        format!("x {}", "sh -c z ".repeat(14)),
        format!("x {}", "sudo y ".repeat(14)),
        format!("x {}", "watch y ".repeat(1_000)),
    ] {
        let line = read(&text);
        assert!(line.commands.len() <= 256, "{}", line.commands.len());
        let spelled: usize = line.commands.iter().map(|it| it.others().len()).sum();
        assert!(spelled <= 16_384, "{spelled}");
        assert!(line.commands[0].opaque.is_some() || !line.unknown.is_empty());
    }
}
