//! `cargo xtask fuzz`: the bodies of fuzz/bodies.rs on lines of spec/shell, mutated, for so many seconds.
//! It must not know what a body holds.

#[path = "../../fuzz/bodies.rs"]
mod bodies;

use std::fs;
use std::panic::catch_unwind;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::Outcome;
use bodies::BODIES;

/// No text takes a body longer than this, in any build.
const HANG: Duration = Duration::from_secs(10);

/// How long a text may get.
const BYTES_MAX: usize = 80 * 1024;

/// Pieces that mean something to a shell.
const PIECES: &[&str] = &[
    "$(",
    "`",
    "${",
    "$((",
    "))",
    ")",
    "}",
    "((",
    "[[",
    "]]",
    "'",
    "\"",
    "\\",
    "\\\n",
    "\n",
    ";",
    "&",
    "|",
    "&&",
    "||",
    "|&",
    "<",
    ">",
    ">>",
    "<<E\n",
    "\nE\n",
    "<<-'E'\n",
    "<<<",
    ">&",
    "<(",
    ">(",
    "{",
    "}",
    "{a,b}",
    "{1..9}",
    "#",
    "!",
    "~",
    "*",
    "?(",
    "$",
    "$'",
    "$\"",
    "$x",
    "$@",
    "x=",
    "x=(",
    "x+=",
    "if ",
    "then ",
    "else ",
    "fi",
    "for x in ",
    "do ",
    "done",
    "while ",
    "case x in ",
    "esac",
    ";;",
    "f() { ",
    "function f ",
    "coproc ",
    "time ",
    "select ",
    "eval ",
    "sh -c '",
    "env -S '",
    "xargs ",
    "find . -exec ",
    "sudo ",
    "alias x=",
    "trap '",
    "cd ..",
    "rm -rf ",
    "git push",
    "\0",
    "\r",
    "\t",
    "\u{200b}",
    "\u{202e}",
    "\u{a0}",
    "é",
];

/// What is in the works: the body, the text and since when.
static AT_WORK: Mutex<Option<(&str, Vec<u8>, Instant)>> = Mutex::new(None);

struct Options {
    seconds: u64,
    seed: u64,
}

impl Options {
    fn read(words: &[&str]) -> Result<Self> {
        let mut options = Self {
            seconds: 60,
            seed: 1,
        };
        for pair in words.chunks(2) {
            match pair {
                ["--seconds", count] => {
                    options.seconds = count.parse().context("--seconds takes a number")?;
                }
                ["--seed", seed] => options.seed = seed.parse().context("--seed takes a number")?,
                other => bail!(
                    "fuzz knows no `{}`, or not without a value",
                    other.join(" ")
                ),
            }
        }
        Ok(options)
    }
}

/// Runs every body on one text after the other. A text that breaks one is kept in target/fuzz, and so is
/// the slowest.
///
/// # Errors
/// A word that is not understood, or lists that cannot be read.
pub(crate) fn run(root: &Path, words: &[&str]) -> Result<Outcome> {
    let options = Options::read(words)?;
    let seeds = seeds(root)?;
    let kept = root.join("target/fuzz");
    fs::create_dir_all(&kept)?;
    let watched = kept.clone();
    std::thread::spawn(move || watch(&watched));

    let mut chance = Chance(options.seed);
    let (started, mut count) = (Instant::now(), 0_u64);
    let mut slowest = (Duration::ZERO, Vec::new());
    while started.elapsed() < Duration::from_secs(options.seconds) {
        let text = mutated(&mut chance, &seeds);
        for (name, body) in BODIES {
            let since = Instant::now();
            at_work(Some((name, text.clone(), since)));
            let result = catch_unwind(|| body(&text));
            at_work(None);
            if since.elapsed() > slowest.0 {
                slowest = (since.elapsed(), text.clone());
            }
            if result.is_err() {
                keep(&kept, name, &text);
                return Ok(Outcome::Faults);
            }
        }
        count += 1;
    }
    println!(
        "fuzz: {count} texts through {} bodies in {} s, seed {}; the slowest took {} ms, and is kept",
        BODIES.len(),
        options.seconds,
        options.seed,
        slowest.0.as_millis()
    );
    fs::write(kept.join("slowest.bin"), slowest.1)?;
    Ok(Outcome::Clean)
}

