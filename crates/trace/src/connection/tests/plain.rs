//! Plain TCP, and fallback to it.

use super::*;

#[test]
fn the_subflow_counts_in_plain_tcp() {
    let mut lab = Lab::unknown();
    lab.connection = Connection::new(true);
    lab.open(0);
    let found = lab.client(0, bare(1, 100));
    assert_eq!((found.data_sequence, found.new_data_bytes), (Some(1), 100));
    assert_eq!(lab.client(0, bare(51, 100)).new_data_bytes, 50);
    let acknowledgement = Draft {
        acknowledgement: Some(151),
        ..bare(1, 0)
    };
    assert_eq!(
        lab.server(0, acknowledgement).data_acknowledgement,
        Some(151)
    );
    assert_eq!(
        lab.sent_by_client().round_trip.map(|trips| trips.samples),
        Some(1)
    );
    // One byte before the window is to be answered, not taken.
    let probe = Draft {
        kind: Some(Kind::KeepAlive),
        ..bare(0, 1)
    };
    assert_eq!(lab.client(0, probe), DataVerdict::default());
}

#[test]
fn plain_tcp_without_a_handshake_counts_as_its_subflow_does() {
    let mut lab = Lab::unknown();
    lab.connection = Connection::new(true);
    lab.connection.add_subflows(1);
    let draft = bare(1, 100);
    let mut segment = lab.segment(0, Side::Client, &draft);
    segment.sequence = 77_777;
    let verdict = Verdict {
        sequence: 1,
        new_bytes: 100,
        ..Verdict::of(Kind::New)
    };
    let found = lab.client_sends(&segment, &verdict);
    assert_eq!((found.data_sequence, found.new_data_bytes), (Some(1), 100));
}

#[test]
fn after_fallback_the_subflow_goes_on() {
    // Before anything was mapped.
    let mut lab = Lab::new(1);
    lab.connection.fall_back();
    assert_eq!(lab.client(0, bare(1, 100)).data_sequence, Some(1));
    // Later, told or not.
    for told in [false, true] {
        let mut lab = Lab::new(1);
        lab.client(0, data(1, 1, 100));
        lab.client(0, data(101, 301, 100));
        let draft = if told {
            Draft {
                mapping: Some((301, 101, 0)),
                ..bare(201, 100)
            }
        } else {
            lab.connection.fall_back();
            bare(201, 100)
        };
        assert_eq!(lab.client(0, draft).data_sequence, Some(401), "{told}");
        assert_eq!(
            lab.client(0, bare(301, 9)).data_sequence,
            Some(501),
            "{told}"
        );
        let acknowledgement = Draft {
            acknowledgement: Some(310),
            ..bare(1, 0)
        };
        let found = lab.server(0, acknowledgement);
        assert_eq!(found.data_acknowledgement, Some(510), "{told}");
        assert_eq!(lab.sent_by_client().bytes, 309, "{told}");
    }
}
