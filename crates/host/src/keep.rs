//! Output that was too long for the model, kept in files of the session.
//! Must not write anywhere but in the session's directory.

use crate::local::Machine;
use gate::{call::CallId, host::HostError};
use rustix::fs::{Mode, OFlags, openat};
use std::{
    fs::File,
    io::{self, Write},
    sync::atomic::{AtomicU64, Ordering},
    time::{SystemTime, UNIX_EPOCH},
};

/// The most bytes kept of one output; the rest is counted and dropped.
pub const KEPT_BYTES_MAX: u64 = 256 * 1024 * 1024;

impl Machine {
    pub(crate) fn keep_output(&self, call: CallId, text: &str) -> Result<String, HostError> {
        self.calls.check(call)?;
        let keep = || {
            let (path, file) = self.new_kept()?;
            let mut kept = Kept::new(file, KEPT_BYTES_MAX);
            kept.write(text.as_bytes())?;
            kept.finish()?;
            Ok(path)
        };
        keep().map_err(|error: io::Error| {
            HostError::Failed(format!("the output could not be kept: {error}"))
        })
    }

    /// A new file and its absolute path. Later files have greater names.
    pub(crate) fn new_kept(&self) -> io::Result<(String, File)> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let now_ms = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_millis());
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("tool_{now_ms:012x}{count:06x}");
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&self.session_fd, &name, flags, Mode::from_raw_mode(0o600))?;
        Ok((
            self.session_dir.join(name).to_string_lossy().into_owned(),
            file.into(),
        ))
    }
}

/// A file that takes so many bytes and no more, and says so at its end.
#[derive(Debug)]
pub(crate) struct Kept<W> {
    file: W,
    room: u64,
    dropped: u64,
}

impl<W: Write> Kept<W> {
    pub(crate) fn new(file: W, room: u64) -> Self {
        Self {
            file,
            room,
            dropped: 0,
        }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let room = usize::try_from(self.room).unwrap_or(usize::MAX);
        let (fits, rest) = bytes.split_at(bytes.len().min(room));
        self.room -= fits.len() as u64;
        self.dropped += rest.len() as u64;
        self.file.write_all(fits)
    }

    pub(crate) fn finish(mut self) -> io::Result<()> {
        if self.dropped > 0 {
            write!(self.file, "\n({} more bytes were not kept)\n", self.dropped)?;
        }
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_output_that_is_full_counts_what_it_drops() {
        let mut bytes = Vec::new();
        let mut kept = Kept::new(&mut bytes, 5);
        kept.write(b"abc").unwrap();
        kept.write(b"defg").unwrap();
        kept.write(b"h").unwrap();
        kept.finish().unwrap();
        assert_eq!(bytes, b"abcde\n(3 more bytes were not kept)\n");
    }
}
