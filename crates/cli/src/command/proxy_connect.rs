//! `tollgate proxy-connect HOST PORT`: one connection through the proxy of the sandbox this runs in, for programs
//! that know no proxy, such as `ssh -o ProxyCommand`. Must not reach anything but that proxy.

use crate::{Exit, args::ProxyConnectArgs, complain, error::CliError};
use proxy::{Host, Target};
use sandbox::PROXY_PORT;
use std::{
    net::{Ipv4Addr, SocketAddr},
    process::ExitCode,
};
use tokio::io;

/// Ends when the other side does. Standard input may still be open then, and nobody waits for it.
pub(crate) fn proxy_connect(args: &ProxyConnectArgs) -> ExitCode {
    match connected(args) {
        Ok(()) => Exit::Ok.into(),
        Err(CliError { exit, message }) => {
            complain(&message);
            exit.into()
        }
    }
}

fn connected(args: &ProxyConnectArgs) -> Result<(), CliError> {
    let host = Host::parse(&args.host);
    let host = host.map_err(|fault| CliError::usage(format!("`{}`: {fault}", args.host)))?;
    let target = Target {
        host,
        port: args.port,
    };
    let runtime = super::runtime()?;
    let proxy = SocketAddr::from((Ipv4Addr::LOCALHOST, PROXY_PORT));
    let done = runtime.block_on(proxy::connect(proxy, &target, io::stdin(), io::stdout()));
    runtime.shutdown_background();
    done.map_err(|error| CliError {
        exit: Exit::Failed,
        message: error.to_string(),
    })
}
