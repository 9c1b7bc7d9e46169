//! The host stack live against the kernel's MPTCP, as client and as server.
//!
//! A world of the simulator has the kernel's host at its edge: two TUN devices of a network
//! namespace, behind which the links and middleboxes of the world lead to our host stack. Both
//! applications send bytes of which each depends on its place, and check what they receive. No test
//! looks at a clock: what has to happen before something else is waited for. Where the machine has
//! no MPTCP, no namespaces or no TUN device the tests are skipped, with the reason.

mod application;
mod bulk;
mod closing;
mod content;
mod fallback;
mod handshake;
mod kernel;
mod meeting;
mod paths;
mod walls;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

/// A test: the sentence that it proves, and how.
type Test = (&'static str, fn());

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    if let Err(reason) = walls::enter() {
        println!("skipped the meetings with the kernel: {reason}");
        return ExitCode::SUCCESS;
    }
    // Each meeting keeps a processor busy.
    arguments.test_threads.get_or_insert(2);
    let tests = [
        handshake::TESTS,
        paths::TESTS,
        bulk::TESTS,
        closing::TESTS,
        fallback::TESTS,
    ]
    .concat();
    let trial = |(name, test): Test| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    };
    let trials = tests.into_iter().map(trial).collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}
