//! Gate 1: the arguments fit, and the tool has said what it will need. Nothing is decided here.

mod asks;
mod scout;

pub use asks::{Asks, Want};
/// What a tool author and a caller need of the argument decoder.
pub use schema::{ArgumentFault, RawArguments};
pub use scout::{NotFailed, Scout};

pub(crate) use asks::Wanted;

use crate::{
    access::AnyAccess,
    call::{NotRun, Tag},
    g0_offer::Offered,
    tool::Prepared,
};

/// Proof that the arguments fit, with all the call wants.
pub(crate) struct Decoded {
    pub(crate) prepared: Box<dyn Prepared>,
    pub(crate) wanted: Vec<AnyAccess>,
}

pub(crate) fn decode(call: Tag<'_>, offered: &Offered) -> Result<Decoded, NotRun> {
    let scout = Scout::new(call);
    let mut wanted = Wanted::new(call.live.ids.call);
    let prepared = offered
        .tool
        .prepare(&offered.arguments, &scout, &mut wanted);
    let invalid = |faults| NotRun::InvalidArguments {
        tool: offered.tool.name().to_owned(),
        faults,
    };
    Ok(Decoded {
        prepared: prepared.map_err(invalid)?,
        wanted: wanted.into_list(),
    })
}
