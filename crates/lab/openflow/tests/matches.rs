//! Rules that a match obeys, and fields as bytes.

use mptcplab_openflow::error::{BadAction, BadInstruction, BadMatch, FlowModFailed};
use mptcplab_openflow::flow::{FlowCommand, FlowFlags, FlowMod};
use mptcplab_openflow::matching::UnknownOxm;
use mptcplab_openflow::{Body, ErrorKind, Field, Match, Message, Oxm};
use proptest::prelude::*;

/// Values of the fields that others depend on.
fn prerequisites(field: Field) -> Vec<Oxm> {
    use Field::*;
    let ether = |value: u16| Oxm::exact(EthType, value);
    let proto = |value: u8| Oxm::exact(IpProto, value);
    match field {
        InPhyPort => vec![Oxm::exact(InPort, 1_u8)],
        VlanPcp => vec![Oxm::exact(VlanVid, 0x1005_u16)],
        IpDscp | IpEcn | IpProto | Ipv4Src | Ipv4Dst => vec![ether(0x0800)],
        TcpSrc | TcpDst => vec![ether(0x86dd), proto(6)],
        UdpSrc | UdpDst => vec![ether(0x0800), proto(17)],
        SctpSrc | SctpDst => vec![ether(0x0800), proto(132)],
        Icmpv4Type | Icmpv4Code => vec![ether(0x0800), proto(1)],
        ArpOp | ArpSpa | ArpTpa | ArpSha | ArpTha => vec![ether(0x0806)],
        Ipv6Src | Ipv6Dst | Ipv6Flabel | Ipv6Exthdr => vec![ether(0x86dd)],
        Icmpv6Type | Icmpv6Code => vec![ether(0x86dd), proto(58)],
        Ipv6NdTarget | Ipv6NdSll => {
            vec![ether(0x86dd), proto(58), Oxm::exact(Icmpv6Type, 135_u8)]
        }
        Ipv6NdTll => vec![ether(0x86dd), proto(58), Oxm::exact(Icmpv6Type, 136_u8)],
        MplsLabel | MplsTc | MplsBos => vec![ether(0x8847)],
        PbbIsid => vec![ether(0x88e7)],
        _ => vec![],
    }
}

fn with(field: Field, oxm: Oxm) -> Match {
    Match::new(prerequisites(field).into_iter().chain([oxm]))
}

fn refusal(fields: &Match) -> ErrorKind {
    fields.check().expect_err("it is refused")
}

#[test]
fn there_are_forty_fields_with_numbers_from_zero() {
    assert_eq!(Field::ALL.len(), Field::COUNT);
    for (number, field) in Field::ALL.iter().enumerate() {
        assert_eq!(usize::from(field.number()), number);
    }
}

#[test]
fn each_field_is_taken_with_its_prerequisites() {
    for &field in Field::ALL {
        let value = if field == Field::VlanVid {
            0x1001
        } else {
            1_u16
        };
        let fields = with(field, Oxm::exact(field, value));
        assert_eq!(fields.check(), Ok(()), "{field:?}");
    }
}

#[test]
fn each_field_with_prerequisites_is_refused_without_them() {
    for &field in Field::ALL {
        let needed = prerequisites(field);
        for left_out in 0..needed.len() {
            let mut fields = with(field, Oxm::exact(field, 1_u8));
            fields.fields.remove(left_out);
            assert_eq!(refusal(&fields), BadMatch::BadPrereq.into(), "{field:?}");
        }
    }
}

#[test]
fn prerequisites_with_other_values_are_none() {
    let wrong = [
        [
            Oxm::exact(Field::EthType, 0x0806_u16),
            Oxm::exact(Field::Ipv4Src, 1_u8),
        ],
        [
            Oxm::exact(Field::VlanVid, 0_u8),
            Oxm::exact(Field::VlanPcp, 1_u8),
        ],
    ];
    for fields in wrong {
        assert_eq!(refusal(&Match::new(fields)), BadMatch::BadPrereq.into());
    }
    let icmp_over_ipv6 = Match::new([
        Oxm::exact(Field::EthType, 0x86dd_u16),
        Oxm::exact(Field::IpProto, 1_u8),
        Oxm::exact(Field::Icmpv4Type, 8_u8),
    ]);
    assert_eq!(refusal(&icmp_over_ipv6), BadMatch::BadPrereq.into());
}