fn at_work(work: Option<(&'static str, Vec<u8>, Instant)>) {
    *AT_WORK.lock().unwrap_or_else(PoisonError::into_inner) = work;
}

/// Ends the process when a body does not end.
#[expect(
    clippy::exit,
    reason = "a body that does not end cannot be stopped in any other way"
)]
fn watch(kept: &Path) {
    loop {
        std::thread::sleep(Duration::from_millis(250));
        let work = AT_WORK.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((name, text, since)) = &*work
            && since.elapsed() > HANG
        {
            eprintln!("fuzz: no end after {} s", HANG.as_secs());
            keep(kept, name, text);
            std::process::exit(1);
        }
    }
}

/// Keeps a text that broke a body.
fn keep(kept: &Path, name: &str, text: &[u8]) {
    let path = kept.join(format!("{name}.bin"));
    match fs::write(&path, text) {
        Ok(()) => eprintln!("fuzz: `{name}` does not hold for {}", path.display()),
        Err(error) => eprintln!("fuzz: `{name}` does not hold; its text is lost: {error}"),
    }
    eprintln!("fuzz: {:?}", String::from_utf8_lossy(text));
}

/// The cells of every list in spec/shell, in the order of their names.
fn seeds(root: &Path) -> Result<Vec<Vec<u8>>> {
    let folder = root.join("spec/shell");
    let mut paths = Vec::new();
    for entry in
        fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?
    {
        paths.push(entry?.path());
    }
    paths.sort();
    let mut seeds = Vec::new();
    for path in paths
        .iter()
        .filter(|path| path.extension().is_some_and(|end| end == "tsv"))
    {
        let table =
            fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let cells = table.lines().flat_map(|line| line.split('\t'));
        seeds
            .extend(cells.map(|cell| cell.replace("\\n", "\n").replace("\\\\", "\\").into_bytes()));
    }
    ensure!(!seeds.is_empty(), "no lists in {}", folder.display());
    Ok(seeds)
}

/// Numbers that look like chance and are the same for the same seed.
struct Chance(u64);

impl Chance {
    /// A number below `end`; 0 if there is none.
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from(z >> 33).unwrap_or_default() % end.max(1)
    }

    fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    /// A part of a text.
    fn part(&mut self, text: &[u8]) -> std::ops::Range<usize> {
        let start = self.below(text.len() + 1);
        start..start + self.below(text.len() - start + 1)
    }
}

/// A seed with a few changes; now and then one piece many times over.
fn mutated(chance: &mut Chance, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut text = chance.pick(seeds).clone();
    for _ in 0..chance.below(8) {
        let place = chance.below(text.len() + 1);
        match chance.below(8) {
            0 => drop(text.drain(chance.part(&text))),
            1 => text.insert(place, u8::try_from(chance.below(256)).unwrap_or_default()),
            2 if place < text.len() => text[place] ^= 1 << chance.below(8),
            3 => {
                let other = chance.pick(seeds);
                let part = chance.part(other);
                text.splice(place..place, other[part].iter().copied());
            }
            4 => {
                let part = chance.part(&text);
                let twice = text[part].to_vec();
                text.splice(place..place, twice);
            }
            5 if chance.below(200) == 0 => {
                let piece = chance.pick(PIECES).as_bytes();
                let many = piece.repeat(chance.below(BYTES_MAX / 2) / piece.len());
                text.splice(place..place, many);
            }
            _ => {
                let piece = chance.pick(PIECES).bytes();
                text.splice(place..place, piece);
            }
        }
    }
    text.truncate(BYTES_MAX);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_texts() {
        let seeds = [b"git push".to_vec(), b"rm -rf x".to_vec()];
        let texts = |seed| {
            let mut chance = Chance(seed);
            (0..50)
                .map(|_| mutated(&mut chance, &seeds))
                .collect::<Vec<_>>()
        };
        assert_eq!(texts(1), texts(1));
        assert_ne!(texts(1), texts(2));
    }

    #[test]
    fn options_are_read_or_refused() {
        assert!(Options::read(&["--seconds", "5", "--seed", "2"]).is_ok());
        assert!(Options::read(&["--seconds"]).is_err());
        assert!(Options::read(&["--minutes", "5"]).is_err());
    }
}
