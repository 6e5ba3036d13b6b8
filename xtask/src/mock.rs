//! A model for programs that are measured: plays one script to all who ask, until it is killed.
//! Must not be reachable from another machine; nothing of what it hears is kept.

use std::{convert::Infallible, fs};

use ::conform::mock::Mock;
use anyhow::{Context, Result, bail};

/// Serves `--script FILE` on `--port N` of the loopback interface; without a port, on a free one.
/// The port alone is the first line on standard output.
///
/// # Errors
/// The words are wrong, the script is none, or the port is taken.
pub(crate) fn run(words: &[&str]) -> Result<Infallible> {
    let (mut port, mut script) = (0, None);
    for pair in words.chunks(2) {
        match pair {
            ["--port", number] => port = number.parse().context("--port takes a number")?,
            ["--script", file] => script = Some(*file),
            other => bail!("`{}` is not `--port N` or `--script FILE`", other.join(" ")),
        }
    }
    let file = script.context("mock needs `--script FILE`")?;
    let script = fs::read_to_string(file).with_context(|| format!("cannot read {file}"))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mock = Mock::on_port(port, &script).await.context("no mock")?;
        println!("{}", mock.port());
        eprintln!("base URL {}", mock.base_url());
        std::future::pending().await
    })
}
