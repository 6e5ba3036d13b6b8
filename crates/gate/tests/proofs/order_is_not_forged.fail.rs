//! An order is not made up, so nobody else commands a host.

#![expect(unused, reason = "only whether it compiles is asked")]

use tollgate_gate as gate;

use gate::{access::Spawn, g3_confine::Order, host::Host};

async fn command(host: &dyn Host, order: Order<Spawn>, access: Spawn) {
    drop(host.spawn(Order { access, ..order }).await);
}

fn main() {}
