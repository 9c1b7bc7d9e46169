//! Packets of this crate as tshark reads them: every option, and no complaint.

mod dissector;

use bytes::Bytes;
use dissector::tshark;
use mptcplab_wire::option::{
    AddAddress, AddressIds, Capable, DataNumber, Dss, Join, Mapping, MptcpOption, Reset,
    data_pseudo_header,
};
use mptcplab_wire::{EchoKind, Ecn, Flags, Options, Packet, SackBlock, Segment, Timestamps};

/// Fields that tshark shows of a packet: the rest of the name of each field that it found below
/// `tcp.options`, and its value. Not the data checksum, which it shows of some options only.
const FIELDS: [&str; 32] = [
    "mss_val",
    "wscale.shift",
    "sack.count",
    "sack_le",
    "sack_re",
    "timestamp.tsval",
    "timestamp.tsecr",
    "mptcp.subtype",
    "mptcp.version",
    "mptcp.checksumreq.flags",
    "mptcp.nomoresubflows.flag",
    "mptcp.sha256.flag",
    "mptcp.sendkey",
    "mptcp.recvkey",
    "mptcp.backup.flag",
    "mptcp.addrid",
    "mptcp.recvtok",
    "mptcp.sendrand",
    "mptcp.sendtrunchmac",
    "mptcp.sendhmac",
    "mptcp.datafin.flag",
    "mptcp.rawdataack",
    "mptcp.rawdataseqno",
    "mptcp.subflowseqno",
    "mptcp.datalvllen",
    "mptcp.echo",
    "mptcp.ipv4",
    "mptcp.ipv6",
    "mptcp.port",
    "mptcp.addaddrtrunchmac",
    "mptcp.flag_T.flag",
    "mptcp.rst_reason",
];

const CLIENT_KEY: u64 = 11;
const SERVER_KEY: u64 = 22;

fn flags(letters: &str) -> Flags {
    Flags {
        syn: letters.contains('S'),
        ack: letters.contains('A'),
        rst: letters.contains('R'),
        psh: letters.contains('P'),
        ..Flags::default()
    }
}

/// A segment of the client, or of the server where `letters` end with `<`; behind the first three
/// bytes of data where they end with `+`.
fn packet(letters: &str, options: Options, payload: &'static [u8]) -> Packet {
    let ends = ["10.0.0.1:1000", "10.0.0.2:2000"].map(|end| end.parse().unwrap());
    let from_server = letters.ends_with('<');
    let behind_first_data = letters.contains('+');
    let sequence = u32::from(!letters.contains('S')) + 3 * u32::from(behind_first_data);
    Segment {
        source: ends[usize::from(from_server)],
        destination: ends[usize::from(!from_server)],
        sequence,
        acknowledgement: u32::from(letters.contains('A')),
        flags: flags(letters),
        window: 1000,
        urgent: 0,
        options,
        ecn: Ecn::NotCapable,
        payload: Bytes::from_static(payload),
    }
    .into_packet(64)
}

fn mptcp(option: MptcpOption) -> Options {
    Options {
        mptcp: [option].into_iter().collect(),
        ..Options::default()
    }
}

fn capable(keys: [Option<u64>; 2], data: Option<(u16, u16)>) -> MptcpOption {
    MptcpOption::Capable(Capable {
        version: 1,
        checksum: true,
        extension: false,
        no_initial_address: true,
        hmac: true,
        sender_key: keys[0],
        receiver_key: keys[1],
        data_bytes: data.map(|(bytes, _)| bytes),
        data_checksum: data.map(|(_, checksum)| checksum),
    })
}

/// A DSS with a mapping of `payload` that its checksum covers.
fn dss(payload: &[u8]) -> MptcpOption {
    let mut mapping = Mapping {
        data_sequence: DataNumber::Long(5_000_000_000),
        subflow_sequence: 4,
        bytes: payload.len() as u16,
        checksum: None,
    };
    let mut sum = data_pseudo_header(5_000_000_000, &mapping);
    sum.add(payload);
    mapping.checksum = Some(sum.finish());
    MptcpOption::Dss(Dss {
        data_fin: false,
        acknowledgement: Some(DataNumber::Long(6_000_000_000)),
        mapping: Some(mapping),
    })
}

