//! Tables whose keys are known when the program is built. It must not take a key that a line chose.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// What stands for each of a few fixed words.
pub(crate) type Table<V> = HashMap<&'static str, V, BuildHasherDefault<Fnv>>;

/// A few fixed words.
pub(crate) type Set = HashSet<&'static str, BuildHasherDefault<Fnv>>;

/// FNV-1a. It is fast for short words and no shield against chosen ones, which no table holds.
#[derive(Debug)]
pub(crate) struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
