//! Two ways of getting frames from one namespace to another, by the same loop: TAP devices with
//! offloads, and AF_PACKET sockets on pairs of virtual interfaces. Arguments: repetitions, and the
//! seconds of each. Prints a line of JSON for each run: goodput of one TCP connection, processor
//! time of the whole process (both ends of the connection and the kernel included).

mod tap;

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use mptcplab_engine_kernel::frames::port::{Interface, Outgoing, Port};
use mptcplab_engine_kernel::frames::segments::Frame;
use mptcplab_engine_kernel::netns::NetNs;
use mptcplab_engine_kernel::realtime;
use mptcplab_linux::interfaces::Interfaces;
use mptcplab_linux::rtnetlink::{Rtnetlink, VethEnd};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, unshare};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::socket::{Shutdown, shutdown};
use nix::sys::time::TimeValLike;
use serde_json::json;
use tap::Tap;

const MTU: u32 = 1500;
const TCP_PORT: u16 = 5001;
/// Frames taken from one side before the other has its turn.
const TURN: usize = 256;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// One side of the way.
enum End {
    Tap(Tap),
    Packet(Port),
}

impl End {
    fn receive(&mut self) -> Option<Frame> {
        match self {
            Self::Tap(tap) => tap.receive(),
            Self::Packet(port) => port.receive().map(|arrival| arrival.frame),
        }
    }

    fn send(&mut self, frames: &[Outgoing<'_>]) -> io::Result<()> {
        match self {
            Self::Tap(tap) => tap.send(frames),
            Self::Packet(port) => port.send(frames),
        }
    }
}

impl AsFd for End {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tap(tap) => tap.as_fd(),
            Self::Packet(port) => port.as_fd(),
        }
    }
}

fn main() -> io::Result<()> {
    let arguments: Vec<f64> = std::env::args()
        .filter_map(|word| word.parse().ok())
        .collect();
    let [repetitions, seconds] = arguments[..] else {
        return Err(io::Error::other("arguments: REPETITIONS SECONDS"));
    };
    // As in the emulator, the thread that moves frames comes before those of the traffic.
    realtime::acquire();
    enter()?;
    for _ in 0..repetitions as usize {
        for offload in [false, true] {
            for tap in [true, false] {
                // The kernel takes its time to remove interfaces: each run has namespaces of its own.
                let core = NetNs::create()?;
                core.run(|| measure(tap, offload, Duration::from_secs_f64(seconds)))??;
            }
        }
    }
    Ok(())
}

/// Moves the process into namespaces of its own.
fn enter() -> io::Result<()> {
    let (uid, gid) = (nix::unistd::getuid(), nix::unistd::getgid());
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET)?;
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("0 {uid} 1"))?;
    std::fs::write("/proc/self/gid_map", format!("0 {gid} 1"))
}

fn measure(tap: bool, offload: bool, span: Duration) -> io::Result<()> {
    let nodes = [NetNs::create()?, NetNs::create()?];
    let mut ends = [
        open(&nodes[0], 0, tap, offload)?,
        open(&nodes[1], 1, tap, offload)?,
    ];
    let is_over = AtomicBool::new(false);
    let listener = nodes[1].run(|| TcpListener::bind((address(1), TCP_PORT)))??;
    let (bytes, wall, cpu) = thread::scope(|scope| {
        let moving = scope.spawn(|| forward(&mut ends, &is_over));
        let receiving = scope.spawn(|| receive(&listener));
        let (begun, cpu) = (Instant::now(), cpu_s()?);
        let sent = nodes[0].run(|| send(span))?;
        if sent.is_err() {
            // Ends the threads that wait for the connection and for its frames.
            shutdown(listener.as_raw_fd(), Shutdown::Both)?;
            is_over.store(true, Ordering::Relaxed);
        }
        sent?;
        let bytes = receiving.join().expect("it does not panic")?;
        let (wall, cpu) = (begun.elapsed(), cpu_s()? - cpu);
        is_over.store(true, Ordering::Relaxed);
        moving.join().expect("it does not panic")?;
        Ok::<_, io::Error>((bytes, wall, cpu))
    })?;
    let way = if tap { "TAP" } else { "AF_PACKET over veth" };
    let what = if offload {
        "offloaded segments"
    } else {
        "packets of 1500 bytes"
    };
    let wall_s = wall.as_secs_f64();
    println!(
        "{}",
        json!({
            "way": format!("{way}, {what}"),
            "gbps": bytes as f64 * 8e-9 / wall_s,
            "cpu_s": cpu,
            "wall_s": wall_s,
        })
    );
    Ok(())
}

