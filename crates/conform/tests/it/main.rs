//! The integration tests of the readers. No data here: it all stands in spec/.
#![expect(clippy::unwrap_used, reason = "a test may stop where it stands")]

mod cases;
mod guide;
mod hostile;
mod literate;
mod sequence;
mod shell;
mod vectors;
