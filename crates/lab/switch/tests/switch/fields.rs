//! Each field of a match: packets that have its value, and packets that do not.

use mptcplab_openflow::{Body, Field, Instruction, Oxm};

use crate::frames::{arp, echo, ethernet, ipv4, ipv6, neighbour, sctp, tagged, tcp, udp};
use crate::support::{Bench, apply, ether_type, flow, ip_proto, output};

/// The fields that a packet has, with their values, and what they depend on.
fn cases() -> Vec<(Vec<u8>, Vec<Oxm>, Vec<Oxm>)> {
    use Field::*;
    let oxm = |field, value: u128| Oxm::exact(field, value);
    let tagged_tcp = tagged(0x8100, 5 << 13 | 9, &ipv4(6, &tcp()));
    let icmpv6 = |kind: u8| {
        vec![
            ether_type(0x86dd),
            ip_proto(58),
            oxm(Icmpv6Type, kind.into()),
        ]
    };
    vec![
        (
            ipv4(6, &tcp()),
            vec![],
            vec![
                oxm(InPort, 1),
                oxm(EthDst, 0x0200_0000_0002),
                oxm(EthSrc, 0x0200_0000_0001),
                oxm(EthType, 0x0800),
                oxm(VlanVid, 0),
                oxm(Metadata, 0),
                oxm(TunnelId, 0),
            ],
        ),
        (
            ipv4(6, &tcp()),
            vec![oxm(InPort, 1)],
            vec![oxm(InPhyPort, 1)],
        ),
        (
            tagged_tcp.clone(),
            vec![],
            vec![oxm(VlanVid, 0x1009), oxm(EthType, 0x0800)],
        ),
        (
            tagged_tcp,
            vec![oxm(VlanVid, 0x1009)],
            vec![oxm(VlanPcp, 5)],
        ),
        (
            ipv4(6, &tcp()),
            vec![ether_type(0x0800)],
            vec![
                oxm(IpDscp, 10),
                oxm(IpEcn, 1),
                oxm(IpProto, 6),
                oxm(Ipv4Src, 0x0a00_0001),
                oxm(Ipv4Dst, 0x0a00_0002),
            ],
        ),
        (
            ipv4(6, &tcp()),
            vec![ether_type(0x0800), ip_proto(6)],
            vec![oxm(TcpSrc, 1000), oxm(TcpDst, 80)],
        ),
        (
            ipv6(17, &udp()),
            vec![ether_type(0x86dd), ip_proto(17)],
            vec![oxm(UdpSrc, 1000), oxm(UdpDst, 53)],
        ),
        (
            ipv4(132, &sctp()),
            vec![ether_type(0x0800), ip_proto(132)],
            vec![oxm(SctpSrc, 1000), oxm(SctpDst, 90)],
        ),
        (
            ipv4(1, &echo(8)),
            vec![ether_type(0x0800), ip_proto(1)],
            vec![oxm(Icmpv4Type, 8), oxm(Icmpv4Code, 0)],
        ),
        (
            arp(),
            vec![ether_type(0x0806)],
            vec![
                oxm(ArpOp, 1),
                oxm(ArpSpa, 0x0a00_0001),
                oxm(ArpTpa, 0x0a00_0002),
                oxm(ArpSha, 0x0200_0000_0001),
                oxm(ArpTha, 0),
            ],
        ),
        (
            ipv6(6, &tcp()),
            vec![ether_type(0x86dd)],
            vec![
                oxm(Ipv6Src, 0xfd00_0000_0000_0000_0000_0000_0000_0001),
                oxm(Ipv6Dst, 0xfd00_0000_0000_0000_0000_0000_0000_0002),
                oxm(Ipv6Flabel, 0x12345),
                oxm(IpDscp, 10),
                oxm(IpEcn, 1),
                oxm(Ipv6Exthdr, 0),
            ],
        ),
        (
            ipv6(58, &echo(128)),
            vec![ether_type(0x86dd), ip_proto(58)],
            vec![oxm(Icmpv6Type, 128), oxm(Icmpv6Code, 0)],
        ),
        (
            ipv6(58, &neighbour(135)),
            icmpv6(135),
            vec![
                oxm(Ipv6NdTarget, 0xfd00_0000_0000_0000_0000_0000_0000_0009),
                oxm(Ipv6NdSll, 0x0200_0000_0001),
            ],
        ),
        (
            ipv6(58, &neighbour(136)),
            icmpv6(136),
            vec![oxm(Ipv6NdTll, 0x0200_0000_0001)],
        ),
    ]
}

/// Whether an entry of these fields forwards a packet.
fn forwards(fields: &[Oxm], frame: &[u8]) -> bool {
    let mut bench = Bench::new();
    bench.done(Body::FlowMod(flow(fields.to_vec(), apply([output(2)]))));
    let sent = bench.pass(1, frame);
    assert!(sent.is_empty() || sent == [(2, frame.to_vec())]);
    !sent.is_empty()
}

#[test]
fn a_packet_with_the_value_matches_and_one_without_does_not() {
    for (frame, needed, fields) in cases() {
        for oxm in fields {
            let with = |value: u128| [needed.clone(), vec![Oxm { value, ..oxm }]].concat();
            assert!(forwards(&with(oxm.value), &frame), "{oxm:?}");
            // The highest bit but the one that says that there is a tag.
            let other = match oxm.field {
                Field::VlanVid => oxm.value ^ 1 | 0x1000,
                _ => oxm.value ^ 1,
            };
            assert!(!forwards(&with(other), &frame), "{oxm:?}");
        }
    }
}

