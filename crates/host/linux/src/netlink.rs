//! Requests to the kernel over netlink: one message, one answer, errors as `io::Error`.

use std::io;
use std::mem;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST, NLMSG_DONE, NLMSG_ERROR, NetlinkBuffer,
    NetlinkDeserializable, NetlinkHeader, NetlinkMessage, NetlinkSerializable,
};
use netlink_sys::{Socket, SocketAddr};

use crate::bytes::u32_at;
use crate::dump::attributes;

const HEADER_LENGTH: usize = 16;

/// Room for the answers that one read returns at most (the kernel fills up to 32 KiB).
const READ_LENGTH: usize = 64 * 1024;

/// A netlink socket of one protocol, in the namespace in which it was opened.
pub struct Netlink {
    socket: Socket,
    buffer: Vec<u8>,
    sequence: u32,
    words: Option<String>,
}

impl Netlink {
    /// Opens a socket of `protocol` (`NETLINK_ROUTE`, `NETLINK_GENERIC` …) in the calling
    /// thread's namespace.
    ///
    /// # Errors
    /// Those of socket(2) and bind(2).
    pub fn open(protocol: isize) -> io::Result<Self> {
        let mut socket = Socket::new(protocol)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self {
            socket,
            buffer: vec![0; READ_LENGTH],
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

    /// The kernel's text beside the error number of the last request.
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
    pub fn exchange<T>(
        &mut self,
        payload: T,
        flags: u16,
        mut answer: impl FnMut(T),
    ) -> io::Result<()>
    where
        T: NetlinkSerializable + NetlinkDeserializable,
    {
        let mut body = vec![0; payload.buffer_len()];
        payload.serialize(&mut body);
        self.exchange_raw(payload.message_type(), flags, &body, |message| {
            let mut header = NetlinkHeader::default();
            header.length = message.length();
            header.message_type = message.message_type();
            header.flags = message.flags();
            header.sequence_number = message.sequence_number();
            let inner = T::deserialize(&header, message.payload()).map_err(io::Error::other)?;
            answer(inner);
            Ok(())
        })
    }

    /// Sends a request in its own bytes and gives each answer to `answer`, up to the
    /// acknowledgement or the end of the dump.
    ///
    /// # Errors
    /// The kernel's error, by its number, and those of `answer`.
    pub(crate) fn exchange_raw(
        &mut self,
        kind: u16,
        flags: u16,
        payload: &[u8],
        mut answer: impl FnMut(&NetlinkBuffer<&[u8]>) -> io::Result<()>,
    ) -> io::Result<()> {
        self.words = None;
        self.sequence = self.sequence.wrapping_add(1);
        let request = request(kind, flags, self.sequence, payload);
        self.socket.send(&request, 0)?;
        loop {
            let length = self.socket.recv(&mut &mut self.buffer[..], 0)?;
            match read_messages(&self.buffer[..length], self.sequence, &mut answer)? {
                Progress::More => {}
                Progress::End => return Ok(()),
                Progress::Refused { error, words } => {
                    self.words = words;
                    return Err(error);
                }
            }
        }
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
}

impl AsFd for Netlink {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the descriptor is the socket's, which lives as long as the borrow.
        unsafe { BorrowedFd::borrow_raw(self.socket.as_raw_fd()) }
    }
}

/// The state of a request after some of its answers.
#[derive(Debug)]
enum Progress {
    /// More answers follow.
    More,
    /// All answers have come.
    End,
    /// The kernel refuses the request, with the text of its extended acknowledgement.
    Refused {
        error: io::Error,
        words: Option<String>,
    },
}

fn request(kind: u16, flags: u16, sequence: u32, payload: &[u8]) -> Vec<u8> {
    let length = HEADER_LENGTH + payload.len();
    let mut message = vec![0; length];
    let mut header = NetlinkBuffer::new(&mut message[..]);
    header.set_length(length as u32);
    header.set_message_type(kind);
    header.set_flags(NLM_F_REQUEST | flags);
    header.set_sequence_number(sequence);
    message[HEADER_LENGTH..].copy_from_slice(payload);
    message
}

/// Gives the messages in `bytes` to `answer`, up to the closing one.
fn read_messages(
    mut bytes: &[u8],
    sequence: u32,
    answer: &mut impl FnMut(&NetlinkBuffer<&[u8]>) -> io::Result<()>,
) -> io::Result<Progress> {
    while let Ok(message) = NetlinkBuffer::new_checked(bytes) {
        // The rest of an interrupted dump may still be under way.
        if message.sequence_number() == sequence {
            match message.message_type() {
                NLMSG_DONE => return Ok(status(message.payload(), 0)),
                NLMSG_ERROR => return Ok(status(message.payload(), HEADER_LENGTH)),
                _ => answer(&message)?,
            }
        }
        let next = (message.length() as usize).next_multiple_of(4);
        bytes = bytes.get(next..).unwrap_or_default();
    }
    Ok(Progress::More)
}

/// The status that a closing message carries: zero or a negative error number. An error repeats
/// `repeated_bytes` of the request, at least, before the attributes of its extended acknowledgement.
fn status(payload: &[u8], repeated_bytes: usize) -> Progress {
    match u32_at(payload, 0).unwrap_or(0) as i32 {
        0 => Progress::End,
        error => Progress::Refused {
            error: io::Error::from_raw_os_error(error.saturating_neg()),
            words: payload.get(4 + repeated_bytes..).and_then(words),
        },
    }
}

/// The text of an extended acknowledgement (`NLMSGERR_ATTR_MSG`) among its attributes.
fn words(acknowledgement: &[u8]) -> Option<String> {
    const NLMSGERR_ATTR_MSG: u16 = 1;
    let (_, text) = attributes(acknowledgement).find(|&(kind, _)| kind == NLMSGERR_ATTR_MSG)?;
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn message(kind: u16, sequence: u32, payload: &[u8]) -> Vec<u8> {
        let mut bytes = request(kind, NLM_F_DUMP, sequence, payload);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    fn read(bytes: &[u8]) -> (Progress, Vec<Vec<u8>>) {
        let mut seen = Vec::new();
        let progress = read_messages(bytes, 7, &mut |message| {
            seen.push(message.payload().to_vec());
            Ok(())
        });
        (progress.unwrap(), seen)
    }

    #[test]
    fn messages_are_given_until_the_closing_one() {
        let bytes = [
            message(20, 7, b"one"),
            message(20, 6, b"of another request"),
            message(20, 7, b"two2"),
            message(NLMSG_DONE, 7, &0i32.to_ne_bytes()),
        ]
        .concat();
        let (end, seen) = read(&bytes);
        assert!(matches!(end, Progress::End));
        assert_eq!(seen, [b"one".to_vec(), b"two2".to_vec()]);
    }

    #[test]
    fn an_error_is_an_error() {
        let (end, _) = read(&message(NLMSG_ERROR, 7, &(-libc::ENOENT).to_ne_bytes()));
        let Progress::Refused { error, words } = end else {
            panic!("no error");
        };
        assert_eq!((error.raw_os_error(), words), (Some(libc::ENOENT), None));
    }

    #[test]
    fn a_refusal_has_its_words_in_errors_and_at_the_end_of_dumps() {
        let code = (-libc::EINVAL).to_ne_bytes();
        let text = [&[8, 0, 1, 0][..], b"no!\0"].concat();
        let request = [0; HEADER_LENGTH];
        let error = [&code[..], &request, &text].concat();
        for (kind, payload) in [
            (NLMSG_ERROR, error),
            (NLMSG_DONE, [&code[..], &text].concat()),
        ] {
            let (Progress::Refused { words, .. }, _) = read(&message(kind, 7, &payload)) else {
                panic!("no refusal");
            };
            assert_eq!(words.as_deref(), Some("no!"));
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes: Vec<u8>) {
            read(&bytes);
        }
    }
}