/// Makes the interface of node `number` and opens the way to it.
fn open(node: &NetNs, number: u8, tap: bool, offload: bool) -> io::Result<End> {
    let end = if tap {
        End::Tap(node.run(|| Tap::open("eth", offload))??)
    } else {
        let core = NetNs::current()?;
        let near = VethEnd {
            name: &format!("near{number}"),
            netns: &core,
            mtu: MTU,
            mac: [2, 1, 0, 0, 0, number],
            offload,
            neighbours: false,
        };
        let far = VethEnd {
            name: "eth",
            netns: node,
            // Both nodes have the same: without neighbour resolution the kernel sends to its own.
            mac: [2, 0, 0, 0, 0, 0],
            ..near
        };
        let mut rtnetlink = Rtnetlink::open()?;
        rtnetlink.add_veth(&near, &far)?;
        let index = index(near.name)?;
        rtnetlink.set_up(index, true)?;
        End::Packet(Port::open(Interface {
            index,
            mtu: MTU,
            offload,
        })?)
    };
    node.run(|| {
        let mut rtnetlink = Rtnetlink::open()?;
        let index = index("eth")?;
        rtnetlink.set_up(index, true)?;
        rtnetlink.add_address(index, address(number), 24)
    })??;
    Ok(end)
}

fn index(name: &str) -> io::Result<u32> {
    let interfaces = Interfaces::open()?.interfaces()?;
    let found = interfaces.iter().find(|interface| interface.name == name);
    found
        .map(|interface| interface.index)
        .ok_or_else(|| io::ErrorKind::NotFound.into())
}

fn address(number: u8) -> IpAddr {
    Ipv4Addr::new(10, 0, 0, 1 + number).into()
}

/// Moves frames between both ends until it is over.
fn forward(ends: &mut [End; 2], is_over: &AtomicBool) -> io::Result<()> {
    while !is_over.load(Ordering::Relaxed) {
        let mut moved = false;
        for from in 0..2 {
            let frames: Vec<Frame> = std::iter::from_fn(|| ends[from].receive())
                .take(TURN)
                .collect();
            let batch: Vec<Outgoing<'_>> = frames
                .iter()
                .map(|frame| frame.carve(0..frame.packets()))
                .collect();
            moved |= !batch.is_empty();
            ends[1 - from].send(&batch)?;
        }
        if !moved {
            let mut ready = ends
                .each_ref()
                .map(|end| PollFd::new(end.as_fd(), PollFlags::POLLIN));
            poll(&mut ready, PollTimeout::from(100_u8))?;
        }
    }
    Ok(())
}

fn send(span: Duration) -> io::Result<()> {
    realtime::release();
    let listener = SocketAddr::from((address(1), TCP_PORT));
    let mut stream = TcpStream::connect_timeout(&listener, CONNECT_TIMEOUT)?;
    let (begun, buffer) = (Instant::now(), vec![0; 1 << 17]);
    while begun.elapsed() < span {
        stream.write_all(&buffer)?;
    }
    Ok(())
}

/// Reads one connection to its end and counts.
fn receive(listener: &TcpListener) -> io::Result<u64> {
    realtime::release();
    let (mut stream, _) = listener.accept()?;
    let mut buffer = vec![0; 1 << 17];
    let mut bytes = 0;
    loop {
        match stream.read(&mut buffer)? {
            0 => return Ok(bytes),
            count => bytes += count as u64,
        }
    }
}

fn cpu_s() -> io::Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    let spent = usage.user_time() + usage.system_time();
    Ok(spent.num_microseconds() as f64 / 1e6)
}
