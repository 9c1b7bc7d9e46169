//! Much data both ways, over paths that lose, reorder, double and change it, and that fail.

use mptcplab_link::{LinkChange, Loss, Reordering};
use mptcplab_plan::{Action, EndpointFlags, Middlebox};

use crate::Test;
use crate::meeting::{BOTH, Meeting, Now, OURS, Opener};

pub(crate) const TESTS: &[Test] = &[
    ("megabytes_go_both_ways_over_two_paths", two_paths),
    ("nothing_is_lost_when_packets_are", loss),
    (
        "nothing_is_moved_when_packets_are_reordered_and_doubled",
        reordering,
    ),
    ("nothing_is_changed_when_packets_are_corrupted", corruption),
    ("checksums_agree_both_ways", checksums),
    (
        "a_change_that_mends_the_checksum_of_tcp_is_found_by_that_of_the_data",
        changed_data,
    ),
    (
        "a_transfer_goes_on_when_the_path_of_its_first_subflow_fails",
        failure,
    ),
    (
        "a_backup_is_used_only_when_the_other_path_has_failed",
        backup,
    ),
    (
        "the_kernel_sends_over_our_backup_only_when_the_other_path_has_failed",
        our_backup,
    ),
];

const SUBFLOW: EndpointFlags = EndpointFlags {
    signal: false,
    subflow: true,
    backup: false,
    fullmesh: false,
};

const BYTES: u64 = 3_000_000;

/// Counter of expired retransmission timers.
const TIMEOUTS: &str = "TcpExtTCPTimeouts";

/// A meeting with a second subflow, opened by the end that opens the connection.
fn with_second_subflow(opener: Opener, bytes: u64) -> Meeting {
    let meeting = Meeting::new(opener, bytes);
    match opener {
        Opener::Kernel => meeting.kernel_endpoint(SUBFLOW),
        Opener::Ours => meeting.our_endpoint(SUBFLOW),
    }
    .held()
}

/// Waits for the second subflow before the second half.
fn wait_for_join(now: &mut Now<'_>) {
    now.go_on_if(now.application.established() >= 2);
}

fn two_paths() {
    for opener in BOTH {
        let mut bytes_by_path = Vec::new();
        let end = with_second_subflow(opener, BYTES).run(|now| {
            wait_for_join(now);
            bytes_by_path = now.bytes_by_subflow();
        });
        end.assert_exchanged(BYTES);
        end.assert_multipath();
        let used = bytes_by_path
            .iter()
            .filter(|[sent, received]| *sent > 0 && *received > 0);
        assert_eq!(used.count(), 2, "{opener:?}: {bytes_by_path:?}");
    }
}

fn loss() {
    for opener in BOTH {
        let meeting = with_second_subflow(opener, 1_000_000);
        let lossy = meeting.paths(|direction| direction.loss = Loss::Random { probability: 0.02 });
        let end = lossy.run(wait_for_join);
        end.assert_exchanged(1_000_000);
        end.assert_multipath();
    }
}

fn reordering() {
    for opener in BOTH {
        let meeting = with_second_subflow(opener, 1_000_000).paths(|direction| {
            direction.reordering = Some(Reordering {
                probability: 0.05,
                extra_ns: 4_000_000,
            });
            direction.duplication = 0.05;
        });
        let end = meeting.run(wait_for_join);
        end.assert_exchanged(1_000_000);
        end.assert_multipath();
    }
}

fn corruption() {
    for opener in BOTH {
        let meeting = with_second_subflow(opener, 1_000_000).middlebox(Middlebox::Corrupt {
            probability: 0.02,
            direction: None,
        });
        let end = meeting.run(wait_for_join);
        end.assert_exchanged(1_000_000);
        end.assert_multipath();
    }
}

fn checksums() {
    for opener in BOTH {
        let end = with_second_subflow(opener, 1_000_000)
            .with_checksums()
            .run(wait_for_join);
        end.assert_exchanged(1_000_000);
        end.assert_multipath();
        assert_eq!(end.kernel.counter("MPTcpExtDataCsumErr"), 0);
    }
}

