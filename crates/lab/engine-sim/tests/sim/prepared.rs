//! Transfers for which the controller's policy has chosen paths before they begin.

use mptcplab_plan::{Protocol, Way};

use crate::support::{Lab, MS};
use crate::switches::{self, CLIENT, MEGABIT, SERVER, decisions, link, over};

/// A path of 10 Mbit/s and 15 ms, and one of 2 Mbit/s and 5 ms.
fn lab() -> Lab {
    let rates = [10 * MEGABIT, 2 * MEGABIT];
    let mut lab = switches::lab("earliest-completion", &rates, CLIENT, SERVER);
    for (name, delay_ns) in [("path0-1", 14 * MS), ("path1-1", 4 * MS)] {
        let link = link(&lab, name);
        for direction in &mut lab.plan.links[link].config.directions {
            direction.delay_ns = delay_ns;
        }
    }
    lab
}

/// By the model's formulas the second path would hold the first one up. A window that grows further in
/// slow start, and the buffer with it, is what the stack has in addition.
#[test]
fn a_path_that_saves_time_is_used() {
    let mut lab = lab();
    lab.bulk_bytes(Protocol::Mptcp, Way::Down, 14_810_000);
    lab.plan.time_limit_ns = 60_000 * MS;
    let run = lab.run();
    assert_eq!(run.transfer()["bytes"], 14_810_000);
    let placed = |number: usize| (CLIENT[number].to_owned(), over(number));
    let refused = (CLIENT[2].to_owned(), "refused".to_owned());
    assert_eq!(decisions(&run), [placed(0), placed(1), refused]);
    // The first path alone takes 12.5 s.
    let end_ns = run.transfer()["end_ns"].as_u64().unwrap();
    assert!(end_ns < 11_500 * MS, "{end_ns}");
}
