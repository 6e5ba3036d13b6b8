//! From a target to an open connection: judged, looked up, checked, dialled, in this order.
//!
//! Must not dial an address that was not checked here: there is one look-up, and what it gave is what
//! is dialled.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use tokio::{
    net::{TcpStream, lookup_host},
    time::{Instant, timeout},
};

use crate::{
    BoxFuture, Resolver,
    host::Target,
    place::{Place, place},
    serve::{Outcome, Proxy},
};

/// More addresses of one name are not tried.
const ADDRESSES_MAX: usize = 8;

/// Why there is no connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shut {
    /// The judge said no, or nobody answered: a rule would change that.
    Refused(String),
    /// It leads where no name may lead; a rule for the name does not change that.
    Closed(String),
    /// It was allowed, but the other end cannot be reached.
    Failed(String),
}

impl Proxy {
    /// Opens a connection to `target`. `judged` is what this client connection has leave for.
    pub(crate) async fn open(
        &self,
        target: &Target,
        judged: &mut Option<Target>,
    ) -> Result<TcpStream, Shut> {
        let opened = self.try_open(target, judged).await;
        let outcome = match &opened {
            Ok(_) => Outcome::Opened,
            Err(Shut::Refused(reason) | Shut::Closed(reason)) => Outcome::Refused(reason.clone()),
            Err(Shut::Failed(reason)) => Outcome::Failed(reason.clone()),
        };
        self.hear(Some(target), outcome);
        opened
    }

    async fn try_open(
        &self,
        target: &Target,
        judged: &mut Option<Target>,
    ) -> Result<TcpStream, Shut> {
        if let Some(place) = target.place().filter(|place| is_no_one(*place)) {
            return Err(Shut::Closed(format!("it is {}", place.words())));
        }
        if judged.as_ref() != Some(target) {
            *judged = None;
            self.judge(target).await?;
            *judged = Some(target.clone());
        }
        let deadline = Instant::now() + self.limits.dial;
        let addresses = self.addresses(target).await?;
        dial(&addresses, target.port, deadline).await
    }

    async fn judge(&self, target: &Target) -> Result<(), Shut> {
        let limit = self.limits.judge;
        match timeout(limit, self.judge.may_reach(target.clone())).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(reason)) => Err(Shut::Refused(reason)),
            Err(_) => Err(Shut::Refused(format!(
                "nobody answered within {} s",
                limit.as_secs_f32()
            ))),
        }
    }

    /// The addresses that may be dialled for `target`; never none.
    async fn addresses(&self, target: &Target) -> Result<Vec<IpAddr>, Shut> {
        let Some(name) = target.host.name() else {
            return Ok(target.host.address().into_iter().collect());
        };
        let found = match timeout(self.limits.dial, self.resolver.resolve(name)).await {
            Ok(Ok(found)) => found,
            Ok(Err(error)) => {
                return Err(Shut::Failed(format!("{name} was not found: {error}")));
            }
            Err(_) => return Err(Shut::Failed(format!("the look-up of {name} took too long"))),
        };
        let mut addresses: Vec<IpAddr> = Vec::new();
        for address in found.into_iter().map(|address| address.to_canonical()) {
            if !addresses.contains(&address) {
                addresses.push(address);
            }
        }
        if addresses.is_empty() {
            return Err(Shut::Failed(format!("{name} has no address")));
        }
        // One such address closes all: a name that mixes both kinds is a trick.
        for address in &addresses {
            let place = place(*address);
            let is_listed = self.named_private.contains(&target.host) && !is_no_one(place);
            if place != Place::Public && !is_listed {
                return Err(Shut::Closed(format!(
                    "{name} leads to {address}, {}, and is not listed as a name that may",
                    place.words()
                )));
            }
        }
        addresses.truncate(ADDRESSES_MAX);
        Ok(addresses)
    }
}

/// Whether no single machine has such an address. Dialled, 0.0.0.0 is this machine: a second spelling,
/// which nobody who is asked would expect.
fn is_no_one(place: Place) -> bool {
    matches!(place, Place::Unspecified | Place::Multicast)
}

/// Tries one address after the other; each has its share of the time that is left.
async fn dial(addresses: &[IpAddr], port: u16, deadline: Instant) -> Result<TcpStream, Shut> {
    let mut reason = String::new();
    for (index, address) in addresses.iter().enumerate() {
        let rest = u32::try_from(addresses.len() - index).unwrap_or(u32::MAX);
        let share: Duration = deadline.saturating_duration_since(Instant::now()) / rest;
        let address = SocketAddr::new(*address, port);
        reason = match timeout(share, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => match stream.set_nodelay(true) {
                Ok(()) => return Ok(stream),
                Err(error) => format!("{address}: {error}"),
            },
            Ok(Err(error)) => format!("{address}: {error}"),
            Err(_) => format!("{address} did not answer in time"),
        };
    }
    Err(Shut::Failed(reason))
}

/// The resolver of the system, with its own search list and its own `hosts` file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let found = lookup_host((name, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}
