//! Captures that begin amid a connection.

use super::*;

#[test]
fn without_a_handshake_numbers_count_from_the_first_that_was_seen() {
    let mut lab = Lab::unknown();
    assert_eq!(lab.connection.wire_data_sequence(Side::Client, 1), None);
    let found = lab.client(0, data(70_001, 5001, 100));
    assert_eq!((found.data_sequence, found.new_data_bytes), (Some(1), 100));
    let first = lab.idsn[0] + 5001;
    assert_eq!(
        lab.connection.wire_data_sequence(Side::Client, 1),
        Some(first)
    );
    // Too late.
    lab.connection.set_initial(Side::Client, 0);
    assert_eq!(
        lab.client(0, data(70_101, 5101, 100)).data_sequence,
        Some(101)
    );
    // Before what was seen first, on another subflow.
    let found = lab.client(1, data(9, 4801, 100));
    assert_eq!(
        (found.data_sequence, found.new_data_bytes),
        (Some(-199), 100)
    );
    assert_eq!(
        lab.server(0, ack(70_201, 5201)).data_acknowledgement,
        Some(201)
    );
}

#[test]
fn without_a_handshake_parts_of_a_mapping_wait_until_their_place_is_known() {
    let mut lab = Lab::unknown();
    let part = |ssn, bytes| Draft {
        mapping: Some((1001, 301, 3000)),
        ..bare(ssn, bytes)
    };
    assert_eq!(lab.client(0, part(1301, 1000)), DataVerdict::default());
    assert_eq!(lab.client(0, part(2301, 1000)), DataVerdict::default());
    assert_eq!(lab.sent_by_client().unmapped_bytes, 2000);
    let found = lab.client(0, data(3301, 4001, 500));
    assert_eq!(
        (found.data_sequence, found.new_data_bytes),
        (Some(3001), 500)
    );
    assert_eq!(lab.sent_by_client().bytes, 2500);
    assert_eq!(lab.sent_by_client().unmapped_bytes, 0);
}
