use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn role() -> impl Strategy<Value = Role> {
    prop_oneof![
        Just(Role::Send),
        Just(Role::Receive),
        any::<u16>().prop_map(Role::Echo)
    ]
}

fn experiment() -> impl Strategy<Value = Experiment> {
    let control = proptest::option::of("[a-z]{1,9}");
    (any::<u64>(), any::<u32>(), control, vec(role(), 0..12)).prop_map(
        |(bytes, longest_ms, congestion_control, connections)| Experiment {
            bytes,
            longest_ms,
            congestion_control,
            connections,
        },
    )
}

fn request() -> impl Strategy<Value = Request> {
    prop_oneof![
        (any::<u16>(), any::<String>(), any::<String>()).prop_map(|(version, holder, proof)| {
            Request::Prove {
                version,
                holder,
                proof,
            }
        }),
        experiment().prop_map(Request::Reserve),
        Just(Request::Finish {}),
    ]
}

proptest! {
    #[test]
    fn a_request_is_read_as_it_was_written(request in request()) {
        prop_assert_eq!(from_bytes::<Request>(&to_bytes(&request)).unwrap(), request);
    }

    #[test]
    fn any_bytes_are_a_message_or_an_error(bytes: Vec<u8>) {
        let _ = from_bytes::<Request>(&bytes);
        let _ = from_bytes::<Answer>(&bytes);
    }

    #[test]
    fn a_damaged_request_is_a_message_or_an_error(
        request in request(), place: prop::sample::Index, byte: u8,
    ) {
        let mut bytes = to_bytes(&request);
        let place = place.index(bytes.len());
        bytes[place] = byte;
        if let Ok(Request::Reserve(experiment)) = from_bytes(&bytes) {
            let _ = experiment.check();
        }
    }

    #[test]
    fn what_passes_the_check_is_within_the_limits(experiment in experiment()) {
        if experiment.check().is_ok() {
            let echoes = MOST_CONNECTIONS as u64 * Role::Echo(MOST_ECHOES).echo_bytes();
            prop_assert!(experiment.most_bytes() <= LARGEST_BYTES + echoes);
            prop_assert!(experiment.longest_ms <= LONGEST_MS);
        }
    }
}

#[test]
fn fields_that_are_not_known_are_refused() {
    assert!(from_bytes::<Request>(br#"{"kind":"finish","more":1}"#).is_err());
    assert!(from_bytes::<Request>(br#"{"kind":"unheard"}"#).is_err());
    let deep = "[".repeat(100_000);
    assert!(from_bytes::<Request>(deep.as_bytes()).is_err());
}
