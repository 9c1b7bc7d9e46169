//! MPTCP for programs that never asked for it: their `socket(2)` calls are answered by us.
//!
//! A seccomp filter hands each call for a TCP socket to a supervisor (`seccomp_unotify(2)`), which
//! opens the socket that the plan wants and puts it into the program. Unlike a preloaded library
//! this reaches static programs, Go's, and every child of the program. The supervisor also reads
//! the state of a socket that is about to be connected or closed, and lets the call go on.

use std::io;
use std::mem;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};

use libc::{BPF_ABS, BPF_ALU, BPF_AND, BPF_JEQ, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W};
use libc::{SECCOMP_RET_ALLOW, SECCOMP_RET_USER_NOTIF, sock_filter};
use nix::poll::PollFlags;
use socket2::Domain;

use super::notification::{Call, Listener};
use super::socket;
use super::stop::{Stop, Wake, wait};
use super::watch::Watch;
use crate::plan::Protocol;

/// `AUDIT_ARCH_*` of `linux/audit.h`.
#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xc000_00b7;

/// Offsets in `struct seccomp_data`; of an argument, the lower half (little-endian).
const NUMBER: u32 = 0;
const ARCH: u32 = 4;
const DOMAIN: u32 = 16;
const TYPE: u32 = 24;
const PROTOCOL: u32 = 32;

/// `SOCK_TYPE_MASK`: the rest of the type are flags.
const TYPE_MASK: u32 = 0xf;

const fn statement(code: u32, k: u32) -> sock_filter {
    sock_filter {
        code: code as u16,
        jt: 0,
        jf: 0,
        k,
    }
}

/// Goes on if equal, or else `skip` instructions further.
const fn unless_equal_skip(k: u32, skip: u8) -> sock_filter {
    sock_filter {
        code: (BPF_JMP | BPF_JEQ | BPF_K) as u16,
        jt: 0,
        jf: skip,
        k,
    }
}

/// Skips `skip` instructions if equal, or else goes on.
const fn if_equal_skip(k: u32, skip: u8) -> sock_filter {
    sock_filter {
        code: (BPF_JMP | BPF_JEQ | BPF_K) as u16,
        jt: skip,
        jf: 0,
        k,
    }
}

const fn load(offset: u32) -> sock_filter {
    statement(BPF_LD | BPF_W | BPF_ABS, offset)
}

/// Stream sockets of IPv4 and IPv6 with the protocol 0, TCP or MPTCP are the supervisor's, which
/// also hears of connect(2) and close(2) before they go on; all else, and calls of another
/// architecture, is left alone.
static FILTER: [sock_filter; 18] = [
    load(ARCH),
    unless_equal_skip(ARCHITECTURE, 14),
    load(NUMBER),
    if_equal_skip(libc::SYS_connect as u32, 13),
    if_equal_skip(libc::SYS_close as u32, 12),
    unless_equal_skip(libc::SYS_socket as u32, 10),
    load(DOMAIN),
    if_equal_skip(libc::AF_INET as u32, 1),
    unless_equal_skip(libc::AF_INET6 as u32, 7),
    load(TYPE),
    statement(BPF_ALU | BPF_AND | BPF_K, TYPE_MASK),
    unless_equal_skip(libc::SOCK_STREAM as u32, 4),
    load(PROTOCOL),
    if_equal_skip(0, 3),
    if_equal_skip(libc::IPPROTO_TCP as u32, 2),
    if_equal_skip(libc::IPPROTO_MPTCP as u32, 1),
    statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    statement(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
];

/// Installs the filter in the calling process and sends its supervisor's descriptor through
/// `channel`, a Unix socket. Only makes system calls: it runs between fork and exec. As root of a
/// user namespace the process need not renounce new privileges first.
pub(super) fn install(channel: RawFd) -> io::Result<()> {
    let program = libc::sock_fprog {
        len: FILTER.len() as u16,
        filter: (&raw const FILTER) as *mut _,
    };
    // SAFETY: `program` points to a filter that lives for ever, and which the kernel only reads.
    let listener = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            libc::SECCOMP_FILTER_FLAG_NEW_LISTENER,
            &raw const program,
        )
    };
    if listener < 0 {
        return Err(io::Error::last_os_error());
    }
    send_descriptor(channel, listener as RawFd)
}

