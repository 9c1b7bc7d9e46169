//! Rests, as a congestion control hears of them.

mod mptcp_world;

use std::sync::atomic::{AtomicU64, Ordering};

use mptcp_world::*;
use mptcplab_stack::congestion::{
    Ack, CongestionControl, CongestionEvent, PathView, Supplied, Window,
};
use mptcplab_stack::{CongestionAlgorithm, SocketOptions};

/// Rests of which connections of this program were told.
static RESTS: AtomicU64 = AtomicU64::new(0);

/// A window that stays as it is.
#[derive(Clone, Debug)]
struct Constant;

impl CongestionControl for Constant {
    fn name(&self) -> &'static str {
        "constant"
    }

    fn on_ack(&mut self, _window: &mut Window, _ack: &Ack, _paths: &[PathView]) {}

    fn on_congestion_event(
        &mut self,
        window: &Window,
        _event: &CongestionEvent,
        _paths: &[PathView],
    ) -> u64 {
        window.bytes
    }

    fn on_restart(&mut self, _now: u64, _idle_ns: u64) {
        RESTS.fetch_add(1, Ordering::Relaxed);
    }
}

/// A write of many segments after a rest is handed to the subflow one by one, before the first of
/// them leaves.
#[test]
fn a_rest_is_told_once_however_many_segments_follow_it() {
    let mut world = World::new(vec![Path::new(10 * MS, 0)], generous());
    let ids = world.establish(SocketOptions {
        congestion_control: CongestionAlgorithm::Supplied(Supplied {
            name: "constant",
            create: |_| Box::new(Constant),
        }),
        ..mptcp()
    });
    world.transfer(CLIENT, ids, &pattern(10_000), SECOND);
    for rests in 1..5 {
        world.run_for(SECOND);
        RESTS.store(0, Ordering::Relaxed);
        world.write(CLIENT, ids[CLIENT], pattern(10_000 * rests));
        assert_eq!(RESTS.load(Ordering::Relaxed), 1);
    }
}
