//! A path of its own between two hosts, on which each packet takes 5 ms: two TUN devices, and a
//! thread between them.

use std::collections::VecDeque;
use std::io;
use std::net::Ipv4Addr;
use std::os::unix::net::UnixStream;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use mptcplab_linux::netns::NetNs;
use mptcplab_testbed::{Hosts, ip};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tun_rs::{DeviceBuilder, SyncDevice};

/// The client's address on the path.
pub(crate) const CLIENT: Ipv4Addr = Ipv4Addr::new(10, 99, 0, 2);
/// The server's.
pub(crate) const SERVER: Ipv4Addr = Ipv4Addr::new(10, 99, 0, 1);
const DELAY: Duration = Duration::from_millis(5);
const MTU: u16 = 1500;

/// The path. It is gone with this.
pub(crate) struct Path {
    stop: Option<UnixStream>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Path {
    pub(crate) fn open(hosts: &Hosts) -> io::Result<Self> {
        let devices = [
            device(&hosts.client, CLIENT)?,
            device(&hosts.server, SERVER)?,
        ];
        let (stop, stopped) = UnixStream::pair()?;
        let thread = thread::spawn(move || carry(&devices, &stopped));
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Drop for Path {
    fn drop(&mut self) {
        self.stop.take();
        let carried = self.thread.take().map(JoinHandle::join);
        assert!(matches!(carried, Some(Ok(Ok(())))), "{carried:?}");
    }
}

fn device(netns: &NetNs, address: Ipv4Addr) -> io::Result<SyncDevice> {
    let make = || DeviceBuilder::new().name("slow").mtu(MTU).build_sync();
    let device = netns.run(make)??;
    device.set_nonblocking(true)?;
    ip(netns, &format!("addr add {address}/24 dev slow"));
    ip(netns, "link set slow up");
    Ok(device)
}

/// Carries packets both ways until the other end of `stopped` is gone.
fn carry(devices: &[SyncDevice; 2], stopped: &UnixStream) -> io::Result<()> {
    rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1))?;
    let mut under_way: [VecDeque<(Instant, Vec<u8>)>; 2] = Default::default();
    let mut buffer = vec![0; usize::from(MTU)];
    loop {
        let due = under_way
            .iter()
            .filter_map(|way| Some(way.front()?.0))
            .min();
        let left = due.map(|due| due.saturating_duration_since(Instant::now()));
        let timeout = left.and_then(|left| Timespec::try_from(left).ok());
        let mut waited = [
            PollFd::new(&devices[0], PollFlags::IN),
            PollFd::new(&devices[1], PollFlags::IN),
            PollFd::new(stopped, PollFlags::IN),
        ];
        poll(&mut waited, timeout.as_ref())?;
        if !waited[2].revents().is_empty() {
            return Ok(());
        }
        for from in 0..2 {
            while let Ok(length) = devices[from].recv(&mut buffer) {
                let packet = buffer[..length].to_vec();
                under_way[from].push_back((Instant::now() + DELAY, packet));
            }
            let now = Instant::now();
            while under_way[from].front().is_some_and(|(due, _)| *due <= now) {
                if let Some((_, packet)) = under_way[from].pop_front() {
                    // A packet that a host does not take is lost, as on any wire.
                    let _ = devices[1 - from].send(&packet);
                }
            }
        }
    }
}
