//! Gate 3: whatever acts, acts on an order: a spent permit within the walls of its call.

mod effects;
mod failed;
mod look;
mod order;
mod reach;
mod walls;

pub use effects::{CallContext, Effects, Progress, Silent};
pub use failed::{FAILED_LINES_MAX, FailedLine, FailedLines};
pub use look::{Look, Seen};
pub use order::Order;
pub use reach::{REACH_ASKS_MAX, Reach};
pub use walls::{ChildRules, ChildWrites, Confinement, Leave, Opening, Profile, ReadFilter, Walls};

pub(crate) use failed::{Acting, Acts, LineKey};

use crate::{
    Problem,
    g2_admit::{Admitted, Ledger, Sighted},
    output::ToolOutput,
    tool::Prepared,
};

/// Proof that the preview is over: every write that will be asked about has its bytes.
pub(crate) struct Bound<'call> {
    pub(crate) prepared: Box<dyn Prepared>,
    pub(crate) ledger: Ledger<'call>,
}

/// What runs.
pub(crate) struct Confined<'call> {
    admitted: Admitted<'call>,
    effects: Effects<'call>,
}

pub(crate) async fn preview(sighted: Sighted<'_>) -> Result<Bound<'_>, Problem> {
    let Sighted {
        mut prepared,
        ledger,
    } = sighted;
    let mut look = Look::new(ledger);
    prepared.preview(&mut look).await?;
    Ok(Bound {
        prepared,
        ledger: look.into_ledger(),
    })
}

pub(crate) fn confine(admitted: Admitted<'_>) -> Confined<'_> {
    let effects = Effects::of(admitted.ledger.call());
    Confined { admitted, effects }
}

impl Confined<'_> {
    pub(crate) async fn run(self) -> Result<ToolOutput, Problem> {
        let Admitted { prepared, ledger } = self.admitted;
        prepared.run(ledger, CallContext::new(self.effects)).await
    }
}