#[test]
fn bits_outside_of_a_mask_do_not_count() {
    for (frame, needed, fields) in cases() {
        for oxm in fields.into_iter().filter(|oxm| oxm.field.is_maskable()) {
            let mask = oxm.field.all_ones() & !0b11;
            let with = |value: u128| {
                let masked = Oxm::masked(oxm.field, value & mask, mask);
                [needed.clone(), vec![masked]].concat()
            };
            assert!(forwards(&with(oxm.value), &frame), "{oxm:?}");
            assert!(forwards(&with(oxm.value ^ 1), &frame), "{oxm:?}");
            assert!(!forwards(&with(oxm.value ^ 0b100), &frame), "{oxm:?}");
        }
    }
}

#[test]
fn every_field_but_those_left_out_has_a_case() {
    let mut found: Vec<Field> = cases()
        .iter()
        .flat_map(|(_, needed, fields)| needed.iter().chain(fields).map(|oxm| oxm.field))
        .collect();
    found.sort();
    found.dedup();
    let left_out = [
        Field::MplsLabel,
        Field::MplsTc,
        Field::MplsBos,
        Field::PbbIsid,
    ];
    let expected: Vec<Field> = Field::ALL
        .iter()
        .copied()
        .filter(|field| !left_out.contains(field))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn metadata_of_an_earlier_table_is_matched_under_its_mask() {
    let mut bench = Bench::new();
    let write = Instruction::WriteMetadata {
        metadata: 0xff,
        mask: 0x0f,
    };
    bench.done(Body::FlowMod(flow(
        [],
        vec![write, Instruction::GotoTable(3)],
    )));
    let mut later = flow([Oxm::exact(Field::Metadata, 0x0f_u8)], apply([output(2)]));
    later.table = 3;
    bench.done(Body::FlowMod(later));
    assert_eq!(bench.pass(1, &arp()).len(), 1);
}

#[test]
fn any_tag_and_no_tag_are_told_apart() {
    let plain = arp();
    let with_tag = tagged(0x8100, 7, &plain);
    let any = [Oxm::masked(Field::VlanVid, 0x1000_u16, 0x1000_u16)];
    let none = [Oxm::exact(Field::VlanVid, 0_u8)];
    assert!(forwards(&any, &with_tag) && !forwards(&any, &plain));
    assert!(forwards(&none, &plain) && !forwards(&none, &with_tag));
    // The outer tag of two counts, and the type behind both.
    let twice = tagged(0x88a8, 8, &with_tag);
    let outer = [Oxm::exact(Field::VlanVid, 0x1008_u16), ether_type(0x0806)];
    assert!(forwards(&outer, &twice));
}

#[test]
fn extension_headers_are_found_and_their_order_is_judged() {
    // Hop-by-hop options, then a routing header, then TCP.
    let headers = [
        &[43, 0, 0, 0, 0, 0, 0, 0],
        &[6, 0, 0, 0, 0, 0, 0, 0][..],
        &tcp(),
    ]
    .concat();
    let usual = ipv6(0, &headers);
    let bits = |value: u16| [ether_type(0x86dd), Oxm::exact(Field::Ipv6Exthdr, value)];
    assert!(forwards(&bits(1 << 6 | 1 << 5), &usual));
    let ports = [
        ether_type(0x86dd),
        ip_proto(6),
        Oxm::exact(Field::TcpDst, 80_u8),
    ];
    assert!(forwards(&ports, &usual));
    // The same the other way around, and a routing header twice.
    let turned = [
        &[0, 0, 0, 0, 0, 0, 0, 0],
        &[6, 0, 0, 0, 0, 0, 0, 0][..],
        &tcp(),
    ]
    .concat();
    assert!(forwards(
        &bits(1 << 8 | 1 << 6 | 1 << 5),
        &ipv6(43, &turned)
    ));
    let twice = [
        &[43, 0, 0, 0, 0, 0, 0, 0],
        &[6, 0, 0, 0, 0, 0, 0, 0][..],
        &tcp(),
    ]
    .concat();
    assert!(forwards(&bits(1 << 7 | 1 << 5), &ipv6(43, &twice)));
    assert!(forwards(&bits(1), &ipv6(59, &[])));
}

#[test]
fn later_fragments_have_no_ports_and_headers_that_are_cut_no_fields() {
    let ports = [
        ether_type(0x0800),
        ip_proto(6),
        Oxm::exact(Field::TcpDst, 80_u8),
    ];
    let mut fragment = ipv4(6, &tcp());
    fragment[14 + 7] = 1;
    assert!(!forwards(&ports, &fragment));
    assert!(forwards(&[ether_type(0x0800), ip_proto(6)], &fragment));
    let cut = &ipv4(6, &tcp())[..14 + 20 + 10];
    assert!(!forwards(&ports, cut));
    let cut = &ipv4(6, &tcp())[..14 + 10];
    assert!(!forwards(&[ether_type(0x0800), ip_proto(6)], cut));
}

#[test]
fn a_snap_header_has_the_type_of_an_ieee_frame() {
    let mut llc = vec![0xaa, 0xaa, 3, 0, 0, 0, 8, 6];
    llc.extend(&arp()[14..]);
    let frame = ethernet(llc.len() as u16, &llc);
    let fields = [ether_type(0x0806), Oxm::exact(Field::ArpOp, 1_u8)];
    assert!(forwards(&fields, &frame));
    // Another LLC header has none.
    llc[0] = 0x42;
    assert!(!forwards(
        &[ether_type(0x0806)],
        &ethernet(llc.len() as u16, &llc)
    ));
}
