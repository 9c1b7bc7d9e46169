//! One interface of the emulator: an AF_PACKET socket with a receive ring.
//!
//! The ring (TPACKET_V2) is memory shared with the kernel, so that a burst costs one wake-up and
//! no copy through a socket buffer, whose size an ordinary user could not raise. Each slot also
//! carries the time at which the frame arrived: a late wake-up does not delay a frame's entry into
//! the link model.

use std::borrow::Cow;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;
use std::thread;

use nix::sys::socket::getsockopt;
use nix::sys::socket::sockopt::SocketError;

use super::carrier;
pub use super::ring::Arrival;
use super::ring::{Ring, Slots, set_option};
use super::segments::OffloadHeader;

const PACKET_STATISTICS: libc::c_int = 6;
const PACKET_VERSION: libc::c_int = 10;
const PACKET_VNET_HDR: libc::c_int = 15;
const PACKET_QDISC_BYPASS: libc::c_int = 20;
const PACKET_IGNORE_OUTGOING: libc::c_int = 23;
const TPACKET_V2: libc::c_int = 1;

/// An interface to be taken over.
#[derive(Clone, Copy, Debug)]
pub struct Interface {
    /// The kernel's index.
    pub index: u32,
    /// Largest IP packet, bytes.
    pub mtu: u32,
    /// Frames may be larger than the MTU.
    pub offload: bool,
}

/// A frame to be sent: offload header and bytes.
pub type Outgoing<'a> = (OffloadHeader, Cow<'a, [u8]>);

/// The emulator's side of one interface of a node.
pub struct Port {
    socket: OwnedFd,
    ring: Ring,
    index: u32,
    /// Frames too large for a slot, and frames that the kernel would not send.
    lost: u64,
}

impl Port {
    /// Takes over interfaces of the calling thread's namespace, as [`Port::open`] does.
    ///
    /// For each ring the kernel waits until no processor looks at the socket any more (an RCU
    /// grace period, many milliseconds). Many such waits at once take no longer than one.
    ///
    /// # Errors
    /// The first of any.
    pub fn open_all(interfaces: &[Interface]) -> io::Result<Vec<Self>> {
        let with_offload = interfaces.iter().filter(|one| one.offload).count();
        at_once(interfaces, |one| Self::open_one_of(with_offload, *one))?
            .into_iter()
            .collect()
    }

    /// Closes ports: like their opening, in the time of one.
    ///
    /// # Errors
    /// When the system gives no thread; the ports are closed all the same.
    pub fn close_all(ports: impl IntoIterator<Item = Self>) -> io::Result<()> {
        at_once(ports, drop).map(drop)
    }

    /// Takes over an interface of the calling thread's namespace: everything that arrives there
    /// goes to the ring.
    ///
    /// # Errors
    /// Without CAP_NET_RAW in the namespace, or without memory for the ring.
    pub fn open(interface: Interface) -> io::Result<Self> {
        Self::open_one_of(1, interface)
    }

    /// Opens an interface; of those that are opened with it, itself included, so many have offload.
    fn open_one_of(with_offload: usize, interface: Interface) -> io::Result<Self> {
        let socket = open_socket()?;
        set_option(&socket, PACKET_VERSION, &TPACKET_V2)?;
        set_option(&socket, PACKET_VNET_HDR, &1)?;
        set_option(&socket, PACKET_QDISC_BYPASS, &1)?;
        set_option(&socket, PACKET_IGNORE_OUTGOING, &1)?;
        let slots = if interface.offload {
            Slots::of_segments(with_offload)
        } else {
            Slots::Packets { mtu: interface.mtu }
        };
        let ring = Ring::new(&socket, slots)?;
        bind(&socket, interface.index, libc::ETH_P_ALL)?;
        Ok(Self {
            socket,
            ring,
            index: interface.index,
            lost: 0,
        })
    }

    /// The next frame that has arrived; `None` when there is none yet.
    pub fn receive(&mut self) -> Option<Arrival> {
        loop {
            let arrival = self.ring.take()?;
            if arrival.is_none() {
                self.lost += 1;
            } else {
                return arrival;
            }
        }
    }

