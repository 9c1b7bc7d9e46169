//! Requests to the kernel over netlink: one message, one answer, errors as `io::Error`.

use std::io;
use std::mem;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST, NetlinkDeserializable, NetlinkHeader, NetlinkMessage,
    NetlinkPayload, NetlinkSerializable,
};
use netlink_sys::{Socket, SocketAddr};

use crate::dump::attributes;

/// A netlink socket of one protocol, in the namespace in which it was opened.
pub struct Netlink {
    socket: Socket,
    sequence: u32,
    words: Option<String>,
}

impl Netlink {
    /// Opens a socket of `protocol` (`NETLINK_ROUTE`, `NETLINK_GENERIC` …) in the calling
    /// thread's namespace.
    ///
    /// # Errors
    /// What socket(2) and bind(2) give.
    pub fn open(protocol: isize) -> io::Result<Self> {
        let mut socket = Socket::new(protocol)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self {
            socket,
            sequence: 0,
            words: None,
        })
    }

    /// Opens a socket of generic netlink.
    ///
    /// # Errors
    /// As [`Netlink::open`].
    pub fn generic() -> io::Result<Self> {
        let netlink = Self::open(netlink_sys::protocols::NETLINK_GENERIC)?;
        let socket = &netlink.socket;
        // Kernels before 4.12 have no words.
        let _ = socket
            .set_cap_ack(true)
            .and_then(|()| socket.set_ext_ack(true));
        Ok(netlink)
    }

    /// The socket itself, for subscriptions and for polling.
    pub fn socket(&mut self) -> &mut Socket {
        &mut self.socket
    }

    /// What the kernel said beside the number of the last request's error.
    pub fn words(&self) -> Option<&str> {
        self.words.as_deref()
    }

    /// Sends a request and waits for the kernel's yes or no.
    ///
    /// # Errors
    /// The kernel's error, by its number.
    pub fn request<T>(&mut self, payload: T, flags: u16) -> io::Result<()>
    where
        T: NetlinkSerializable + NetlinkDeserializable,
    {
        self.exchange(payload, flags | NLM_F_ACK, |_: T| {})
    }

    /// Sends a dump request and gives each row to `row`.
    ///
    /// # Errors
    /// The kernel's error, by its number.
    pub fn dump<T>(&mut self, payload: T, row: impl FnMut(T)) -> io::Result<()>
    where
        T: NetlinkSerializable + NetlinkDeserializable,
    {
        self.exchange(payload, NLM_F_DUMP, row)
    }

    /// Sends a request with these flags and gives each answer to `answer`.
    ///
    /// # Errors
    /// The kernel's error, by its number.
    pub fn exchange<T>(&mut self, payload: T, flags: u16, answer: impl FnMut(T)) -> io::Result<()>
    where
        T: NetlinkSerializable + NetlinkDeserializable,
    {
        self.words = None;
        self.send(payload, flags)?;
        self.answers(answer)
    }

    /// Index of an interface of the socket's namespace, by its name.
    ///
    /// # Errors
    /// `ENODEV` where there is none; names that the kernel would cut (at a zero or a colon) name none.
    pub fn interface_index(&self, name: &str) -> io::Result<u32> {
        // SAFETY: all zeros is such a structure.
        let mut request: libc::ifreq = unsafe { mem::zeroed() };
        if name.len() >= request.ifr_name.len() || name.contains(['\0', ':']) {
            return Err(io::Error::from_raw_os_error(libc::ENODEV));
        }
        for (place, byte) in request.ifr_name.iter_mut().zip(name.bytes()) {
            *place = byte as libc::c_char;
        }
        let descriptor = self.socket.as_raw_fd();
        // SAFETY: the kernel reads the name, which ends with a zero, and writes the index.
        let index = unsafe {
            if libc::ioctl(descriptor, libc::SIOCGIFINDEX, &raw mut request) < 0 {
                return Err(io::Error::last_os_error());
            }
            request.ifr_ifru.ifru_ifindex
        };
        Ok(index as u32)
    }

    fn send<T: NetlinkSerializable>(&mut self, payload: T, flags: u16) -> io::Result<()> {
        self.sequence += 1;
        let mut header = NetlinkHeader::default();
        header.flags = flags | NLM_F_REQUEST;
        header.sequence_number = self.sequence;
        let mut message = NetlinkMessage::new(header, NetlinkPayload::InnerMessage(payload));
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        self.socket.send(&bytes, 0).map(drop)
    }

    /// Reads the answers to the last request up to its acknowledgement or the end of its dump.
    fn answers<T: NetlinkDeserializable>(&mut self, mut row: impl FnMut(T)) -> io::Result<()> {
        loop {
            let (datagram, _) = self.socket.recv_from_full()?;
            for message in messages::<T>(&datagram) {
                let message = message?;
                if message.header.sequence_number != self.sequence {
                    continue;
                }
                match message.payload {
                    NetlinkPayload::InnerMessage(inner) => row(inner),
                    NetlinkPayload::Error(error) => {
                        return match error.code {
                            None => Ok(()),
                            Some(_) => {
                                self.words = words(&error.header);
                                Err(error.to_io())
                            }
                        };
                    }
                    NetlinkPayload::Done(_) => return Ok(()),
                    _ => {}
                }
            }
        }
    }
}

impl AsFd for Netlink {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the descriptor is the socket's, which lives as long as the borrow.
        unsafe { BorrowedFd::borrow_raw(self.socket.as_raw_fd()) }
    }
}

/// The text of an extended acknowledgement (`NLMSGERR_ATTR_MSG`), behind the header of the request.
fn words(error: &[u8]) -> Option<String> {
    const HEADER_BYTES: usize = 16;
    const NLMSGERR_ATTR_MSG: u16 = 1;
    let (_, text) =
        attributes(error.get(HEADER_BYTES..)?).find(|&(kind, _)| kind == NLMSGERR_ATTR_MSG)?;
    let text = text.split(|&byte| byte == 0).next()?;
    Some(String::from_utf8_lossy(text).into_owned())
}

/// The messages of one datagram.
pub fn messages<T: NetlinkDeserializable>(
    datagram: &[u8],
) -> impl Iterator<Item = io::Result<NetlinkMessage<T>>> + '_ {
    let mut rest = datagram;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let message = NetlinkMessage::<T>::deserialize(rest).map_err(io::Error::other);
        // A message is padded to four bytes; one that cannot be read ends the datagram.
        let length = message
            .as_ref()
            .map_or(rest.len(), |message| message.header.length as usize);
        rest = rest
            .get(length.next_multiple_of(4).max(4)..)
            .unwrap_or_default();
        Some(message)
    })
}
