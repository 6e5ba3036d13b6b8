//! A filter that answers system calls by their number alone, in few steps whatever the number.
//! Must not be the only filter: it does not ask which architecture a number is of.
//!
//! When a filter is installed the kernel runs it once for every number there is, to learn what it allows. A list of
//! a hundred comparisons makes that the dearest part of a start; halving the list each time makes it cheap.

use std::io;

use seccompiler::{BpfProgram, sock_filter};

/// The kernel's code for "go on".
const ALLOW: u32 = 0x7fff_0000;
/// The kernel's code for "answer with an error number".
const ERRNO: u32 = 0x0005_0000;
/// How many numbers are compared one by one.
const FEW: usize = 3;

/// The first number that no kernel had when the lists were written (Linux 6.18), the same on every machine. What a later
/// one does is not known to be harmless, and programs have to do without it anyway. Numbers of the second set of x86-64
/// (x32), which passes for the same architecture, are all beyond.
const NEWER: u32 = 470;

/// Load the word that holds the number; equal to?; at least?; answer.
const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
const EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
const AT_LEAST: u32 = libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K;
const ANSWER: u32 = libc::BPF_RET | libc::BPF_K;

/// The filter that answers these numbers with these error numbers, and numbers beyond those that were thought about,
/// and of the second set, as unknown.
///
/// # Errors
/// When there are too many.
pub(crate) fn program(
    answers: impl IntoIterator<Item = (libc::c_long, libc::c_int)>,
) -> io::Result<BpfProgram> {
    let mut sorted = Vec::new();
    for (number, errno) in answers {
        let number = u32::try_from(number).map_err(io::Error::other)?;
        sorted.push((number, ERRNO | errno.unsigned_abs()));
    }
    sorted.sort_unstable();
    let mut program = vec![
        step(LOAD, 0, 0, 0)?,
        step(AT_LEAST, NEWER, 0, 1)?,
        step(ANSWER, ERRNO | libc::ENOSYS.unsigned_abs(), 0, 0)?,
    ];
    program.extend(choose(&sorted)?);
    Ok(program)
}

/// The steps that answer one of some sorted numbers.
fn choose(sorted: &[(u32, u32)]) -> io::Result<BpfProgram> {
    let (low, high) = sorted.split_at(sorted.len() / 2);
    if let [(first, _), ..] = high
        && sorted.len() > FEW
    {
        let (low, high) = (choose(low)?, choose(high)?);
        let mut program = vec![step(AT_LEAST, *first, low.len(), 0)?];
        program.extend(low);
        program.extend(high);
        return Ok(program);
    }
    let mut program = Vec::new();
    for &(number, answer) in sorted {
        program.push(step(EQUAL, number, 0, 1)?);
        program.push(step(ANSWER, answer, 0, 0)?);
    }
    program.push(step(ANSWER, ALLOW, 0, 0)?);
    Ok(program)
}

/// One instruction: how many to skip if what it asks is so, and if not.
fn step(code: u32, value: u32, if_so: usize, if_not: u8) -> io::Result<sock_filter> {
    Ok(sock_filter {
        code: u16::try_from(code).map_err(io::Error::other)?,
        jt: u8::try_from(if_so).map_err(io::Error::other)?,
        jf: if_not,
        k: value,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a program on a number: its answer, and the count of steps.
    fn run(program: &BpfProgram, number: u32) -> (u32, usize) {
        let (mut at, mut steps) = (0, 0);
        loop {
            let step = &program[at];
            (at, steps) = (at + 1, steps + 1);
            let is_so = match u32::from(step.code) {
                LOAD => continue,
                ANSWER => return (step.k, steps),
                EQUAL => number == step.k,
                AT_LEAST => number >= step.k,
                code => panic!("{code}"),
            };
            at += usize::from(if is_so { step.jt } else { step.jf });
        }
    }

    #[test]
    fn each_number_gets_its_answer_and_all_others_go_on() {
        for count in 0..150 {
            let listed =
                |number: i64| (number % 3 == 0 && number < 3 * count).then_some(13 + count);
            let numbers = (0..600).rev();
            let answers =
                numbers.filter_map(|number| Some((number, i32::try_from(listed(number)?).ok()?)));
            let program = program(answers).unwrap();
            for number in 0..i64::from(NEWER) {
                let expected =
                    listed(number).map_or(ALLOW, |errno| ERRNO | u32::try_from(errno).unwrap());
                let (answer, steps) = run(&program, u32::try_from(number).unwrap());
                assert_eq!(answer, expected, "{number} of {count}");
                assert!(steps < 20);
            }
        }
    }

    #[test]
    fn numbers_of_later_kernels_and_of_the_second_set_are_unknown() {
        const X32: u32 = 0x4000_0000;
        let program = program([(39, 1)]).unwrap();
        for number in [NEWER, 999, X32, X32 + 39, u32::MAX] {
            assert_eq!(run(&program, number).0, ERRNO | libc::ENOSYS.unsigned_abs());
        }
        assert_eq!(run(&program, NEWER - 1).0, ALLOW);
    }

    #[test]
    fn too_many_numbers_are_an_error_and_no_wrong_filter() {
        assert!(program((0..2000).map(|number| (number, 1))).is_err());
    }
}
