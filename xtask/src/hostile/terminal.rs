//! A terminal at which nobody sits: it keeps what is shown, and ends every wait for an answer. It
//! never answers.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::Result;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, OptionalActions, OutputModes, tcgetattr, tcsetattr};

/// The end of input, as a terminal takes it.
const END_OF_INPUT: &[u8] = b"\x04";
/// How often it is said while somebody waits. What is typed before a question is thrown away, so once
/// is not enough.
const PAUSE: Duration = Duration::from_millis(20);

/// One terminal.
#[derive(Debug)]
pub(crate) struct Terminal {
    shown: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Terminal {
    /// Opens one; the file is the side of the program that asks, and this one ends with it.
    ///
    /// # Errors
    /// There are no terminals.
    pub(crate) fn open() -> Result<(Self, File)> {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        grantpt(&ours)?;
        unlockpt(&ours)?;
        let name = ptsname(&ours, Vec::new())?.into_string()?;
        let theirs = OpenOptions::new().read(true).write(true).open(name)?;
        // What is shown comes as it is: no echo, and no carriage returns of the terminal's own.
        let mut modes = tcgetattr(&theirs)?;
        modes.local_modes.remove(LocalModes::ECHO);
        modes.output_modes.remove(OutputModes::OPOST);
        tcsetattr(&theirs, OptionalActions::Now, &modes)?;
        let shown = Arc::new(Mutex::new(Vec::new()));
        let mut ours = File::from(ours);
        let (mut keyboard, of_keyboard) = (ours.try_clone()?, Arc::downgrade(&shown));
        let keep = Arc::clone(&shown);
        let reader = thread::spawn(move || {
            let mut buffer = [0; 4096];
            // The other side being gone is an error here.
            while let Ok(count @ 1..) = ours.read(&mut buffer) {
                let mut shown = keep.lock().unwrap_or_else(PoisonError::into_inner);
                shown.extend(buffer.iter().take(count));
            }
        });
        thread::spawn(move || {
            while let Some(shown) = of_keyboard.upgrade() {
                // A prompt ends in a space.
                let last = shown
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .last()
                    .copied();
                drop(shown);
                if last == Some(b' ') && keyboard.write_all(END_OF_INPUT).is_err() {
                    return;
                }
                thread::sleep(PAUSE);
            }
        });
        Ok((Self { shown, reader }, theirs))
    }

    /// What was shown until the other side was gone.
    pub(crate) fn shown(self) -> String {
        drop(self.reader.join());
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&shown).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_kept_as_it_was_shown_and_gets_no_answer() {
        let (terminal, mut theirs) = Terminal::open().unwrap();
        for _ in 0..2 {
            theirs.write_all(b"one\r\n\x1b[2K? [o once] ").unwrap();
            let mut answer = [0; 8];
            assert_eq!(theirs.read(&mut answer).unwrap(), 0);
        }
        drop(theirs);
        assert_eq!(terminal.shown(), "one\r\n\u{1b}[2K? [o once] ".repeat(2));
    }
}
