//! Options of a single subflow, at any time.
//!
//! An application has no socket for a subflow: what it sets on its Multipath TCP socket reaches all
//! of them. A program that goes through the TCP sockets of a network namespace can set and read
//! options of the one that is a certain subflow of a certain connection.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::Error;
use crate::kernel::{check, write_value};
use crate::libbpf::library;
use crate::object::Loaded;

/// Bytes of the longest value of an option.
pub const LONGEST_VALUE: usize = 256;

const OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/subflow_options.o"));
const WHAT: &str = "subflow_options";

#[repr(C)]
struct Request {
    token: u32,
    subflow_id: u32,
    level: i32,
    option: i32,
    is_set: u32,
    length: u32,
    value: [u8; LONGEST_VALUE],
}

/// Length of the answer that the program writes: a status and a value.
const ANSWER_BYTES: usize = 4 + LONGEST_VALUE;

/// The loaded program.
///
/// Loading needs `CAP_BPF`, `CAP_PERFMON` and `CAP_NET_ADMIN`; the calls after it need none of them
/// (Linux 5.19), and reach the sockets of the network namespace of the calling thread. The kernel
/// does not check that a socket is the caller's: the caller does, and holds it until the call has
/// returned, so that its token becomes no other connection's.
pub struct SubflowOptions {
    /// Holds the map of requests.
    object: Loaded,
    iterator: OwnedFd,
}

impl SubflowOptions {
    /// Loads the program. Nothing of it outlives the result.
    ///
    /// # Errors
    /// Where it cannot be loaded; each says what to do.
    pub fn load() -> Result<Self, Error> {
        let object = Loaded::load(OBJECT, WHAT, None)?;
        let iterator = object.iterator(c"subflow_option")?;
        Ok(Self { object, iterator })
    }

    /// Sets an option of a subflow, named by its connection's token on this host and its id there
    /// (both of `MPTCP_FULL_INFO`, Linux 6.5). Which options, see bpf-helpers(7), `bpf_setsockopt`: of `SOL_SOCKET` SO_MARK, SO_PRIORITY, SO_KEEPALIVE,
    /// SO_MAX_PACING_RATE and buffers, of `IPPROTO_TCP` TCP_CONGESTION, TCP_KEEPIDLE and others,
    /// IP_TOS, IPV6_TCLASS. TCP_MAXSEG is taken and changes nothing, as on every socket that is
    /// connected. Privileges that an option wants of an application are not asked for.
    ///
    /// The kernel goes through its hash table of all connections until it has found the subflow:
    /// about a millisecond.
    ///
    /// # Errors
    /// [`Error::NoSuchSubflow`], or [`Error::Option`] with the kernel's reason.
    pub fn set(
        &mut self,
        token: u32,
        subflow_id: u32,
        level: i32,
        option: i32,
        value: &[u8],
    ) -> Result<(), Error> {
        let mut request = request((token, subflow_id), (level, option), value.len())?;
        request.is_set = 1;
        request.value[..value.len()].copy_from_slice(value);
        self.ask(&request).map(drop)
    }

    /// Reads an option of a subflow, named as in [`Self::set`]: a value of exactly `length` bytes,
    /// which most options want to be 4.
    ///
    /// # Errors
    /// [`Error::NoSuchSubflow`], or [`Error::Option`] with the kernel's reason.
    pub fn get(
        &mut self,
        token: u32,
        subflow_id: u32,
        level: i32,
        option: i32,
        length: usize,
    ) -> Result<Vec<u8>, Error> {
        let request = request((token, subflow_id), (level, option), length)?;
        let mut value = self.ask(&request)?;
        value.truncate(length);
        Ok(value)
    }

    fn ask(&mut self, request: &Request) -> Result<Vec<u8>, Error> {
        write_value(self.object.map_descriptor(c"requests")?, request)?;
        let answer = self.read()?;
        let Some((status, value)) = answer.split_first_chunk() else {
            return Err(Error::NoSuchSubflow {
                token: request.token,
                id: request.subflow_id,
            });
        };
        match i32::from_ne_bytes(*status) {
            0 => Ok(value.to_vec()),
            status => Err(Error::Option {
                level: request.level,
                option: request.option,
                error: io::Error::from_raw_os_error(-status),
            }),
        }
    }

    /// Goes through the sockets until the program has answered; nothing where it has not.
    fn read(&self) -> Result<Vec<u8>, Error> {
        let library = library()?;
        // SAFETY: plain system call on an open descriptor.
        let descriptor = unsafe { (library.bpf_iter_create)(self.iterator.as_raw_fd()) };
        check(descriptor, WHAT)?;
        // SAFETY: the kernel has just made the descriptor for us.
        let mut sockets = unsafe { File::from_raw_fd(descriptor) };
        let mut answer = vec![0; ANSWER_BYTES];
        let mut filled = 0;
        while filled < answer.len() {
            match sockets.read(&mut answer[filled..]) {
                Ok(0) => break,
                Ok(bytes) => filled += bytes,
                // After a million sockets, or a signal.
                Err(error) if is_passing(&error) => {}
                Err(error) => return Err(Error::refused(WHAT, error, "")),
            }
        }
        answer.truncate(filled);
        Ok(answer)
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock
    )
}

fn request(
    (token, subflow_id): (u32, u32),
    (level, option): (i32, i32),
    length: usize,
) -> Result<Request, Error> {
    if !(1..=LONGEST_VALUE).contains(&length) {
        return Err(Error::Length(length));
    }
    Ok(Request {
        token,
        subflow_id,
        level,
        option,
        is_set: 0,
        length: length as u32,
        value: [0; LONGEST_VALUE],
    })
}
