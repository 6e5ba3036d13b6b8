//! Ids that sort by the time they were made. Must not ask for the time.

use std::{
    hash::{BuildHasher, RandomState},
    process,
    sync::atomic::{AtomicU64, Ordering},
};

/// Sorted as bytes, so that ids sort as the numbers they write.
const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// As many as 128 bits take in base 62.
const LENGTH: usize = 22;

/// Makes an id such as `ses_0Fh3...`, in base 62. `now_ms` is in milliseconds since the Unix epoch.
///
/// Of one prefix, a later id of this process is always greater, even when the clock steps back; one of
/// another process is greater when its clock said so. 64 random bits keep processes apart.
pub fn ascending_id(prefix: &str, now_ms: u64) -> String {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let earliest = now_ms.min(u64::MAX >> 16) << 16;
    let after = |last: u64| earliest.max(last.saturating_add(1));
    let stamp = after(LAST.update(Ordering::Relaxed, Ordering::Relaxed, after));
    // The keys of a new hasher come from the system's random numbers.
    let random = RandomState::new().hash_one((process::id(), stamp));
    let mut rest = u128::from(stamp) << 64 | u128::from(random);
    let mut digits = ['0'; LENGTH];
    for digit in digits.iter_mut().rev() {
        *digit = char::from(DIGITS[(rest % 62) as usize]);
        rest /= 62;
    }
    format!("{prefix}_{}", String::from_iter(digits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{collections::BTreeSet, thread};

    #[test]
    fn ids_ascend_even_when_the_clock_steps_back() {
        let times = [5, 5, 5, 4, 0, 6, u64::MAX, u64::MAX, 1];
        let ids: Vec<String> = times.iter().map(|now| ascending_id("msg", *now)).collect();
        assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
    }

    #[test]
    fn an_id_is_its_prefix_and_22_letters_and_digits() {
        let id = ascending_id("ses", 1_700_000_000_000);
        let tail = id.strip_prefix("ses_").unwrap();
        assert_eq!(tail.len(), LENGTH);
        assert!(
            tail.bytes().all(|byte| byte.is_ascii_alphanumeric()),
            "{id}"
        );
    }

    #[test]
    fn threads_never_make_the_same_id() {
        let make = || (0..1_000).map(|_| ascending_id("x", 9)).collect::<Vec<_>>();
        let threads: Vec<_> = (0..4).map(|_| thread::spawn(make)).collect();
        let ids: BTreeSet<String> = threads
            .into_iter()
            .flat_map(|it| it.join().unwrap())
            .collect();
        assert_eq!(ids.len(), 4_000);
    }
}
