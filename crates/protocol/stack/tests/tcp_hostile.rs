//! A peer that sends anything.

#[path = "harness/hostile.rs"]
mod hostile;

use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_segments_make_a_host_panic_spin_or_hold_on_for_ever(
        script in proptest::collection::vec(any::<u8>(), 0..400),
    ) {
        hostile::play(&script);
    }
}
