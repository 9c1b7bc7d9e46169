//! A plan from any bytes: refused, or simulated for a bounded while. No panic, no moment without end.
#![no_main]

#[path = "../../tests/hostile/mod.rs"]
mod hostile;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(plan) = serde_json::from_slice(bytes) {
        hostile::play(plan);
    }
});