    /// Sends frames, in order. A frame to an interface that is down is lost, as on a wire; other
    /// frames that the kernel refuses are counted by [`Port::overruns`].
    ///
    /// # Errors
    /// Other errors of sendmmsg(2).
    pub fn send(&mut self, frames: &[Outgoing<'_>]) -> io::Result<()> {
        const BATCH: usize = 64;
        for batch in frames.chunks(BATCH) {
            let refused = self.send_batch(batch)?;
            if refused > 0 && carrier::is_up(&self.socket, self.index)? {
                self.lost += refused;
            }
        }
        Ok(())
    }

    /// Frames that were lost on their way into the ring, or out, since the last call.
    ///
    /// # Errors
    /// Those of getsockopt(2).
    pub fn overruns(&mut self) -> io::Result<u64> {
        let mut statistics = [0_u32; 2];
        let mut length = size_of_val(&statistics) as libc::socklen_t;
        // SAFETY: the kernel writes at most `length` bytes to the array.
        let result = unsafe {
            libc::getsockopt(
                self.socket.as_raw_fd(),
                libc::SOL_PACKET,
                PACKET_STATISTICS,
                statistics.as_mut_ptr().cast(),
                &mut length,
            )
        };
        if result < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(u64::from(statistics[1]) + std::mem::take(&mut self.lost))
    }

    /// Clears the error that the socket keeps from a time when the interface went down. As long as it
    /// keeps one, polling the socket returns at once.
    ///
    /// # Errors
    /// Those of getsockopt(2).
    pub fn forget_error(&self) -> io::Result<()> {
        getsockopt(&self.socket, SocketError)?;
        Ok(())
    }

    /// Sends frames and gives the number of those that the kernel refused.
    fn send_batch(&self, frames: &[Outgoing<'_>]) -> io::Result<u64> {
        let headers: Vec<[u8; OffloadHeader::BYTES]> = frames
            .iter()
            .map(|(offload, _)| offload.to_bytes())
            .collect();
        let mut parts: Vec<[libc::iovec; 2]> = headers
            .iter()
            .zip(frames)
            .map(|(header, (_, bytes))| [io_vector(header), io_vector(bytes)])
            .collect();
        let mut messages: Vec<libc::mmsghdr> = parts
            .iter_mut()
            .map(|parts| {
                // SAFETY: an all-zero message header is valid: no name, no control data.
                let mut message: libc::mmsghdr = unsafe { std::mem::zeroed() };
                message.msg_hdr.msg_iov = parts.as_mut_ptr();
                message.msg_hdr.msg_iovlen = parts.len();
                message
            })
            .collect();
        let mut sent = 0;
        let mut refused = 0;
        let mut was_down = false;
        while sent < messages.len() {
            let rest = &mut messages[sent..];
            // SAFETY: `rest` and what it points to (`parts`, `headers`, `frames`) outlive the call.
            let result = unsafe {
                libc::sendmmsg(
                    self.socket.as_raw_fd(),
                    rest.as_mut_ptr(),
                    rest.len() as libc::c_uint,
                    0,
                )
            };
            match result {
                ..0 => {
                    let error = io::Error::last_os_error();
                    match error.raw_os_error() {
                        Some(libc::EINTR) => {}
                        // The socket keeps this error from a time when the interface was down
                        // and tells it once; a second one is of now.
                        Some(libc::ENETDOWN) if !was_down => was_down = true,
                        Some(libc::ENETDOWN) => return Ok(refused),
                        // The far end is down or has no room; or its MTU is smaller.
                        Some(libc::ENOBUFS | libc::EMSGSIZE) => {
                            sent += 1;
                            refused += 1;
                        }
                        _ => return Err(error),
                    }
                }
                count => sent += count as usize,
            }
        }
        Ok(refused)
    }
}

impl AsFd for Port {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Does `work` for each item, each on a thread of its own, and gives the results in order.
fn at_once<I: Send, T: Send>(
    items: impl IntoIterator<Item = I>,
    work: impl Fn(I) -> T + Sync,
) -> io::Result<Vec<T>> {
    thread::scope(|scope| {
        let work = &work;
        let threads = items
            .into_iter()
            .map(|item| thread::Builder::new().spawn_scoped(scope, move || work(item)))
            .collect::<io::Result<Vec<_>>>()?;
        Ok(threads
            .into_iter()
            .map(|thread| {
                thread
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
            .collect())
    })
}

/// An AF_PACKET socket that is bound to nothing.
pub(super) fn open_socket() -> io::Result<OwnedFd> {
    // SAFETY: plain system call; a non-negative result is a descriptor that is owned here alone.
    unsafe {
        let fd = libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// Binds an AF_PACKET socket to an interface and a protocol (`ETH_P_*`); 0 receives nothing.
pub(super) fn bind(socket: &OwnedFd, index: u32, protocol: libc::c_int) -> io::Result<()> {
    // SAFETY: an all-zero address is valid; the fields that matter are set below.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = (protocol as u16).to_be();
    address.sll_ifindex = index as i32;
    // SAFETY: the kernel reads one `sockaddr_ll`.
    let result = unsafe {
        libc::bind(
            socket.as_raw_fd(),
            ptr::from_ref(&address).cast(),
            size_of::<libc::sockaddr_ll>() as libc::socklen_t,
        )
    };
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

fn io_vector(bytes: &[u8]) -> libc::iovec {
    libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    }
}
