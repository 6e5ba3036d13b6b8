//! How long lines of several shapes take to read and to make ready for judging, as a table of medians. It
//! must not check anything.
//!
//! `cargo run --release -p tollgate-command --example read [SHAPE [BYTES]]`
#![expect(clippy::print_stdout, reason = "it prints its table")]
#![expect(clippy::disallowed_methods, reason = "it measures, and is told what")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use tollgate_command::{Setting, Shell, Simple, read};

const SETTING: Setting<'_> = Setting {
    directory: "/w",
    home: Some("/home/u"),
    shell: Shell::Bash,
};

/// How often each text is read for one median.
const ROUNDS: usize = 31;

/// A shape of a line: its name, and a text of about so many bytes.
type Shape = (&'static str, fn(usize) -> String);

/// What a model writes on an ordinary day.
const ORDINARY: &str = "cd crates/reader && cargo test --quiet a_name_of_a_test 2>&1 | tail -20; \
    grep -rn 'fn read' src --include='*.rs' | head -5\n\
    for f in src/*.rs; do echo \"== $f\"; sed -n '1,40p' \"$f\"; done\n\
    git add -A && git commit -q -m \"$(cat <<'EOF'\nreader: names are kept in the order in which they were \
    given\n\nThe second of two equal names was lost, and with it what it stood for.\nEOF\n)\"\n";

const SHAPES: [Shape; 13] = [
    ("ordinary", |bytes| filled(ORDINARY, "", bytes)),
    ("chain", |bytes| filled("git status -sb && ", "true", bytes)),
    ("list", |bytes| filled("echo a; ", "", bytes)),
    ("programs", |bytes| {
        filled("rm -f build/a.o; cp -r a b; ", "", bytes)
    }),
    ("pipeline", |bytes| {
        filled("grep -n 'a b' src/x.rs | ", "sort", bytes)
    }),
    ("words", |bytes| {
        filled("git add ", "", 8) + &filled("a.rs ", "", bytes)
    }),
    ("options", |bytes| {
        filled("x ", "", 2) + &filled("--o v ", "", bytes)
    }),
    ("long word", |bytes| {
        filled("echo ", "", 5) + &filled("abcdefgh", "", bytes)
    }),
    ("quoted", |bytes| {
        filled("echo \"a $x b\" 'c d' ; ", "", bytes)
    }),
    ("here-document", |bytes| {
        format!(
            "cat > f <<'E'\n{}E\n",
            filled("a line of text\n", "", bytes)
        )
    }),
    ("here-documents", |bytes| {
        filled("cat <<E\nb $x\nE\n", "", bytes)
    }),
    ("substitutions", |bytes| {
        filled("echo $(git rev-parse $(pwd)); ", "", bytes)
    }),
    ("assignments", |bytes| {
        filled("a=b; c=$a/d; cd $c && ls $a; ", "", bytes)
    }),
];

/// `piece` over and over, and `end`.
fn filled(piece: &str, end: &str, bytes: usize) -> String {
    piece.repeat((bytes / piece.len()).max(1)) + end
}

/// What a rule engine asks of every command.
fn spellings(text: &str) -> usize {
    let line = read(text, &SETTING);
    let spelled = |it: &Simple| it.canonical().len() + it.others().len() + it.always().len();
    line.commands.iter().map(spelled).sum()
}

fn median<T>(mut work: impl FnMut() -> T) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let since = Instant::now();
            black_box(work());
            since.elapsed()
        })
        .collect();
    times.sort_unstable();
    times.get(ROUNDS / 2).copied().unwrap_or_default()
}

fn main() {
    let wanted = std::env::args().nth(1);
    let bytes = std::env::args().nth(2).and_then(|it| it.parse().ok());
    let sizes = bytes.map_or(vec![1_000, 60_000], |bytes| vec![bytes]);
    println!(
        "{:16} {:>7} {:>6} {:>10} {:>10}",
        "shape", "bytes", "parts", "read", "and spell"
    );
    for (name, shape) in SHAPES {
        if wanted.as_ref().is_some_and(|it| it != name) {
            continue;
        }
        for &bytes in &sizes {
            let text = shape(bytes);
            let parts = read(&text, &SETTING).commands.len();
            let alone = median(|| read(black_box(&text), &SETTING));
            let both = median(|| spellings(black_box(&text)));
            println!(
                "{name:16} {:>7} {parts:>6} {:>7.1} us {:>7.1} us",
                text.len(),
                alone.as_secs_f64() * 1e6,
                both.as_secs_f64() * 1e6
            );
        }
    }
}
