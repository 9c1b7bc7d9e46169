//! Clients that do anything, in front of a kernel that answers anything.
#![no_main]

#[path = "../../tests/harness/hostile.rs"]
mod hostile;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|script: &[u8]| hostile::play(script));
