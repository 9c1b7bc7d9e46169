//! The corpus of the fuzz programs is what stands here. With `MPTCPLAB_WRITE_CORPUS=1` in the
//! environment it is written instead of compared.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;

use common::ip::{extended_v6, fragments_v4, fragments_v6, with_options_v4};
use common::{Capture, Format, link, packet, segment, tunnel};
use mptcplab_wire::Timestamps;

type Files = BTreeMap<String, Vec<u8>>;

/// Packets of a few bytes.
fn packets() -> [Vec<u8>; 2] {
    let mut v4 = segment("10.0.0.1:1000 > 10.0.0.2:80 PA seq=7 ack=9 len=6");
    v4.options.timestamps = Some(Timestamps { value: 1, echo: 2 });
    let v6 = segment("[fd00::1]:1000 > [fd00::2]:80 S seq=7");
    [packet(&v4), packet(&v6)]
}

fn captures() -> Files {
    let mut files = Files::new();
    let mut add = |name: &str, bytes: Vec<u8>| {
        files.insert(name.into(), bytes);
    };
    for format in Format::all() {
        let mut capture = Capture::new(format, link::ETHERNET);
        for (at, packet) in packets().iter().enumerate() {
            let frame = link::frame(link::ETHERNET, packet);
            capture.cut_frame(0, 1_700_000_000_000_000_000 + at as u64, &frame, 70);
        }
        let kind = if format.pcapng { "pcapng" } else { "pcap" };
        let order = if format.big_endian { "big" } else { "little" };
        let unit = if format.nanos { "nanos" } else { "micros" };
        add(&format!("{kind}_{order}_{unit}"), capture.bytes);
    }
    let mut capture = Capture::new(Format::PCAPNG, link::RAW);
    let [v4, v6] = packets();
    let second = capture.interface(link::LINUX_COOKED, "any");
    let frame = link::frame(link::LINUX_COOKED, &v6);
    capture.cut_frame(second, 5, &frame, frame.len());
    let simple = [capture.as_bytes(&[v4.len() as u32]), v4.clone()].concat();
    capture.block(3, &simple);
    let bytes = v4.len() as u32;
    let obsolete = [capture.as_bytes(&[0, 0, 9, bytes, bytes]), v4.clone()].concat();
    capture.block(2, &obsolete);
    capture.block(5, &[0; 12]);
    capture.block(9, b"journal");
    capture.section();
    capture.interface(link::RAW, "");
    capture.frame(1, &v4);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&capture.bytes).unwrap();
    add("gzip", gzip.finish().unwrap());
    add("zstd", zstd::encode_all(&capture.bytes[..], 1).unwrap());
    let options = lzma_rust2::XzOptions::with_preset(1);
    let mut xz = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
    xz.write_all(&capture.bytes).unwrap();
    add("xz", xz.finish().unwrap());
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    bzip2.write_all(&capture.bytes).unwrap();
    add("bzip2", bzip2.finish().unwrap());
    let mut lz4 = lz4_flex::frame::FrameEncoder::new(Vec::new());
    lz4.write_all(&capture.bytes).unwrap();
    add("lz4", lz4.finish().unwrap());
    add("blocks", capture.bytes);
    files
}

/// Frames as the program `frame` takes them apart.
fn frames(link_type: u8, frames: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = vec![link_type];
    for frame in frames {
        bytes.extend((frame.len() as u16).to_be_bytes());
        bytes.extend([0, 1]);
        bytes.extend(frame);
    }
    bytes
}

fn frame_files() -> Files {
    let [v4, v6] = packets();
    let all = |link_type| packets().map(|packet| link::frame(link_type, &packet));
    let extension = [0, 0, 1, 4, 0, 0, 0, 0];
    let whole = [0; 8];
    let authentication = [0, 1, 0, 0, 0, 0, 0, 9, 0, 0, 0, 1];
    let extended = [(0, &extension[..]), (44, &whole), (51, &authentication)];
    let extended = extended.map(|(kind, bytes)| extended_v6(&v6, kind, bytes));
    let of_v4 = |protocol, content: &[u8]| vec![tunnel::v4(protocol, content)];
    let framed = link::frame(link::ETHERNET, &v4);
    let udp = tunnel::protocol::UDP;
    let gre = tunnel::gre(0xb000, 0x0800, &v4);
    let tagged = [link::tagged(&[(0x88a8, 1), (0x8100, 2)], &v4)];
    [
        ("ethernet", frames(0, &all(link::ETHERNET))),
        ("tagged", frames(0, &tagged)),
        ("raw", frames(1, &packets())),
        ("cooked", frames(2, &all(link::LINUX_COOKED))),
        ("cooked_2", frames(3, &all(link::LINUX_COOKED_2))),
        ("null", frames(4, &all(link::NULL))),
        ("loop", frames(5, &all(link::LOOP))),
        ("ppp", frames(11, &all(link::PPP))),
        ("ppp_ether", frames(12, &all(link::PPP_ETHER))),
        ("gre", frames(1, &of_v4(tunnel::protocol::GRE, &gre))),
        ("ip_in_ip", frames(1, &of_v4(tunnel::protocol::IPV6, &v6))),
        (
            "gtp_u",
            frames(
                1,
                &of_v4(udp, &tunnel::gtp_u(4, &[0, 0, 0, 0x85, 1, 0, 5, 0], &v4)),
            ),
        ),
        ("vxlan", frames(1, &of_v4(udp, &tunnel::vxlan(&v6)))),
        (
            "geneve",
            frames(1, &of_v4(udp, &tunnel::geneve(1, 0x6558, &framed))),
        ),
        (
            "mpls",
            frames(0, &[tunnel::ethernet(0x8847, &tunnel::labelled(2, &v4))]),
        ),
        (
            "pppoe",
            frames(0, &[tunnel::ethernet(0x8864, &tunnel::pppoe(&v6))]),
        ),
        ("options", frames(1, &[with_options_v4(&v4, &[1; 8])])),
        ("extensions", frames(1, &extended)),
        ("fragments_v4", frames(1, &fragments_v4(&v4, 5, &[8, 24]))),
        ("fragments_v6", frames(1, &fragments_v6(&v6, 5, &[8, 16]))),
    ]
    .map(|(name, bytes)| (name.to_owned(), bytes))
    .into()
}

#[test]
fn the_corpus_is_what_stands_here() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    let write = std::env::var_os("MPTCPLAB_WRITE_CORPUS").is_some();
    for (program, files) in [("capture", captures()), ("frame", frame_files())] {
        let folder = corpus.join(program);
        for (name, bytes) in files {
            let path = folder.join(&name);
            if write {
                fs::create_dir_all(&folder).unwrap();
                fs::write(&path, bytes).unwrap();
                continue;
            }
            let written = fs::read(&path).unwrap();
            // Another version of a compressor may give other bytes.
            let same = if ["gzip", "zstd", "xz", "bzip2", "lz4"].contains(&&*name) {
                common::read::frames(written).0 == common::read::frames(bytes).0
            } else {
                written == bytes
            };
            assert!(same, "{}", path.display());
        }
    }
}
