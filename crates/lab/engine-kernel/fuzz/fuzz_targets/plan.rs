//! A plan from any bytes: refused with an error, or read, written and read again the same; what its
//! links ask for is refused by name or makes a link.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mptcplab_engine_kernel::plan::Plan;
use mptcplab_link::Link;

fuzz_target!(|bytes: &[u8]| {
    let Ok(plan) = serde_json::from_slice::<Plan>(bytes) else {
        return;
    };
    let text = serde_json::to_string(&plan).expect("a plan can be written");
    let again: Plan = serde_json::from_str(&text).expect("what was written can be read");
    assert_eq!(serde_json::to_string(&again).expect("as above"), text);
    for link in &plan.links {
        if let Ok(mut model) = Link::new(&link.config, plan.seed) {
            let _ = model.offer(0, 0, 1500, ());
            model.poll(1_000_000, &mut Vec::new());
        }
    }
});
