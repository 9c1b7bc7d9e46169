//! Checksums of data, right and wrong.

mod mptcp_peer;

use mptcp_peer::*;
use mptcplab_wire::option::{Capable, DataNumber, Dss, Mapping, MptcpOption, data_pseudo_header};

/// A mapping of the peer with its checksum, right or wrong.
fn checked(
    bench: &Bench,
    flow: &Flow,
    data: u64,
    sequence: u32,
    bytes: usize,
    right: bool,
) -> mptcplab_wire::Segment {
    let number = PEER_KEY.initial_data_sequence().wrapping_add(data);
    let mut mapping = Mapping {
        data_sequence: DataNumber::Long(number),
        subflow_sequence: sequence,
        bytes: bytes as u16,
        checksum: None,
    };
    let mut sum = data_pseudo_header(number, &mapping);
    sum.add(&payload(bytes));
    mapping.checksum = Some(sum.finish() ^ u16::from(!right));
    let MptcpOption::Dss(dss) = bench.dss(1, None, false) else {
        unreachable!("dss gives a DSS");
    };
    let mut segment = flow.with(
        ".",
        sequence,
        1,
        MptcpOption::Dss(Dss {
            mapping: Some(mapping),
            ..dss
        }),
    );
    segment.payload = payload(bytes);
    segment
}

fn with_checksums(
    addresses: &[mptcplab_stack::LocalAddress],
) -> (Bench, Flow, mptcplab_stack::ConnectionId) {
    let mut bench = Bench::new(config(), addresses);
    let mut flow = Flow::new(0, 5000, 80);
    let answer = bench.syn_capable(
        &mut flow,
        Capable {
            checksum: true,
            ..capable()
        },
    );
    assert!(matches!(
        only(&answer),
        MptcpOption::Capable(Capable { checksum: true, .. })
    ));
    let third = flow.with(".", 1, 1, bench.keys());
    bench.inject(third);
    let id = bench.accepted_id();
    (bench, flow, id)
}

#[test]
fn checksums_that_one_end_asks_for_are_sent_and_verified() {
    let (mut bench, flow, id) = with_checksums(&[plain_address(0)]);
    let right = checked(&bench, &flow, 1, 1, 100, true);
    bench.inject(right);
    assert_eq!(bench.read(id), 100);
    bench.out.clear();
    bench.write(id, 50);
    let sent = bench.next();
    let MptcpOption::Dss(Dss {
        mapping: Some(mapping),
        ..
    }) = only(&sent)
    else {
        panic!("{sent:?}");
    };
    let DataNumber::Long(number) = mapping.data_sequence else {
        panic!("{mapping:?}");
    };
    let mut sum = data_pseudo_header(number, &mapping);
    sum.add(&sent.payload);
    assert_eq!(mapping.checksum, Some(sum.finish()));
}

#[test]
fn a_wrong_checksum_on_the_only_subflow_ends_in_plain_tcp() {
    let (mut bench, flow, id) = with_checksums(&[plain_address(0)]);
    let wrong = checked(&bench, &flow, 1, 1, 100, false);
    bench.inject(wrong);
    assert_eq!(bench.read(id), 0);
    let answer = bench.next();
    let number = PEER_KEY.initial_data_sequence().wrapping_add(1);
    let fail = MptcpOption::Fail {
        data_sequence: number,
    };
    assert!(answer.options.mptcp.contains(&fail), "{answer:?}");
    // The infinite mapping, with the next data.
    let mut infinite = flow.with(
        ".",
        101,
        1,
        MptcpOption::Dss(Dss {
            data_fin: false,
            acknowledgement: None,
            mapping: Some(Mapping {
                data_sequence: DataNumber::Long(number),
                subflow_sequence: 1,
                bytes: 0,
                checksum: Some(0),
            }),
        }),
    );
    infinite.payload = payload(50);
    bench.inject(infinite);
    assert!(bench.fell_back());
    assert_eq!(bench.read(id), 150);
}

#[test]
fn a_wrong_checksum_on_one_of_several_subflows_closes_that_one() {
    let (mut bench, first, _) = with_checksums(&[plain_address(0), plain_address(1)]);
    bench.join(1, 6000, 1, false);
    let wrong = checked(&bench, &first, 1, 1, 100, false);
    bench.inject(wrong);
    let reset = bench.next();
    assert!(reset.flags.rst && reset.destination == first.peer);
    assert!(matches!(only(&reset), MptcpOption::Fail { .. }));
    assert!(!bench.closed() && !bench.fell_back());
}
