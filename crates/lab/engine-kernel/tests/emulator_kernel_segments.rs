//! The kernel's own segmentation is the measure: a large frame that it cuts itself arrives as the
//! packets that [`Frame::carve`] makes of it.
//!
//! A [`Port`] sends past the queueing discipline, where the kernel drops what it would have to cut;
//! the frames therefore leave by a plain socket.

mod emulator_frames;
mod traffic_world;

use std::fs::File;
use std::io::{IoSlice, Write};
use std::os::fd::{AsFd, FromRawFd};
use std::process::Command;

use emulator_frames::{Large, Transport, ipv4, ipv6, tcp};
use mptcplab_engine_kernel::frames::port::{Interface, Port};
use mptcplab_engine_kernel::frames::segments::{Frame, OffloadHeader, with_checksum};
use mptcplab_engine_kernel::netns::NetNs;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use traffic_world::inside;

fn run(line: &str) -> bool {
    let mut words = line.split_whitespace();
    Command::new(words.next().unwrap())
        .args(words)
        .status()
        .is_ok_and(|status| status.success())
}

fn index(name: &str) -> u32 {
    nix::net::if_::if_nametoindex(name).unwrap()
}

/// A packet socket on interface `index` whose writes are an offload header and a frame.
fn sender(index: u32) -> File {
    const PACKET_VNET_HDR: libc::c_int = 15;
    // SAFETY: an all-zero address is valid.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_ifindex = index as i32;
    let on: libc::c_int = 1;
    // SAFETY: the kernel reads plain values of the given lengths; the descriptor is ours.
    unsafe {
        let socket = libc::socket(libc::AF_PACKET, libc::SOCK_RAW, 0);
        assert!(socket >= 0);
        let length = size_of_val(&on) as libc::socklen_t;
        let on = (&raw const on).cast();
        assert_eq!(
            libc::setsockopt(socket, libc::SOL_PACKET, PACKET_VNET_HDR, on, length),
            0
        );
        let length = size_of_val(&address) as libc::socklen_t;
        assert_eq!(libc::bind(socket, (&raw const address).cast(), length), 0);
        File::from_raw_fd(socket)
    }
}

fn send(socket: &mut File, offload: OffloadHeader, frame: &[u8]) {
    let header = offload.to_bytes();
    let parts = [IoSlice::new(&header), IoSlice::new(frame)];
    assert_eq!(
        socket.write_vectored(&parts).unwrap(),
        header.len() + frame.len()
    );
}

/// Packets that arrive at `port` with the hardware addresses of `frame`.
fn arrivals(port: &mut Port, frame: &[u8], count: usize) -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    while packets.len() < count {
        let Some(arrival) = port.receive() else {
            let mut ready = [PollFd::new(port.as_fd(), PollFlags::POLLIN)];
            let ready = poll(&mut ready, PollTimeout::from(5_000_u16)).unwrap();
            assert_eq!(ready, 1, "only {} of {count} packets came", packets.len());
            continue;
        };
        let (offload, bytes) = arrival.frame.whole();
        if bytes[..12] == frame[..12] {
            assert_eq!(offload.gso_type, 0, "the kernel did not cut the frame");
            packets.push(with_checksum(offload, bytes.to_vec()));
        }
    }
    packets
}

#[test]
fn the_kernel_cuts_large_frames_into_the_same_packets() {
    if !inside("the_kernel_cuts_large_frames_into_the_same_packets") {
        return;
    }
    let mut closing = tcp(u32::MAX - 3000);
    (closing.fin, closing.psh, closing.cwr, closing.ece) = (true, true, true, true);
    let frames = [
        (ipv4(65_534), Transport::Tcp(closing.clone())),
        (ipv6(), Transport::Tcp(closing)),
        (ipv4(65_534), Transport::Udp),
        (ipv6(), Transport::Udp),
    ];
    let netns = NetNs::create().unwrap();
    let work = || {
        assert!(run("ip link add cutting type veth peer name whole"));
        if !run("ethtool -K cutting tso off tx-udp-segmentation off") {
            return println!("skipped: this machine has no ethtool");
        }
        assert!(run("ip link set cutting up") && run("ip link set whole up"));
        let mut near = sender(index("cutting"));
        let mut far = Port::open(Interface {
            index: index("whole"),
            mtu: 1500,
            offload: true,
        })
        .unwrap();
        for (ip, transport) in frames {
            let payload = (0..10_001).map(|at| (at % 251) as u8).collect();
            let large = Large {
                ip,
                transport,
                payload,
                gso_bytes: 1400,
            };
            let (offload, bytes) = large.frame();
            let frame = Frame::new(offload, bytes.clone());
            let carved: Vec<Vec<u8>> = (0..frame.packets())
                .map(|index| {
                    let (offload, bytes) = frame.carve(index..index + 1);
                    with_checksum(&offload, bytes)
                })
                .collect();
            send(&mut near, offload, &bytes);
            assert_eq!(arrivals(&mut far, &bytes, frame.packets()), carved);
            // A run from the middle, cut out by us and then by the kernel.
            let (offload, run) = frame.carve(2..5);
            send(&mut near, offload, &run);
            assert_eq!(arrivals(&mut far, &bytes, 3), carved[2..5]);
        }
    };
    netns.run(work).unwrap();
}