/// A connection's packets with every option, and what tshark must show of each.
fn conversation() -> Vec<(Packet, &'static str)> {
    let ack = |option| packet("A", mptcp(option), b"");
    let address = AddAddress {
        echo: false,
        address_id: 9,
        address: [10, 0, 2, 1].into(),
        port: None,
        hmac: Some(77),
    };
    let address_v6 = AddAddress {
        address: "fd00::1".parse().unwrap(),
        port: Some(81),
        ..address
    };
    let echo = AddAddress {
        echo: true,
        hmac: None,
        ..address
    };
    let syn = Options {
        max_segment_bytes: Some(1460),
        window_shift: Some(7),
        sack_permitted: true,
        timestamps: Some(Timestamps { value: 1, echo: 0 }),
        ..mptcp(capable([None; 2], None))
    };
    let selective = Options {
        sack: [
            SackBlock { left: 4, right: 9 },
            SackBlock {
                left: 20,
                right: 30,
            },
        ]
        .into_iter()
        .collect(),
        timestamps: Some(Timestamps { value: 3, echo: 2 }),
        ..Options::default()
    };
    let keys = [Some(CLIENT_KEY), Some(SERVER_KEY)];
    let ids = AddressIds::new(&[4, 2]).unwrap();
    let short = Dss {
        data_fin: true,
        acknowledgement: Some(DataNumber::Short(11)),
        mapping: Some(Mapping {
            data_sequence: DataNumber::Short(12),
            subflow_sequence: 0,
            bytes: 1,
            checksum: None,
        }),
    };
    vec![
        (
            packet("S", syn, b""),
            "mss_val=1460 wscale.shift=7 timestamp.tsval=1 timestamp.tsecr=0 mptcp.subtype=0 \
             mptcp.version=1 mptcp.checksumreq.flags=1 mptcp.nomoresubflows.flag=1 \
             mptcp.sha256.flag=1",
        ),
        (
            packet("SA<", mptcp(capable([Some(SERVER_KEY), None], None)), b""),
            "mptcp.subtype=0 mptcp.version=1 mptcp.checksumreq.flags=1 \
             mptcp.nomoresubflows.flag=1 mptcp.sha256.flag=1 mptcp.sendkey=22",
        ),
        (
            packet("A", mptcp(capable(keys, None)), b""),
            "mptcp.subtype=0 mptcp.version=1 mptcp.checksumreq.flags=1 \
             mptcp.nomoresubflows.flag=1 mptcp.sha256.flag=1 mptcp.sendkey=11 mptcp.recvkey=22",
        ),
        (
            packet("A", mptcp(capable(keys, Some((3, 0x1234)))), b"abc"),
            "mptcp.subtype=0 mptcp.version=1 mptcp.checksumreq.flags=1 \
             mptcp.nomoresubflows.flag=1 mptcp.sha256.flag=1 mptcp.sendkey=11 mptcp.recvkey=22 \
             mptcp.datalvllen=3",
        ),
        (
            packet("AP+", mptcp(dss(b"wxyz")), b"wxyz"),
            "mptcp.subtype=2 mptcp.datafin.flag=0 mptcp.rawdataack=6000000000 \
             mptcp.rawdataseqno=5000000000 mptcp.subflowseqno=4 mptcp.datalvllen=4",
        ),
        (
            ack(MptcpOption::Dss(short)),
            "mptcp.subtype=2 mptcp.datafin.flag=1 mptcp.rawdataack=11 mptcp.rawdataseqno=12 \
             mptcp.subflowseqno=0 mptcp.datalvllen=1",
        ),
        (
            packet("A<", selective, b""),
            "sack.count=2 sack_le=4,20 sack_re=9,30 timestamp.tsval=3 timestamp.tsecr=2",
        ),
        (
            ack(MptcpOption::AddAddress(address)),
            "mptcp.subtype=3 mptcp.addrid=9 mptcp.echo=0 mptcp.ipv4=10.0.2.1 \
             mptcp.addaddrtrunchmac=77",
        ),
        (
            ack(MptcpOption::AddAddress(address_v6)),
            "mptcp.subtype=3 mptcp.addrid=9 mptcp.echo=0 mptcp.ipv6=fd00::1 mptcp.port=81 \
             mptcp.addaddrtrunchmac=77",
        ),
        (
            ack(MptcpOption::AddAddress(echo)),
            "mptcp.subtype=3 mptcp.addrid=9 mptcp.echo=1 mptcp.ipv4=10.0.2.1",
        ),
        (
            ack(MptcpOption::RemoveAddress(ids)),
            "mptcp.subtype=4 mptcp.addrid=4,2",
        ),
        (
            ack(MptcpOption::Priority {
                backup: true,
                address_id: None,
            }),
            "mptcp.subtype=5 mptcp.backup.flag=1",
        ),
        (
            ack(MptcpOption::Fail {
                data_sequence: 5_000_000_001,
            }),
            "mptcp.subtype=6 mptcp.rawdataseqno=5000000001",
        ),
        (
            ack(MptcpOption::FastClose { receiver_key: 33 }),
            "mptcp.subtype=7 mptcp.recvkey=33",
        ),
        (
            packet(
                "RA",
                mptcp(MptcpOption::Reset(Reset {
                    transient: true,
                    reason: 3,
                })),
                b"",
            ),
            "mptcp.subtype=8 mptcp.flag_T.flag=1 mptcp.rst_reason=0x03",
        ),
    ]
}

