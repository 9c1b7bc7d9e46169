//! Connections come about and end, over both families.

use crate::Test;
use crate::meeting::{BOTH, Meeting};

pub(crate) const TESTS: &[Test] = &[
    (
        "a_connection_opened_by_either_carries_bytes_both_ways_and_ends",
        exchange,
    ),
    (
        "a_connection_over_ipv6_carries_bytes_both_ways",
        exchange_over_ipv6,
    ),
    ("a_connection_without_a_byte_ends_in_order", nothing),
];

fn exchange() {
    for opener in BOTH {
        let end = Meeting::new(opener, 100_000).run(|_| {});
        end.assert_exchanged(100_000);
        end.assert_multipath();
    }
}

fn exchange_over_ipv6() {
    for opener in BOTH {
        let end = Meeting::new(opener, 100_000).over_ipv6().run(|_| {});
        end.assert_exchanged(100_000);
        end.assert_multipath();
    }
}

fn nothing() {
    for opener in BOTH {
        let end = Meeting::new(opener, 0).run(|_| {});
        end.assert_exchanged(0);
        end.assert_multipath();
    }
}
