//! Which data a segment carries.

use super::*;

#[test]
fn data_belongs_where_its_mapping_says() {
    let mut lab = Lab::new(1);
    let found = lab.client(0, data(1, 1, 100));
    assert_eq!(found.data_sequence, Some(1));
    assert_eq!(found.new_data_bytes, 100);
    // The numbers on the wire wrap here.
    let found = lab.client(0, data(101, 101, 400));
    assert_eq!(
        (found.data_sequence, found.new_data_bytes),
        (Some(101), 400)
    );
    let found = lab.server(0, data(1, 1, 50));
    assert_eq!((found.data_sequence, found.new_data_bytes), (Some(1), 50));
    assert_eq!(lab.sent_by_client().bytes, 500);
}

#[test]
fn a_mapping_covers_segments_that_bear_it_or_none() {
    let mut lab = Lab::new(1);
    let whole = Some((1, 1, 300));
    for (draft, dsn) in [
        (
            Draft {
                mapping: whole,
                ..bare(1, 100)
            },
            1,
        ),
        (
            Draft {
                mapping: whole,
                ..bare(101, 100)
            },
            101,
        ),
        (bare(201, 100), 201),
    ] {
        let found = lab.client(0, draft);
        assert_eq!(
            (found.data_sequence, found.new_data_bytes),
            (Some(dsn), 100)
        );
    }
}

#[test]
fn a_mapping_may_come_before_its_data_or_after() {
    let mut lab = Lab::new(1);
    let mapping = |dsn, ssn, bytes| Draft {
        mapping: Some((dsn, ssn, bytes)),
        ..bare(1, 0)
    };
    lab.client(0, mapping(1, 1, 100));
    assert_eq!(lab.client(0, bare(1, 150)).new_data_bytes, 100);
    assert_eq!(lab.client(0, bare(151, 50)), DataVerdict::default());
    assert_eq!(lab.sent_by_client().unmapped_bytes, 100);
    // Of the segments before: nothing of this one.
    assert_eq!(lab.client(0, mapping(101, 101, 60)).new_data_bytes, 0);
    assert_eq!(lab.sent_by_client().bytes, 160);
    assert_eq!(lab.sent_by_client().unmapped_bytes, 40);
    let found = lab.client(
        0,
        Draft {
            mapping: Some((161, 161, 60)),
            ..bare(201, 20)
        },
    );
    assert_eq!((found.data_sequence, found.new_data_bytes), (Some(201), 20));
    assert_eq!(lab.sent_by_client().bytes, 220);
    assert_eq!(lab.sent_by_client().unmapped_bytes, 0);
}

#[test]
fn a_mapping_once_told_stays() {
    let mut lab = Lab::new(1);
    lab.client(0, data(1, 1, 100));
    let found = lab.client(
        0,
        Draft {
            mapping: Some((501, 1, 200)),
            ..bare(1, 200)
        },
    );
    // The first half was sent before; the second is where the new mapping says.
    assert_eq!((found.data_sequence, found.new_data_bytes), (Some(1), 100));
    assert_eq!(lab.sent_by_client().bytes, 200);
    assert_eq!(lab.client(0, data(201, 601, 1)).new_data_bytes, 0);
}

#[test]
fn the_first_mapping_may_be_that_of_mp_capable() {
    let mut lab = Lab::new(1);
    let draft = bare(1, 100);
    let mut segment = lab.segment(0, Side::Client, &draft);
    segment.options.mptcp.push(MptcpOption::Capable(Capable {
        version: 1,
        checksum: false,
        extension: false,
        no_initial_address: false,
        hmac: true,
        sender_key: Some(1),
        receiver_key: Some(2),
        data_bytes: Some(100),
        data_checksum: None,
    }));
    let verdict = Verdict {
        sequence: 1,
        new_bytes: 100,
        ..Verdict::of(Kind::New)
    };
    let found = lab.client_sends(&segment, &verdict);
    assert_eq!((found.data_sequence, found.new_data_bytes), (Some(1), 100));
    assert_eq!(lab.client(0, data(101, 101, 5)).data_sequence, Some(101));
}

#[test]
fn a_data_fin_is_no_byte_of_data() {
    let mut lab = Lab::new(1);
    lab.at = 5;
    let draft = Draft {
        data_fin: true,
        mapping: Some((1, 1, 101)),
        ..bare(1, 100)
    };
    assert_eq!(lab.client(0, draft).new_data_bytes, 100);
    lab.at = 6;
    // Alone, and sent again.
    let alone = Draft {
        data_fin: true,
        mapping: Some((101, 0, 1)),
        ..bare(101, 0)
    };
    lab.client(0, alone.clone());
    lab.at = 7;
    assert_eq!(lab.server(0, ack(101, 101)).data_acknowledgement, Some(101));
    lab.at = 8;
    lab.server(0, ack(101, 102));
    let sent = lab.sent_by_client();
    assert_eq!(sent.bytes, 100);
    assert_eq!(
        (sent.data_fin_ns, sent.data_fin_acknowledged_ns),
        (Some(5), Some(8))
    );
    assert_eq!(lab.told(), [("data_fin", 5), ("data_fin_acknowledged", 8)]);
    assert_eq!(
        lab.events[0].text,
        "DATA_FIN of the client at data sequence 101"
    );
    assert_eq!(
        lab.events[1].text,
        "DATA_FIN of the client acknowledged by DATA_ACK 102"
    );
    assert_eq!(lab.connection.summary().end, DataEnd::Open);
    lab.server(
        0,
        Draft {
            mapping: Some((1, 0, 1)),
            ..alone
        },
    );
    assert_eq!(lab.connection.summary().end, DataEnd::Open);
    lab.client(0, ack(1, 2));
    assert_eq!(lab.connection.summary().end, DataEnd::DataFin);
}

#[test]
fn numbers_of_4_bytes_mean_those_close_by() {
    let mut lab = Lab::new(2);
    for round in 0..3 {
        // Each time most of what 4 bytes can tell apart, both ways.
        let dsn = 1 + round * 0x7fff_0000;
        let short = |ssn| Draft {
            short: true,
            ..data(ssn, dsn, 100)
        };
        assert_eq!(
            lab.client(0, short(1 + 100 * round)).data_sequence,
            Some(dsn)
        );
        let found = lab.client(1, short(1 + 100 * round));
        assert_eq!(
            (found.data_sequence, found.reinjected_bytes),
            (Some(dsn), 100)
        );
        let found = lab.server(
            0,
            Draft {
                short: true,
                ..ack(1, dsn + 100)
            },
        );
        assert_eq!(found.data_acknowledgement, Some(dsn + 100));
    }
}