#[test]
fn any_tag_is_enough_for_the_priority() {
    let present = Oxm::masked(Field::VlanVid, 0x1000_u16, 0x1000_u16);
    let fields = Match::new([present, Oxm::exact(Field::VlanPcp, 3_u8)]);
    assert_eq!(fields.check(), Ok(()));
}

#[test]
fn masks_are_taken_where_table_12_has_them() {
    for &field in Field::ALL {
        let fields = with(field, Oxm::masked(field, 0_u8, 1_u8));
        let expected = if field.is_maskable() {
            Ok(())
        } else {
            Err(BadMatch::BadMask.into())
        };
        assert_eq!(fields.check(), expected, "{field:?}");
    }
}

#[test]
fn what_stands_against_the_rules_is_refused_by_its_code() {
    let twice = [Oxm::exact(Field::InPort, 1_u8); 2];
    assert_eq!(refusal(&Match::new(twice)), BadMatch::DupField.into());
    let beyond_mask = Oxm::masked(Field::EthDst, 3_u8, 1_u8);
    assert_eq!(
        refusal(&Match::new([beyond_mask])),
        BadMatch::BadWildcards.into()
    );
    let no_tag = Oxm::exact(Field::VlanVid, 5_u8);
    assert_eq!(refusal(&Match::new([no_tag])), BadMatch::BadValue.into());
    let too_wide = Oxm::exact(Field::VlanVid, 0x2000_u16);
    assert_eq!(refusal(&Match::new([too_wide])), BadMatch::BadValue.into());
    let mut unknown = Match::default();
    unknown.unknown.push(UnknownOxm {
        class: 0xffff,
        field: 1,
        has_mask: false,
        payload: vec![0; 6],
    });
    assert_eq!(refusal(&unknown), BadMatch::BadField.into());
}

/// A flow modification with the bytes that stand in place of its match and its instructions.
fn flow_mod(rest: &[u8]) -> Result<FlowMod, ErrorKind> {
    let mut bytes = vec![4, 14, 0, 0, 0, 0, 0, 1];
    bytes.extend([0; 8 + 8 + 1]);
    bytes.push(FlowCommand::Add.number());
    bytes.extend([0; 2 + 2 + 2]);
    bytes.extend([0xff; 12]);
    bytes.extend([0; 4]);
    bytes.extend(rest);
    let length = bytes.len() as u16;
    bytes[2..4].copy_from_slice(&length.to_be_bytes());
    match Message::decode(&bytes) {
        Ok(Message {
            body: Body::FlowMod(flow_mod),
            ..
        }) => Ok(flow_mod),
        Ok(other) => panic!("{other:?}"),
        Err(error) => Err(error.kind),
    }
}

#[test]
fn a_field_is_class_number_mask_length_and_value() {
    let bytes = [
        &[0, 1, 0, 22][..],
        &[0x80, 0, 5 << 1, 2, 0x08, 0x00],
        &[0x80, 0, 11 << 1 | 1, 8, 10, 0, 0, 0, 255, 0, 0, 0],
        &[0, 0],
    ];
    let read = flow_mod(&bytes.concat()).unwrap();
    let expected = [
        Oxm::exact(Field::EthType, 0x0800_u16),
        Oxm::masked(Field::Ipv4Src, 0x0a00_0000_u32, 0xff00_0000_u32),
    ];
    assert_eq!(read.fields, Match::new(expected));
    assert_eq!((read.buffer, read.flags), (None, FlowFlags::empty()));
}