/// The handshake of another subflow, on ports of its own.
fn join() -> Vec<(Packet, &'static str)> {
    let syn = Join::Syn {
        backup: true,
        address_id: 3,
        token: 44,
        nonce: 55,
    };
    let syn_ack = Join::SynAck {
        backup: false,
        address_id: 2,
        hmac: 66,
        nonce: 77,
    };
    let ack = Join::Ack { hmac: [0xab; 20] };
    let subflow = |letters, join| {
        let packet = packet(letters, mptcp(MptcpOption::Join(join)), b"");
        let mut segment = Segment::parse(packet).unwrap();
        for end in [&mut segment.source, &mut segment.destination] {
            end.set_port(end.port() + 1);
        }
        segment.into_packet(64)
    };
    vec![
        (
            subflow("S", syn),
            "mptcp.subtype=1 mptcp.backup.flag=1 mptcp.addrid=3 mptcp.recvtok=44 \
             mptcp.sendrand=55",
        ),
        (
            subflow("SA<", syn_ack),
            "mptcp.subtype=1 mptcp.backup.flag=0 mptcp.addrid=2 mptcp.sendrand=77 \
             mptcp.sendtrunchmac=66",
        ),
        (
            subflow("A", ack),
            "mptcp.subtype=1 mptcp.sendhmac=abababababababababababababababababababab",
        ),
    ]
}

#[test]
fn every_option_is_what_tshark_shows() {
    let cases: Vec<_> = conversation().into_iter().chain(join()).collect();
    let fields = FIELDS.map(|field| format!("tcp.options.{field}"));
    let packets = cases.iter().map(|(packet, _)| packet);
    let Some(rows) = tshark("options", packets, &fields.each_ref().map(String::as_str)) else {
        return;
    };
    assert_eq!(rows.len(), cases.len());
    for (row, (_, expected)) in rows.iter().zip(&cases) {
        let shown = FIELDS
            .iter()
            .zip(row)
            .filter(|(_, value)| !value.is_empty());
        let shown: Vec<_> = shown
            .map(|(field, value)| format!("{field}={value}"))
            .collect();
        assert_eq!(shown.join(" "), *expected);
    }
}

#[test]
fn tshark_finds_neither_a_malformed_packet_nor_a_wrong_checksum() {
    let v4 = ["10.0.0.1", "10.0.0.2"];
    let v6 = ["fd00::1", "fd00::2"];
    let mut packets: Vec<_> = conversation()
        .into_iter()
        .map(|(packet, _)| packet)
        .collect();
    for ends in [v4, v6] {
        let [source, destination] = ends.map(|end| end.parse().unwrap());
        let ports = [(source, 40_000).into(), (destination, 40_001).into()];
        packets.push(Packet::udp(ports[0], ports[1], Bytes::from_static(b"odd")));
        for kind in [EchoKind::Request, EchoKind::Reply] {
            let payload = Bytes::from_static(b"ping");
            packets.push(Packet::echo(source, destination, kind, 1, 2, payload));
        }
        let mut segment = Segment::parse(packets[4].clone()).unwrap();
        (segment.source, segment.destination) = (ports[0], ports[1]);
        packets.push(segment.into_packet(64));
    }
    let fields = [
        "_ws.malformed",
        "ip.checksum.status",
        "tcp.checksum.status",
        "udp.checksum.status",
        "icmp.checksum.status",
        "icmpv6.checksum.status",
    ];
    let Some(rows) = tshark("checksums", &packets, &fields) else {
        return;
    };
    assert_eq!(rows.len(), packets.len());
    for (row, packet) in rows.iter().zip(&packets) {
        // 1 is good, 0 bad, 2 not verified.
        let good: Vec<_> = row.iter().filter(|value| !value.is_empty()).collect();
        let checksums = 1 + usize::from(packet.source().is_ipv4());
        assert_eq!(good, vec!["1"; checksums], "{packet:?}");
    }
}
