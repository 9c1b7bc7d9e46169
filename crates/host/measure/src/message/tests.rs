use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn role() -> impl Strategy<Value = Role> {
    prop_oneof![
        Just(Role::Send),
        Just(Role::Receive),
        any::<u16>().prop_map(Role::Echo),
        any::<u16>().prop_map(Role::Compare)
    ]
}

fn settings() -> impl Strategy<Value = Settings> {
    let known = (any::<Option<bool>>(), any::<Option<u32>>(), any::<bool>());
    known.prop_map(
        |(checksum_enabled, tcp_fastopen, mptcp_fast_open)| Settings {
            checksum_enabled,
            tcp_fastopen,
            mptcp_fast_open,
        },
    )
}

fn syn() -> impl Strategy<Value = SynOptions> {
    let known = (
        vec("[a-z0-9-]{1,9}", 0..5),
        any::<bool>(),
        any::<Option<u8>>(),
        any::<u32>(),
    );
    known.prop_map(|(names, checksum, cookie_bytes, data_bytes)| SynOptions {
        names,
        checksum,
        cookie_bytes,
        data_bytes,
    })
}

fn ended() -> impl Strategy<Value = Ended> {
    let failure = prop::option::of(prop_oneof![
        Just(FastOpenFailure::CookieUnavailable),
        Just(FastOpenFailure::DataNotAcked),
        Just(FastOpenFailure::SynRetransmitted),
    ]);
    let of_syn = (prop::option::of(syn()), any::<Option<bool>>(), failure);
    (of_syn, any::<Option<bool>>(), any::<Option<u64>>()).prop_map(
        |((syn, syn_data_acked, fast_open_failure), checksum, changed_bytes)| Ended {
            syn,
            changed_bytes,
            seen: Seen {
                checksum,
                syn_data_acked,
                fast_open_failure,
                ..Seen::default()
            },
            ..Ended::default()
        },
    )
}

fn answer() -> impl Strategy<Value = Answer> {
    let report = (vec(prop::option::of(ended()), 0..4), any::<Option<u64>>());
    let terms = (any::<u16>(), any::<Option<u64>>(), settings());
    prop_oneof![
        report.prop_map(|(connections, wrong_checksums)| Answer::Report {
            connections,
            wrong_checksums,
        }),
        terms.prop_map(
            |(data_port, rate_limit_bps, settings)| Answer::Welcome(Terms {
                data_port,
                rate_limit_bps,
                volume_left_bytes: None,
                settings,
            })
        ),
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
    fn an_answer_is_read_as_it_was_written(answer in answer()) {
        prop_assert_eq!(from_bytes::<Answer>(&to_bytes(&answer)).unwrap(), answer);
    }

    #[test]
    fn a_damaged_answer_is_a_message_or_an_error(
        answer in answer(), place: prop::sample::Index, byte: u8,
    ) {
        let mut bytes = to_bytes(&answer);
        let place = place.index(bytes.len());
        bytes[place] = byte;
        let _ = from_bytes::<Answer>(&bytes);
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
            let of_each = [Role::Echo(MOST_ECHOES), Role::Compare(MOST_COMPARED_BYTES)];
            let of_each = of_each.map(Role::both_ways_bytes).into_iter().max().unwrap();
            let both_ways = MOST_CONNECTIONS as u64 * of_each;
            prop_assert!(experiment.most_bytes() <= LARGEST_BYTES + both_ways);
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
