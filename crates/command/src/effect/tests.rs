//! What single commands do, as tables. It must not test how shell text is read.

use super::*;
use crate::line::{TouchedPath, WordKind};

/// Splits at blanks and takes quotes away; `$` outside of single quotes makes a word dynamic, `*` outside
/// of quotes a glob.
fn words(line: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut open: Option<Word> = None;
    let mut quote: Option<char> = None;
    for (at, c) in line.char_indices() {
        match (c, quote) {
            (' ', None) => words.extend(open.take()),
            ('\'' | '"', None) => {
                open.get_or_insert_with(|| Word::literal("", at..at));
                quote = Some(c);
            }
            (c, Some(wanted)) if c == wanted => quote = None,
            _ => {
                let word = open.get_or_insert_with(|| Word::literal("", at..at));
                word.text.push(c);
                word.range.end = at + c.len_utf8();
                if c == '$' && quote != Some('\'') {
                    word.kind = WordKind::Dynamic;
                    word.is_single = quote.is_some();
                }
                if "*?[".contains(c)
                    && quote.is_none()
                    && word.kind == WordKind::Literal
                    && word.text != "["
                {
                    word.kind = WordKind::Glob;
                }
            }
        }
    }
    words.extend(open);
    words
}

fn effects(line: &str) -> Effects {
    of(&words(line), &Directory::Known("/p".into()))
}

fn is_read_only(effects: &Effects) -> bool {
    effects.class == Class::ReadOnly
        && effects.opaque.is_none()
        && effects.hosts.is_empty()
        && effects
            .touches
            .iter()
            .all(|touch| touch.mode != Mode::Write)
}

/// Touches as `r /p/a`, uncertain ones with a `?` behind, hosts as `h name`, sorted.
fn reached(effects: &Effects) -> String {
    let touches = effects.touches.iter().map(|touch| {
        let mode = match touch.mode {
            Mode::Look => 'l',
            Mode::Read => 'r',
            Mode::Write => 'w',
        };
        let path = match &touch.path {
            TouchedPath::Exact(path) => path.clone(),
            TouchedPath::Below { pattern, .. } => pattern.clone(),
            TouchedPath::Unknown(_) => "unknown".to_owned(),
        };
        format!("{mode} {path}{}", if touch.is_certain { "" } else { "?" })
    });
    let hosts = effects
        .hosts
        .iter()
        .map(|host| format!("h {}{}", host.name, if host.is_known { "" } else { "?" }));
    let mut all: Vec<String> = touches.chain(hosts).collect();
    all.sort();
    all.join(", ")
}

/// What runs inside, words joined by blanks and texts in brackets.
fn inner(effects: &Effects) -> String {
    let all = effects.inner.iter().map(|inner| match inner {
        Inner::Words {
            words,
            extra_operands,
            at,
            assignments,
            ..
        } => {
            let mut shown: Vec<&str> = assignments.iter().map(|word| word.text.as_str()).collect();
            shown.extend(words.iter().map(|word| word.text.as_str()));
            let at = at
                .as_ref()
                .map_or(String::new(), |at| format!(" @{}", at.text));
            format!(
                "{}{}{at}",
                shown.join(" "),
                if *extra_operands { " ..." } else { "" }
            )
        }
        Inner::Script { text, is_exact, .. } => {
            format!("[{text}]{}", if *is_exact { "" } else { "?" })
        }
        Inner::Unknown { why, .. } => why.clone(),
    });
    all.collect::<Vec<_>>().join(" | ")
}

