//! A peer that sends anything to a host stack in any state: no panic, no spinning, no buffer beyond
//! its limit, and nothing left at the end.
#![no_main]

#[path = "../../tests/harness/hostile.rs"]
mod hostile;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|script: &[u8]| hostile::play(script));
