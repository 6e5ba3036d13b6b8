//! The supervisor program of the tests, which cannot be their own. Must not do anything else.

fn main() {
    sandbox::run_if_helper();
}
