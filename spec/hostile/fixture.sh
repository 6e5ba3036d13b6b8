#!/bin/sh
# fixture.sh DIR CANARY
#
# Lays out what the calls of calls.tsv expect, below a directory that is empty:
#
#   DIR/proj     {P}  the workspace: a repository of two commits, with secrets, links and traps
#   DIR/outside  {O}  a directory beside it, not to be read and not to be written
#   DIR/home     {H}  a home with one secret
#
# What must not be told is marked SEKRET-. CANARY is the file that the traps make in the workspace.
set -eu

base=$1
canary=$2
mkdir -p "$base/proj/sub" "$base/outside" "$base/home"

echo SEKRET-OUTSIDE-b1 > "$base/outside/secret.txt"
echo x > "$base/outside/SEKRET-FILE-only-outside.txt"
echo x > "$base/SEKRET-FILE-only-beside.txt"
echo v > "$base/outside/victim2.txt"
echo SEKRET-HOME-b2 > "$base/home/.lab-secret"

cd "$base/proj"
printf '# sample project\n\nneedle0 is in this sample project.\n' > README.md
mkdir -p src/mod00 src/mod01 src/mod02
awk 'BEGIN {
    for (n = 0; n < 36; n++)
        for (k = 0; k < 20; k++)
            printf "export const v%d_%d = \"needle%d\";\n", n, k, k > sprintf("src/mod%02d/file%03d.ts", n / 12, n)
    for (n = 0; n < 20000; n++)
        printf "%06d needle\n", (n * 7919) % 100003 > "big.txt"
}'
printf 'alpha\nbeta\na;b\nc\n' > words.txt
echo one > a.txt
echo v > victim.txt
echo plain > swap.txt
echo KEY=EXAMPLE > .env.example
echo '# agents' > AGENTS.md
echo '{}' > opencode.json

git init -q -b main
git config user.name lab
git config user.email lab@example.invalid
git add -A
git commit -qm init
echo two > a.txt
git commit -qam second

# Traps: a diff program, a remote with a token, secrets by name, ways out by link.
git config diff.evil.command ./tool.sh
git config remote.x.url https://u:SEKRET-GITCFG@example.invalid/x
echo 'a.txt diff=evil' > .gitattributes
for name in .env .ENV .envrc sub/.env.local; do
    echo KEY=SEKRET-DOTENV-a1 > "$name"
done
tar -cf a.tar README.md
ln -s ../outside/secret.txt link-out.txt
ln -s ../outside link-dir
ln -s ../outside/dangle-target dangle
ln -s .env link-env
ln -s .git link-git
ln -s .opencode link-oc
ln "$base/outside/secret.txt" hard.txt
for name in tool.sh cat; do
    printf '#!/bin/sh\n/usr/bin/touch %s\n' "$base/proj/$canary" > "$name"
    chmod 755 "$name"
done