#[test]
fn lengths_that_do_not_fit_are_refused_by_what_they_are_of() {
    let cases: [(&[u8], ErrorKind); 10] = [
        (&[0, 0, 0, 4, 0, 0, 0, 0], BadMatch::BadType.into()),
        (&[0, 1, 0, 3, 0, 0, 0, 0], BadMatch::BadLen.into()),
        // An EtherType of three bytes.
        (
            &[0, 1, 0, 11, 0x80, 0, 10, 3, 8, 0, 0, 0, 0, 0, 0, 0],
            BadMatch::BadLen.into(),
        ),
        // A field that is longer than the match.
        (
            &[0, 1, 0, 9, 0x80, 0, 10, 2, 8, 0, 0, 0, 0, 0, 0, 0],
            BadMatch::BadLen.into(),
        ),
        // A priority of VLAN beyond its three bits.
        (
            &[0, 1, 0, 9, 0x80, 0, 14, 1, 8, 0, 0, 0, 0, 0, 0, 0],
            BadMatch::BadValue.into(),
        ),
        // Instructions: an unknown one, one without its table, one longer than the message.
        (
            &[0, 1, 0, 4, 0, 0, 0, 0, 0, 9, 0, 8, 0, 0, 0, 0],
            BadInstruction::UnknownInst.into(),
        ),
        (
            &[0, 1, 0, 4, 0, 0, 0, 0, 0, 1, 0, 4],
            BadInstruction::BadLen.into(),
        ),
        (
            &[0, 1, 0, 4, 0, 0, 0, 0, 0, 4, 0, 16, 0, 0, 0, 0],
            BadInstruction::BadLen.into(),
        ),
        // Actions: an unknown one, and an output of half its length.
        (
            &[
                0, 1, 0, 4, 0, 0, 0, 0, 0, 4, 0, 16, 0, 0, 0, 0, 0, 99, 0, 8, 0, 0, 0, 0,
            ],
            BadAction::BadType.into(),
        ),
        (
            &[
                0, 1, 0, 4, 0, 0, 0, 0, 0, 4, 0, 16, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 1,
            ],
            BadAction::BadLen.into(),
        ),
    ];
    for (rest, kind) in cases {
        assert_eq!(flow_mod(rest), Err(kind), "{rest:?}");
    }
}

#[test]
fn a_set_field_is_refused_by_its_own_codes() {
    let set_field = |field: &[u8]| {
        let action = 4 + field.len() as u8;
        let head = [0, 1, 0, 4, 0, 0, 0, 0, 0, 4, 0, 8 + action, 0, 0, 0, 0];
        flow_mod(&[&head[..], &[0, 25, 0, action], field].concat())
    };
    let ether_type_masked = [0x80, 0, 5 << 1 | 1, 4, 8, 0, 255, 255, 0, 0, 0, 0];
    assert_eq!(
        set_field(&ether_type_masked),
        Err(BadAction::BadSetArgument.into())
    );
    let of_an_experimenter = [0xff, 0xff, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0];
    assert_eq!(
        set_field(&of_an_experimenter),
        Err(BadAction::BadSetType.into())
    );
    let too_short = [0x80, 0, 5 << 1, 1, 8, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(set_field(&too_short), Err(BadAction::BadSetLen.into()));
    let too_much_padding = [
        0x80,
        0,
        7 << 1,
        1,
        3,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
    ];
    assert_eq!(
        set_field(&too_much_padding),
        Err(BadAction::BadSetLen.into())
    );
    let beyond_its_bits = [0x80, 0, 7 << 1, 1, 9, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(
        set_field(&beyond_its_bits),
        Err(BadAction::BadSetArgument.into())
    );
}

#[test]
fn an_unknown_command_is_refused_by_its_code() {
    let mut bytes = vec![4, 14, 0, 56, 0, 0, 0, 1];
    bytes.extend([0; 48]);
    bytes[25] = 9;
    let error = Message::decode(&bytes).unwrap_err();
    assert_eq!(error.kind, FlowModFailed::BadCommand.into());
}

proptest! {
    #[test]
    fn the_check_of_a_match_does_not_depend_on_what_follows_it(
        value: u128,
        number in 0..Field::COUNT,
    ) {
        let field = Field::ALL[number];
        let value = (value & field.all_ones()) | u128::from(field == Field::VlanVid) << 12;
        let fields = with(field, Oxm::exact(field, value));
        prop_assert_eq!(fields.check(), Ok(()));
    }
}