/// The second path changes everything. The receiver refuses the subflow with MP_FAIL, and the data
/// goes over the first path.
fn changed_data() {
    for opener in BOTH {
        let change = Middlebox::ChangePayload {
            probability: 1.0,
            direction: None,
        };
        let meeting = with_second_subflow(opener, 1_000_000).with_checksums();
        let end = meeting.middlebox_in(1, change).run(|now| {
            now.go_on_if(now.application.subflows_closed() > 0);
        });
        end.assert_exchanged(1_000_000);
        end.assert_multipath();
        let failures =
            ["MPTcpExtMPFailTx", "MPTcpExtMPFailRx"].map(|name| end.kernel.counter(name));
        assert!(failures.iter().sum::<u64>() > 0, "{opener:?}");
    }
}

fn failure() {
    for opener in BOTH {
        let mut failed = false;
        let end = with_second_subflow(opener, BYTES).run(|now| {
            let under_way = now.application.received > BYTES / 10;
            if !failed && under_way && now.application.established() == 2 {
                failed = true;
                now.fail_first_path();
            }
            now.go_on_if(failed);
        });
        end.assert_exchanged(BYTES);
        end.assert_multipath();
    }
}

fn backup() {
    // The kernel opens the backup, and tells so in its MP_JOIN.
    let flags = EndpointFlags {
        backup: true,
        ..SUBFLOW
    };
    backup_switch(|| Meeting::new(Opener::Kernel, BYTES).kernel_endpoint(flags));
}

fn our_backup() {
    let flags = EndpointFlags {
        backup: true,
        ..SUBFLOW
    };
    backup_switch(|| Meeting::new(Opener::Ours, BYTES).our_endpoint(flags));
}

/// Meetings until one is not disturbed.
const ATTEMPTS: usize = 5;

/// Lets the first path fail when a part was exchanged, and looks at the data that each path has
/// carried until then.
///
/// A machine so busy that a timer expires before the path fails proves nothing: a path that seems
/// to have failed may have its backup used. Such meetings only have to end well.
fn backup_switch(meeting: impl Fn() -> Meeting) {
    for _ in 0..ATTEMPTS {
        let mut before = None;
        let mut after = Vec::new();
        let end = meeting().held().run(|now| {
            let under_way = now.application.received > BYTES / 10;
            if before.is_none() && under_way && now.application.established() == 2 {
                before = Some((now.bytes_by_subflow(), now.timeouts()));
                now.fail_first_path();
            }
            if before.is_some() {
                after = now.bytes_by_subflow();
            }
            now.go_on_if(before.is_some());
        });
        end.assert_exchanged(BYTES);
        let backup = after.last().expect("the backup lives");
        assert!(backup[0] > 0 && backup[1] > 0, "{after:?}");
        let (before, timeouts) = before.expect("the first path has failed");
        if timeouts == 0 {
            let message = "nothing goes over the backup while there is another path";
            return assert_eq!(before[1], [0, 0], "{message}");
        }
    }
    println!("this machine is too busy to see that a backup is not used");
}

impl Now<'_> {
    /// Timeouts of both hosts so far.
    fn timeouts(&self) -> u64 {
        let stack = self.world.stack(OURS).expect("a host has one");
        let counters = stack.counters().into_iter();
        let ours = counters.filter(|(name, _)| *name == TIMEOUTS);
        self.kernel.counter(TIMEOUTS) + ours.map(|(_, value)| value).sum::<u64>()
    }

    /// Lets the first path lose everything from now on, of which neither host is told.
    fn fail_first_path(&mut self) {
        let change = LinkChange {
            up: Some(false),
            ..LinkChange::default()
        };
        let action = Action::Link {
            link: 0,
            change,
            carrier: None,
        };
        self.world.act(&action).expect("the link can go down");
    }
}
