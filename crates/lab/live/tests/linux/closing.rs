//! Connections that are ended before their time.

use std::io::ErrorKind;

use mptcplab_stack::CloseReason;

use crate::Test;
use crate::kernel::Deed;
use crate::meeting::{BOTH, Meeting, OURS};

pub(crate) const TESTS: &[Test] = &[
    (
        "we_see_the_end_of_a_connection_that_the_kernel_aborts",
        kernel_aborts,
    ),
    (
        "the_kernel_sees_the_end_of_a_connection_that_we_abort",
        we_abort,
    ),
];

const BYTES: u64 = 1_000_000;

fn kernel_aborts() {
    for opener in BOTH {
        let mut meeting = Meeting::new(opener, BYTES);
        meeting.deed = Deed::AbortAfter(BYTES / 4);
        let end = meeting.held().run(|_| {});
        assert_eq!(
            end.application.closed,
            Some(CloseReason::Reset),
            "{opener:?}"
        );
        assert_eq!(end.kernel.counter("MPTcpExtMPFastcloseTx"), 1);
    }
}

fn we_abort() {
    for opener in BOTH {
        let mut aborted = false;
        let mut meeting = Meeting::new(opener, BYTES).held();
        // With data before it that is lost on the way, the reset would be taken for a stray one
        // (RFC 5961, section 3.2), and MP_FASTCLOSE is not repeated.
        meeting.application.to_send = 0;
        let end = meeting.run(|now| {
            if let Some(id) = now.application.id
                && !aborted
                && now.application.received > BYTES / 4
            {
                aborted = true;
                now.world
                    .with_stack(OURS, |stack, now| stack.abort(now, id));
            }
        });
        assert_eq!(
            end.application.closed,
            Some(CloseReason::Aborted),
            "{opener:?}"
        );
        let error = end.received.expect_err("the connection was aborted");
        assert!(
            matches!(
                error.kind(),
                ErrorKind::ConnectionReset | ErrorKind::BrokenPipe
            ),
            "{error}"
        );
        assert_eq!(end.kernel.counter("MPTcpExtMPFastcloseRx"), 1);
    }
}
