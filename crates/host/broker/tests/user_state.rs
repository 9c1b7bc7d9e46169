//! The state of a user against clients that do anything. The same scripts are fuzzed, see `fuzz`.

#[path = "harness/hostile.rs"]
mod hostile;

use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_script_is_answered_and_leaves_nothing(script in prop::collection::vec(any::<u8>(), 0..600)) {
        hostile::play(&script);
    }
}