/// Room for a control message with one descriptor, aligned as its header.
type Control = [u64; 4];

fn send_descriptor(channel: RawFd, descriptor: RawFd) -> io::Result<()> {
    let mut control: Control = [0; 4];
    let mut byte = 0u8;
    let mut part = libc::iovec {
        iov_base: (&raw mut byte).cast(),
        iov_len: 1,
    };
    // SAFETY: the message points to locals that outlive the call; the control buffer is aligned
    // and large enough for one descriptor (24 bytes).
    let sent = unsafe {
        let mut message: libc::msghdr = mem::zeroed();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = libc::CMSG_SPACE(size_of::<RawFd>() as u32) as _;
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(size_of::<RawFd>() as u32) as _;
        libc::CMSG_DATA(header)
            .cast::<RawFd>()
            .write_unaligned(descriptor);
        libc::sendmsg(channel, &raw const message, 0)
    };
    if sent < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// Takes the supervisor's descriptor that a process sent with [`install`].
pub(super) fn receive_listener(channel: &impl AsFd) -> io::Result<Listener> {
    use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg};
    let mut control = nix::cmsg_space!(RawFd);
    let mut byte = [0];
    let mut parts = [io::IoSliceMut::new(&mut byte)];
    let fd = channel.as_fd().as_raw_fd();
    let message = recvmsg::<()>(
        fd,
        &mut parts,
        Some(&mut control),
        MsgFlags::MSG_CMSG_CLOEXEC,
    )?;
    for control in message.cmsgs()? {
        if let ControlMessageOwned::ScmRights(descriptors) = control
            && let Some(&descriptor) = descriptors.first()
        {
            // SAFETY: the kernel has just made the descriptor for us.
            return Ok(Listener(unsafe { OwnedFd::from_raw_fd(descriptor) }));
        }
    }
    Err(io::ErrorKind::UnexpectedEof.into())
}

/// The supervisor of the calls of a program and its children.
pub(super) struct Supervisor {
    pub(super) listener: Listener,
    /// The kind of their TCP sockets.
    pub(super) protocol: Protocol,
    pub(super) congestion_control: String,
    pub(super) watch: Watch,
}

impl Supervisor {
    /// Answers until all of them have gone, or `ended` is requested: false then. The calling thread
    /// is in the namespace of the program.
    pub(super) fn serve(&self, ended: &[&Stop]) -> io::Result<bool> {
        let readable = Some((self.listener.as_fd(), PollFlags::POLLIN));
        loop {
            let ready = wait(readable, ended, None)? == Wake::Ready;
            if self.listener.has_hung_up()? {
                return Ok(true);
            }
            if !ready {
                return Ok(false);
            }
            let Some(call) = self.listener.receive()? else {
                continue;
            };
            match i64::from(call.data.nr) {
                libc::SYS_socket => self.open(&call),
                number => {
                    // Where the descriptor cannot be had there is no account, and the call goes on.
                    if let Ok(Some(socket)) = call.socket() {
                        self.watch.look(&socket, number == libc::SYS_connect);
                    }
                    self.listener.go_on(call.id);
                }
            }
        }
    }

    /// Opens the socket that the plan wants and gives it to the caller.
    fn open(&self, call: &Call) {
        let [domain, kind, ..] = call.data.args;
        let domain = Domain::from(domain as i32);
        let flags = kind as i32;
        let answered =
            socket::open(self.protocol, domain, &self.congestion_control).and_then(|socket| {
                socket.set_nonblocking(flags & libc::SOCK_NONBLOCK != 0)?;
                let close_on_exec = flags & libc::SOCK_CLOEXEC != 0;
                self.listener
                    .hand_over(call.id, socket.as_raw_fd(), close_on_exec)
            });
        if let Err(error) = answered {
            let number = error.raw_os_error().unwrap_or(libc::EACCES);
            self.listener.refuse(call.id, number);
        }
    }
}
