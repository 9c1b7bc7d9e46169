//! The emulator rests where there is nothing to do: its real-time priority would keep all others,
//! the kernel's workers among them, from its processor.

mod traffic_world;

use std::thread::sleep;
use std::time::{Duration, Instant};

use mptcplab_engine_kernel::emulator::{EmulatedLink, Emulator, LinkEnd, LinkTime, Middleboxes};
use mptcplab_engine_kernel::frames::port::{Interface, Port};
use mptcplab_engine_kernel::netns::NetNs;
use mptcplab_engine_kernel::realtime::ReservedThread;
use mptcplab_engine_kernel::run_clock::RunClock;
use mptcplab_engine_kernel::translations::Translations;
use mptcplab_link::LinkConfig;
use mptcplab_linux::rtnetlink::Rtnetlink;
use mptcplab_middlebox::Chain;
use nix::net::if_::if_nametoindex;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use traffic_world::{inside, ip};

/// Time that this process has used on processors.
fn used() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_SELF).unwrap();
    let spent = usage.user_time() + usage.system_time();
    Duration::from_micros(spent.num_microseconds() as u64)
}

#[test]
fn an_interface_that_is_set_down_does_not_keep_it_awake() {
    if !inside("an_interface_that_is_set_down_does_not_keep_it_awake") {
        return;
    }
    let look = || {
        let mut rtnetlink = Rtnetlink::open().unwrap();
        let ends = ["near", "far"].map(|name| if_nametoindex(name).unwrap());
        let ports = ends.map(|index| {
            rtnetlink.set_up(index, true).unwrap();
            let (mtu, offload) = (1500, false);
            Port::open(Interface {
                index,
                mtu,
                offload,
            })
            .unwrap()
        });
        let link = EmulatedLink {
            config: LinkConfig::default(),
            seed: 1,
            middleboxes: Middleboxes::new(
                Chain::new(&[], 1, 0),
                [2, 0, 0, 0, 0, 1],
                1500,
                Translations::default(),
            ),
            ends: ports.map(LinkEnd::Interface),
            taps: [None, None],
        };
        let thread = ReservedThread::spawn("links").unwrap();
        let time = LinkTime::since(Instant::now(), &RunClock::default());
        let emulator = Emulator::start(thread, vec![link], None, time, || ()).unwrap();
        rtnetlink.set_up(ends[0], false).unwrap();
        let before = used();
        sleep(Duration::from_millis(500));
        let spent = used() - before;
        emulator.stop().unwrap();
        assert!(spent < Duration::from_millis(50), "{spent:?} of 500 ms");
    };
    let netns = NetNs::create().unwrap();
    ip(&netns, "link add near type veth peer name far");
    netns.run(look).unwrap();
}