fn rows(file: &'static str) -> Vec<Vec<&'static str>> {
    file.lines()
        .skip(1)
        .map(|row| row.split('\t').collect())
        .collect()
}

/// The rows of `spec/shell/readonly.tsv` are single commands.
#[test]
fn a_command_is_read_only_exactly_where_the_table_says_so() {
    let rows = rows(include_str!("../../../../spec/shell/readonly.tsv"));
    assert!(rows.len() >= 200, "{}", rows.len());
    let mut wrong = Vec::new();
    for row in rows {
        let [line, expected, why] = row.as_slice() else {
            panic!("{row:?}")
        };
        let found = effects(line);
        assert!(matches!(*expected, "yes" | "no"), "{line}");
        if is_read_only(&found) != (*expected == "yes") {
            wrong.push(format!(
                "{line} ({why}): {:?} {:?} {}",
                found.class,
                found.opaque,
                reached(&found)
            ));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn a_command_has_the_class_the_table_says() {
    const ROWS: &[(&str, Class)] = &[
        ("rm a", Class::Ordinary),
        ("rm -f a", Class::Ordinary),
        ("rm -rf a", Class::Irreversible),
        ("rm --recu a", Class::Irreversible),
        ("rm -fr -- a", Class::Irreversible),
        ("/bin/rm -r a", Class::Irreversible),
        ("./rm -r a", Class::Irreversible),
        ("find . -name x -delete", Class::Irreversible),
        ("git reset --hard", Class::Irreversible),
        ("git reset HEAD~1", Class::Irreversible),
        ("git reset --har", Class::Irreversible),
        ("git -C sub reset --hard", Class::Irreversible),
        ("git clean -fd", Class::Irreversible),
        ("git clean -n", Class::ReadOnly),
        ("git clean -n --no-dry-run -f", Class::Irreversible),
        ("git --version push", Class::Publish),
        ("docker -v push x", Class::Publish),
        ("git restore a.rs", Class::Irreversible),
        ("git restore --staged a.rs", Class::Ordinary),
        ("git restore --staged -W a.rs", Class::Irreversible),
        ("git checkout -- a.rs", Class::Irreversible),
        ("git checkout .", Class::Irreversible),
        ("git checkout main", Class::Ordinary),
        ("git checkout -b feature/x", Class::Ordinary),
        ("git checkout main src/a.rs", Class::Irreversible),
        ("git checkout src/a.rs", Class::Irreversible),
        ("git checkout -f main", Class::Irreversible),
        ("git branch -D x", Class::Irreversible),
        ("git branch -d x", Class::Ordinary),
        ("git branch -df x", Class::Irreversible),
        ("git stash drop", Class::Irreversible),
        ("git stash clear", Class::Irreversible),
        ("git stash", Class::Ordinary),
        ("git reflog expire --all", Class::Irreversible),
        ("git gc --prune=now", Class::Irreversible),
        ("git gc", Class::Ordinary),
        ("git update-ref -d refs/heads/x", Class::Irreversible),
        ("git filter-branch --all", Class::Irreversible),
        ("git rebase -i HEAD~3", Class::Irreversible),
        ("git commit --amend", Class::Irreversible),
        ("git commit -m x", Class::Ordinary),
        ("git push", Class::Publish),
        ("git --no-pager push", Class::Publish),
        ("git --unknown x push", Class::Publish),
        ("git -C . push origin main", Class::Publish),
        ("git tag -d v1", Class::Irreversible),
        ("git worktree remove x", Class::Irreversible),
        ("truncate -s 0 a", Class::Irreversible),
        ("shred a", Class::Irreversible),
        ("dd if=/dev/zero of=a", Class::Irreversible),
        ("dd if=a of=/dev/null", Class::Ordinary),
        ("mkfs.ext4 /dev/sda1", Class::Irreversible),
        ("psql -c 'DROP TABLE x'", Class::Irreversible),
        ("psql -c 'select 1'", Class::Ordinary),
        ("mysql -e 'truncate x'", Class::Irreversible),
        ("sqlite3 a.db 'delete from x'", Class::Irreversible),
        ("redis-cli flushall", Class::Irreversible),
        ("docker system prune -f", Class::Irreversible),
        ("docker volume rm x", Class::Irreversible),
        ("docker compose down -v", Class::Irreversible),
        ("docker ps -a", Class::Ordinary),
        ("kubectl -n prod delete pod x", Class::Irreversible),
        ("kubectl get pods", Class::Ordinary),
        ("kubectl apply -f x.yaml", Class::Publish),
        ("terraform destroy", Class::Irreversible),
        ("terraform -chdir=x destroy", Class::Irreversible),
        ("terraform apply", Class::Publish),
        ("dropdb x", Class::Irreversible),
        ("mongosh --eval 'db.dropDatabase()'", Class::Irreversible),
        ("aws s3 rm s3://b --recursive", Class::Irreversible),
        ("aws s3 sync a s3://b", Class::Publish),
        ("aws s3 ls", Class::Ordinary),
        ("crontab -r", Class::Irreversible),
        ("userdel x", Class::Irreversible),
        ("chmod -R 777 .", Class::Irreversible),
        ("chmod +x a", Class::Ordinary),
        ("chown -R me .", Class::Irreversible),
        ("npm publish", Class::Publish),
        ("npm --prefix x publish", Class::Publish),
        ("npm unpublish x", Class::Publish),
        ("npm install", Class::Ordinary),
        ("cargo publish", Class::Publish),
        ("cargo -q publish", Class::Publish),
        ("cargo build", Class::Ordinary),
        ("twine upload dist/x", Class::Publish),
        ("gem push x.gem", Class::Publish),
        ("docker push x", Class::Publish),
        ("gh pr create -t x", Class::Publish),
        ("gh pr view 1", Class::Ordinary),
        ("gh pr merge 1", Class::Publish),
        ("gh api /user", Class::Ordinary),
        ("gh api -X DELETE /x", Class::Publish),
        ("gh api /x -f a=b", Class::Publish),
        ("helm upgrade x y", Class::Publish),
        ("vercel deploy", Class::Publish),
        ("scp a h:b", Class::Publish),
        ("scp h:b a", Class::Ordinary),
        ("rsync -a a h:b", Class::Publish),
        ("rsync -a --delete a b", Class::Irreversible),
        ("curl https://x.io", Class::Ordinary),
        ("curl -X POST https://x.io", Class::Publish),
        ("curl -d a https://x.io", Class::Publish),
        ("curl -da https://x.io", Class::Publish),
        ("curl --data=a https://x.io", Class::Publish),
        ("curl -T a https://x.io", Class::Publish),
        ("curl -XGET https://x.io", Class::Ordinary),
        ("ssh h ls", Class::Publish),
        ("rsync -a --remove-source-files a b", Class::Irreversible),
        ("git push --force", Class::Publish),
        ("kill -9 -1", Class::Irreversible),
        ("kill -9 12", Class::Ordinary),
        ("git rm -r x", Class::Irreversible),
        ("git submodule deinit x", Class::Irreversible),
        ("npm --unknown x publish", Class::Publish),
        ("docker --unknown rm x", Class::Irreversible),
    ];
    let wrong: Vec<String> = ROWS
        .iter()
        .map(|&(line, expected)| (line, expected, effects(line).class))
        .filter(|(_, expected, found)| expected != found)
        .map(|(line, expected, found)| format!("{line}: {expected:?} {found:?}"))
        .collect();
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn what_a_command_reads_writes_and_reaches_is_what_the_table_says() {
    const ROWS: &[(&str, &str)] = &[
        ("cat a ../b", "r /p/../b, r /p/a"),
        ("cat -- -n", "r /p/-n"),
        ("cat - /dev/null", ""),
        ("head -n 5 a", "r /p/a"),
        ("head -5 a", "r /p/a"),
        ("tail -n+1 a", "r /p/a"),
        ("grep -rn x src", "r /p/src"),
        ("grep -e x src", "r /p/src"),
        ("grep -f pats a", "r /p/a, r /p/pats"),
        ("cp a b c", "r /p/a, r /p/b, w /p/c, w /p/c/a?, w /p/c/b?"),
        ("cp -t /etc a", "r /p/a, w /etc, w /etc/a?"),
        ("cp --target-directory=/etc a", "r /p/a, w /etc, w /etc/a?"),
        ("cp -rt/etc a", "r /p/a, w /etc, w /etc/a?"),
        ("cp --targ /etc a", "r /p/a, w /etc, w /etc/a?"),
        ("mv a /t", "r /p/a, w /p/a, w /t, w /t/a?"),
        ("rm a b", "w /p/a, w /p/b"),
        (
            "ln -s ../x y",
            "r /p/../x, r /p/y/../x?, w /p/../x?, w /p/y, w /p/y/../x?, w /p/y/x?",
        ),
        ("tee -a a", "w /p/a"),
        ("sort -o out in", "r /p/in, w /p/out"),
        ("sort -noout in", "r /p/in, w /p/out"),
        ("sort --outp=out in", "r /p/in, w /p/out"),
        ("uniq in out", "r /p/in, w /p/out"),
        ("dd if=a of=/x", "r /p/a, w /x"),
        ("tar czf a.tgz src", "r /p/src, w /p/a.tgz"),
        (
            "tar -xf a.tar -C /tmp/x",
            "r /p/a.tar, r /tmp/x, w /tmp/x, w /tmp/x?",
        ),
        ("tar tf a.tar", "r /p/a.tar"),
        ("unzip a.zip -d o", "r /p/a.zip, r /p/o, w /p/o, w /p/o?"),
        ("sed -i s/a/b/ f", "r /p/f, w /p/f"),
        ("sed -n 1,5p f", "r /p/f"),
        ("sed 's/a/b/w o' f", "r /p/f, w /p/o"),
        ("git -C /etc log", "r /etc"),
        ("git show HEAD:.env", "r /p/.env?, r /p/HEAD:.env?"),
        (
            "git clone https://github.com/a/b.git c",
            "h github.com, w /p/c",
        ),
        ("git clone git@x.io:a/b", "h x.io"),
        ("git fetch origin", "h origin?"),
        ("git push", "h ??"),
        ("curl -o a https://x.io:8080/y", "h x.io, w /p/a"),
        ("curl -O https://x.io/y", "h x.io, w /p"),
        ("curl example.com/x", "h example.com"),
        ("curl file:///etc/passwd", "r /etc/passwd"),
        ("csplit a 1", "r /p/a, w /p"),
        ("csplit -f o/x a '/^#/' '{*}'", "r /p/a, w /p, w /p/o/x"),
        ("split -l 9 a", "r /p/a, w /p"),
        (
            "git format-patch -o o HEAD~2",
            "r /p/o, r /p/o/HEAD~2?, w /p/o, w /p/o?",
        ),
        ("git format-patch --root HEAD", "r /p/HEAD?, w /p"),
        ("wget -qO- https://x.io", "h x.io, w /p"),
        ("scp -r h.io:a b", "h h.io, w /p/b"),
        ("ssh -p 22 me@h.io ls", "h h.io"),
        ("ping -c 1 x.io", "h x.io"),
        ("nc x.io 80", "h x.io"),
        ("npm install", "h registry.npmjs.org"),
        ("npm ls", ""),
        (
            "pip install -r req.txt",
            "h files.pythonhosted.org, h pypi.org, r /p/req.txt",
        ),
        (
            "cargo add serde",
            "h crates.io, h index.crates.io, h static.crates.io",
        ),
        ("make -C ../o all", "r /p/../o, w /p/../o?"),
        ("find ../o -name x", "r /p/../o"),
        ("fd x src", "r /p/src"),
        ("cat *.rs", "r /p/*.rs"),
        ("cat $x", "r unknown"),
        (
            "mytool a.txt --out=/x/y",
            "r /p/a.txt?, r /x/y?, w /p/a.txt?, w /x/y?",
        ),
        ("python3 a.py b.txt", "r /p/a.py, r /p/b.txt?, w /p/b.txt?"),
        ("bash x.sh", "r /p/x.sh"),
        ("xxd a b", "r /p/a, w /p/b"),
        ("base64 a", "r /p/a"),
        ("jq . a.json", "r /p/a.json"),
        ("jq --arg x 1 .a f", "r /p/f"),
        ("jq --slurpfile x y . f", "r /p/f, r /p/y"),
        ("awk '{print > \"o\"}' f", "r /p/f, w unknown"),
        ("docker run -v /etc:/x alpine ls", "h ??, r /etc?, w /etc?"),
        (
            "docker run --mount type=bind,src=./.env,dst=/e alpine ls",
            "h ??, r /p/.env?, w /p/.env?",
        ),
        ("docker run -v data:/x alpine ls", "h ??"),
        ("touch a", "w /p/a"),
        ("mkdir -p a/b", "w /p/a/b"),
        ("chmod +x a", "w /p/a"),
        ("chmod 644 a b", "w /p/a, w /p/b"),
        ("tree -o a", "w /p/a"),
        ("cd sub", "r /p/sub"),
        ("diff a ../b", "r /p/../b, r /p/a"),
        ("rg x", "r /p?"),
        ("grep -r x", "r /p?"),
        ("grep x", ""),
        ("wc --files0-from=l", "r /p/l, r unknown"),
        ("rg x ../o", "r /p/../o"),
        ("cat l/../a ./b//..", "r /p/b/.., r /p/l/../a"),
        ("ls -la a", "l /p/a"),
        ("test -f a", "l /p/a"),
        ("du -X a b", "l /p/b, r /p/a"),
        ("curl -d @a x.io", "h x.io, r /p/a"),
        ("curl -F f=@a x.io", "h x.io, r /p/a"),
        ("curl -F 'f=<a' x.io", "h x.io, r /p/a"),
        ("curl -b a=b x.io", "h x.io"),
        ("curl -b a x.io", "h x.io, r /p/a"),
        ("curl -H 'A: b' x.io", "h x.io"),
        ("curl -o 'AGENT#1.md' file:///a", "r /a, w unknown"),
        ("curl file:///p/{a,b}", "r unknown"),
        (
            "gunzip AGENTS.md-gz",
            "r /p/AGENTS.md-gz, w /p/AGENTS.md, w /p/AGENTS.md-gz",
        ),
        (
            "gzip -dk AGENTS.md_z",
            "r /p/AGENTS.md_z, w /p/AGENTS.md, w /p/AGENTS.md_z",
        ),
        (
            "bunzip2 AGENTS.md.bz",
            "r /p/AGENTS.md.bz, w /p/AGENTS.md, w /p/AGENTS.md.bz",
        ),
        ("gunzip a.taz", "r /p/a.taz, w /p/a.tar, w /p/a.taz"),
        (
            "gunzip -S .md AGENTS.md.md",
            "r /p/AGENTS.md.md, w /p/AGENTS.md, w /p/AGENTS.md.md, w /p/AGENTS.md.md.gz",
        ),
        ("git stash push -- AGENTS.md", "w /p/AGENTS.md"),
        ("git rm 'AGENT*'", "w /p/AGENT*"),
        (
            "git rm -- '*.md'",
            "w /p/*.md, w /p/*/.*.md, w /p/*/.md, w /p/.*.md, w /p/.md",
        ),
        ("git rm ':(literal)a*'", "w /p/a*"),
        ("git add ':!a'", ""),
        ("git config --list", "r /p/.git/config"),
        ("git config -l", "r /p/.git/config"),
        ("git config list", "r /p/.git/config"),
        ("git config --get user.name", ""),
        ("git config get user.name", ""),
        ("git remote -v", ""),
        ("tee -", "w /p/-"),
        ("sort -o - a", "r /p/a, w /p/-"),
        (
            "dot -Tpng -oAGENTS.md x.dot",
            "r /p/AGENTS.md?, r /p/GENTS.md?, r /p/x.dot?, w /p/AGENTS.md?, w /p/GENTS.md?, w /p/x.dot?",
        ),
        (
            "cp --unknown v a b",
            "r /p/a?, r /p/v?, w /p/b/a?, w /p/b/v?, w /p/b?",
        ),
    ];
    let wrong: Vec<String> = ROWS
        .iter()
        .map(|&(line, expected)| (line, expected, reached(&effects(line))))
        .filter(|(_, expected, found)| expected != found)
        .map(|(line, expected, found)| format!("{line}: {expected} / {found}"))
        .collect();
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn what_a_command_runs_is_what_the_table_says() {
    const ROWS: &[(&str, &str)] = &[
        ("env A=1 B=2 make x", "A=1 B=2 make x"),
        ("env -i -u X rm a", "rm a"),
        ("env -C /x rm a", "rm a @/x"),
        ("env -S 'rm a'", "env rm a"),
        ("env -S git push", "env git push"),
        ("env -S 'git -C' . push", "env git -C . push"),
        ("env -S '-i  rm\\_a # x'", "env -i rm a"),
        ("strace -o '|rm a' true", "[rm a] | true"),
        ("strace -o x true", "true"),
        ("env - rm", "rm"),
        ("sudo -u root -n rm a", "rm a"),
        ("sudo A=1 rm", "A=1 rm"),
        ("sudo -- rm a", "rm a"),
        ("doas rm", "rm"),
        ("nice -n 5 rm", "rm"),
        ("nice -5 rm", "rm"),
        ("nohup rm a", "rm a"),
        ("timeout -s KILL 5 rm a", "rm a"),
        ("timeout --signal=KILL 5 rm", "rm"),
        ("timeout 5 rm -k", "rm -k"),
        ("time -p rm", "rm"),
        ("stdbuf -oL rm", "rm"),
        ("setsid rm", "rm"),
        ("ionice -c2 -n0 rm", "rm"),
        ("chroot /x rm", "rm"),
        ("xargs rm -f", "rm -f ..."),
        ("xargs -0 -n1 rm", "rm ..."),
        ("xargs -I% rm %", "rm %"),
        ("xargs -I {} rm {}", "rm {}"),
        ("xargs", ""),
        ("parallel rm {} ::: a", "[rm {} ::: a]?"),
        ("find . -exec rm {} ;", "rm ./**"),
        ("find a b -exec rm {} +", "rm {} ..."),
        ("find ../o -type f -exec cat {} +", "cat ../o/**"),
        ("find . -execdir rm {} ;", "rm /p/** @{}"),
        ("find . -ok rm {} ; -exec ls {} ;", "rm ./** | ls ./**"),
        ("fd x -x rm", "rm ./**"),
        ("fd -e rs -X rm {}", "rm ./**"),
        ("sh -c 'rm a'", "[rm a]"),
        ("bash -lc 'rm a' x y", "[rm a]"),
        ("bash -ce 'rm a'", "[rm a]"),
        ("bash -c -x 'rm a'", "[rm a]"),
        ("bash -o pipefail -c 'rm a'", "[rm a]"),
        ("bash --norc -c 'rm a'", "[rm a]"),
        ("eval rm a", "[rm a]"),
        ("eval 'rm' '$x'", "[rm $x]"),
        ("trap 'rm a' EXIT", "[rm a]"),
        ("trap - EXIT", ""),
        ("command rm a", "rm a"),
        ("command -p rm", "rm"),
        ("command -v rm", ""),
        ("builtin eval 'rm'", "eval rm"),
        ("exec -a x rm", "rm"),
        ("exec rm", "rm"),
        ("watch -n 1 rm a", "[rm a]"),
        ("ssh h rm a", "[rm a]"),
        ("ssh -p 22 h 'rm a'", "[rm a]"),
        ("busybox rm a", "rm a"),
        ("git -c alias.x='!rm a' x", "[rm a \"$@\"]"),
        ("git -c alias.x=push x", "[git push \"$@\"]"),
        (
            "git -c alias.x='push --force' x",
            "[git push --force \"$@\"]",
        ),
        ("flock /tmp/l rm a", "rm a"),
        ("flock -n l rm", "rm"),
        ("script -c 'rm a' out", "[rm a]"),
        ("su -c 'rm a' root", "[rm a]"),
        ("strace -f -o t rm a", "rm a"),
        ("entr -r rm a", "rm a ..."),
        ("docker exec -it c rm a", "rm a"),
        ("docker run --rm -v a:b img rm a", "rm a"),
        ("docker compose exec web rm", "rm"),
        ("kubectl exec p -- rm a", "rm a"),
        ("npx -y rimraf a", "rimraf a"),
        ("npx -c 'rm a'", "[rm a]"),
        ("npm exec -- rm a", "rm a"),
        ("pnpm exec rm a", "rm a"),
        ("uv run rm a", "rm a"),
        ("poetry run rm a", "rm a"),
        ("bundle exec rm a", "rm a"),
        ("bun x rm a", "rm a"),
        ("sort --compress-program=./x a", "./x ..."),
        ("rg --pre ./x a", "./x ..."),
        ("rsync -e 'ssh -p 2' a h:b", "[ssh -p 2]"),
        ("git ls-remote --upload-pack=./x .", "./x ..."),
        ("git submodule foreach 'rm a'", "[rm a]"),
        ("git bisect run rm a", "rm a"),
        ("git rebase -x 'rm a' main", "[rm a]"),
        ("split --filter='rm a' x", "[rm a]"),
        ("tar -xf a --to-command='rm a'", "[rm a]"),
        ("timeout --unknown 5 rm a", "rm a | a"),
        ("nice --unknown rm a", "rm a | a"),
        ("go test -exec ./x .", "./x ..."),
        ("rustup run nightly cargo test", "cargo test"),
    ];
    let wrong: Vec<String> = ROWS
        .iter()
        .map(|&(line, expected)| (line, expected, inner(&effects(line))))
        .filter(|(_, expected, found)| expected != found)
        .map(|(line, expected, found)| format!("{line}: {expected} / {found}"))
        .collect();
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn a_command_whose_words_do_not_tell_what_runs_is_opaque() {
    for line in [
        "$x a",
        "* a",
        "-x",
        "python -c 'print(1)'",
        "node -e 1",
        "perl -e 1",
        "ruby -e 1",
        "php -r 1",
        "rm $x",
        "rm *",
        "git $x",
        "git log $x",
        "sed -n 1p $f",
        "sed 1e f",
        "sed -f x.sed",
        "awk 'BEGIN{system(1)}'",
        "source x",
        ". x",
        "export PATH=/x",
        "export LD_PRELOAD=x",
        "git -c core.pager=x log",
        "git -c core.fsmonitor=x status",
        "git --exec-path=x log",
        "git grep -Oless x",
        "git diff --ext-diff",
        "make --eval x",
        "cargo --config x build",
        "tar -cf /dev/null a --checkpoint-action=exec=x",
        "ssh -oProxyCommand=x h",
        "scp -o x a h:b",
        "vim x",
        "screen x",
        "nix run x",
        "crontab x",
        "man -P x y",
        "less -tx y",
        "docker $x",
        "mytool $x",
        "env $x",
        "nice $x",
        "find . $x",
        "declare -n x $y",
        "printf -v x y",
        "git filter-branch x",
        "curl -K x",
        "git clone ext::sh x",
    ] {
        assert!(effects(line).opaque.is_some(), "{line}");
    }
    for line in [
        "cat $x",
        "echo $x",
        "echo \"$x\"",
        "cat *.rs",
        "wc -l *",
        "git commit -m \"$x\"",
        "git add src/*.rs",
        "mkdir -p \"$d\"",
        "touch $x",
        "grep -rn x *",
        "rm ./*",
        "rm src/*.o",
        "rm -- $x",
        "python3 a.py $x",
        "git -c color.ui=false log",
        "git -c core.pager=cat log",
        "export FOO=1",
        "cp \"$a\" b",
        "make test",
        "mytool a b",
        "bash x.sh $y",
        "rm \"./$x\"",
        "command -v $x",
        "man ls",
        "env FOO=1 x",
        "git log --format=%h -n 5",
        "git log \"--format=$x\"",
        "printf %s \"$x\"",
    ] {
        assert_eq!(effects(line).opaque, None, "{line}");
    }
}

#[test]
fn a_command_that_runs_its_input_says_so() {
    const ROWS: &[(&str, Input)] = &[
        ("sudo -s", Input::Script),
        ("sudo rm a", Input::Data),
        ("ssh h", Input::Script),
        ("parallel", Input::Script),
        ("su", Input::Script),
        ("su -c x root", Input::Data),
        ("psql db", Input::Code),
        ("psql -c x db", Input::Data),
        ("sh", Input::Script),
        ("bash -s x", Input::Script),
        ("bash -", Input::Script),
        ("bash /dev/stdin", Input::Script),
        ("zsh -x", Input::Script),
        ("python3", Input::Code),
        ("python3 -", Input::Code),
        ("node", Input::Code),
        ("python3 -u", Input::Code),
        ("python3 -m x", Input::Data),
        ("bash x.sh", Input::Data),
        ("bash -c x", Input::Data),
        ("cat", Input::Data),
        ("bash --version", Input::Data),
        ("node --version", Input::Data),
        ("perl", Input::Code),
    ];
    for &(line, expected) in ROWS {
        assert_eq!(effects(line).input, expected, "{line}");
    }
}

#[test]
fn a_change_of_directory_is_told() {
    for (line, expected) in [
        ("cd", "Home"),
        ("cd -", "Back"),
        ("popd", "Pop"),
        ("cd a", "To"),
        ("cd -- a", "To"),
        ("pushd a", "Push"),
        ("cd $x", "Unknown"),
        ("cd a b", "Unknown"),
        ("cd -P a", "Unknown"),
        ("cd ''", "Unknown"),
        ("pushd +1", "Unknown"),
    ] {
        let found = format!("{:?}", moves(&words(line)).unwrap());
        assert!(found.starts_with(expected), "{line}: {found}");
    }
    assert_eq!(moves(&words("ls")), None);
}

#[test]
fn a_command_of_any_length_is_read() {
    let many: Vec<String> = (0..2_000).map(|n| format!(" --x{n} y")).collect();
    let many = many.concat();
    for program in ["sort", "git", "env", "find", "mytool"] {
        let found = effects(&format!("{program}{many}"));
        assert_ne!(found.class, Class::ReadOnly, "{program}");
    }
}

#[test]
fn a_variable_that_changes_what_is_run_is_known_by_its_name() {
    for name in [
        "PATH",
        "LD_PRELOAD",
        "GIT_SSH_COMMAND",
        "BASH_ENV",
        "BASH_FUNC_x%%",
        "NODE_OPTIONS",
        "PYTHONPATH",
        "PAGER",
        "CARGO_HOME",
        "IFS",
        "BORG_PASSCOMMAND",
        "BUNDLE_GEMFILE",
        "BZIP2",
        "CAML_LD_LIBRARY_PATH",
        "CCACHE_PREFIX",
        "CLOUDSDK_PYTHON",
        "COMPILER_PATH",
        "DOTNET_STARTUP_HOOKS",
        "GCC_EXEC_PREFIX",
        "GEM_HOME",
        "GLIBC_TUNABLES",
        "GREP",
        "GROOVY_HOME",
        "GTK_MODULES",
        "GUILE_LOAD_PATH",
        "HELM_PLUGINS",
        "HGMERGE",
        "HGRCPATH",
        "KUBECTL_EXTERNAL_DIFF",
        "PSQLRC",
        "PYTEST_ADDOPTS",
        "SVN_SSH",
        "TF_CLI_ARGS",
        "XZ_OPT",
        "ZDOTDIR",
        "shell_escape",
    ] {
        assert!(is_dangerous_variable(name), "{name}");
    }
    for name in [
        "FOO",
        "RUST_BACKTRACE",
        "NODE_ENV",
        "CI",
        "GIT_AUTHOR_NAME",
        "CARGO_TERM_COLOR",
        "PYTHONUNBUFFERED",
        "DEBUG",
        "LANG",
        "TZ",
        "CMAKE_BUILD_TYPE",
        "COLUMNS",
        "EXTRA_ARGS",
        "LOG_PATH",
        "LS_COLORS",
        "PREFIX",
        "SRC",
        "TERM",
        "TF_VAR_region",
    ] {
        assert!(!is_dangerous_variable(name), "{name}");
    }
}

#[test]
fn the_lists_of_names_are_sorted() {
    for file in [
        include_str!("../../data/variables.txt"),
        include_str!("../../data/git-settings.txt"),
    ] {
        assert!(names(file).windows(2).all(|pair| pair[0] < pair[1]));
    }
}
