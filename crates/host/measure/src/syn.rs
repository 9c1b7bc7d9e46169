//! The options of a SYN that came, as `TCP_SAVED_SYN` gives it: its IP and TCP headers.

use serde::{Deserialize, Serialize};

const MPTCP_KIND: u8 = 30;
const MP_CAPABLE: u8 = 0;
/// Flag A of MP_CAPABLE: checksums are required (RFC 8684, section 3.1).
const CHECKSUM_REQUIRED: u8 = 0x80;
/// TCP Fast Open (RFC 7413); the same as an experiment (RFC 6994), with which Linux asks for a cookie
/// where no answer came.
const FAST_OPEN_KIND: u8 = 34;
const EXPERIMENT_KIND: u8 = 254;
const FAST_OPEN_EXPERIMENT: [u8; 2] = [0xf9, 0x89];

const IPV6_HEADER_BYTES: usize = 40;

/// The options of a SYN by name, and its payload.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SynOptions {
    /// In the order in which they came: `mss`, `sack-permitted`, `timestamps`, `window-scale`,
    /// `mp-capable`, `fast-open`, else the kind's number.
    pub names: Vec<String>,
    /// Flag A of MP_CAPABLE: the sender wants checksums.
    pub checksum: bool,
    /// Length of the cookie of TCP Fast Open; 0 where one is asked for.
    pub cookie_bytes: Option<u8>,
    /// Payload of the SYN.
    pub data_bytes: u32,
}

/// The options of the headers of a SYN; `None` where they are cut or no such headers.
pub fn parse(headers: &[u8]) -> Option<SynOptions> {
    let u16_at = |place: usize| {
        let bytes = headers.get(place..)?.first_chunk()?;
        Some(usize::from(u16::from_be_bytes(*bytes)))
    };
    let (before, packet) = match headers.first()? >> 4 {
        4 => (usize::from(headers[0] & 0xf) * 4, u16_at(2)?),
        // The kernel saves extension headers, too; none is expected before a SYN's.
        6 if headers.get(6) == Some(&6) => (IPV6_HEADER_BYTES, u16_at(4)? + IPV6_HEADER_BYTES),
        _ => return None,
    };
    let tcp = headers.get(before..)?;
    let length = usize::from(tcp.get(12)? >> 4) * 4;
    let mut rest = tcp.get(20..length)?;
    let data = packet.saturating_sub(before + length);
    let mut found = SynOptions {
        data_bytes: u32::try_from(data).ok()?,
        ..SynOptions::default()
    };
    while let Some((&kind, after)) = rest.split_first() {
        match kind {
            0 => break,
            1 => rest = after,
            _ => {
                let length = usize::from(*after.first()?);
                let value = rest.get(2..length)?;
                let name = name(kind, value);
                match name.as_str() {
                    "mp-capable" => found.checksum = is_checksum_required(value),
                    "fast-open" => found.cookie_bytes = cookie_bytes(kind, value),
                    _ => {}
                }
                found.names.push(name);
                rest = &rest[length..];
            }
        }
    }
    Some(found)
}

fn is_checksum_required(mp_capable: &[u8]) -> bool {
    let flags = mp_capable.get(1);
    flags.is_some_and(|flags| flags & CHECKSUM_REQUIRED != 0)
}

fn cookie_bytes(kind: u8, value: &[u8]) -> Option<u8> {
    let before = if kind == EXPERIMENT_KIND {
        FAST_OPEN_EXPERIMENT.len()
    } else {
        0
    };
    u8::try_from(value.len() - before).ok()
}

fn name(kind: u8, value: &[u8]) -> String {
    let known = match (kind, value.first().map(|byte| byte >> 4)) {
        (2, _) => "mss",
        (3, _) => "window-scale",
        (4, _) => "sack-permitted",
        (8, _) => "timestamps",
        (MPTCP_KIND, Some(MP_CAPABLE)) => "mp-capable",
        (FAST_OPEN_KIND, _) => "fast-open",
        (EXPERIMENT_KIND, _) if value.starts_with(&FAST_OPEN_EXPERIMENT) => "fast-open",
        _ => return kind.to_string(),
    };
    known.to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A SYN of Linux 6.18 on the loopback, with MP_CAPABLE of version 1.
    const SYN: &str = "45000040b2ba4000400689fb7f0000017f0000019cc2c819b51e45fd00000000b002ffd7\
                       fe3400000204ffd70402080af5240c01000000000103030a1e040101";

    fn syn() -> Vec<u8> {
        crate::token::from_hex(SYN).expect("digits")
    }

    #[test]
    fn options_are_named() {
        let expected = [
            "mss",
            "sack-permitted",
            "timestamps",
            "window-scale",
            "mp-capable",
        ];
        assert_eq!(parse(&syn()).unwrap().names, expected);
    }

    #[test]
    fn options_that_were_replaced_by_padding_are_missing() {
        let mut padded = syn();
        let length = padded.len();
        padded[length - 4..].fill(1);
        let names = parse(&padded).unwrap().names;
        assert!(!names.contains(&"mp-capable".to_owned()) && names.len() == 4);
    }

    /// A SYN with these options and so much payload, of which only the headers are given.
    fn with(options: &[u8], data_bytes: u16) -> SynOptions {
        let mut headers = syn()[..40].to_vec();
        headers.extend(options);
        headers[32] = ((20 + options.len() as u8) / 4) << 4;
        let length = headers.len() as u16 + data_bytes;
        headers[2..4].copy_from_slice(&length.to_be_bytes());
        parse(&headers).unwrap()
    }

    #[test]
    fn a_cookie_a_request_for_one_and_data_are_told() {
        let names = ["fast-open".to_owned()];
        let request = with(&[34, 2, 1, 1], 0);
        assert_eq!(
            (&request.names[..], request.cookie_bytes),
            (&names[..], Some(0))
        );
        let experiment = with(&[254, 4, 0xf9, 0x89], 0);
        assert_eq!(
            (&experiment.names[..], experiment.cookie_bytes),
            (&names[..], Some(0))
        );
        let cookie = with(&[34, 10, 1, 2, 3, 4, 5, 6, 7, 8, 1, 1], 37);
        assert_eq!((cookie.cookie_bytes, cookie.data_bytes), (Some(8), 37));
        assert_eq!(with(&[254, 4, 0, 0], 0).names, ["254"]);
        assert_eq!(parse(&syn()).unwrap().data_bytes, 0);
    }

    #[test]
    fn checksums_are_wanted_by_flag_a() {
        assert!(with(&[30, 4, 1, 0x81], 0).checksum);
        assert!(!parse(&syn()).unwrap().checksum);
    }

    #[test]
    fn payload_of_ipv6_is_what_is_beyond_its_tcp_header() {
        let mut headers = vec![0; 40];
        (headers[0], headers[5], headers[6]) = (0x60, 20 + 4 + 9, 6);
        headers.extend(&syn()[20..40]);
        headers[52] = 6 << 4;
        headers.extend([34, 2, 1, 1]);
        let found = parse(&headers).unwrap();
        assert_eq!((found.cookie_bytes, found.data_bytes), (Some(0), 9));
    }

    #[test]
    fn a_cut_header_is_none() {
        for length in 0..syn().len() {
            assert_eq!(parse(&syn()[..length]), None, "{length}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes: Vec<u8>) {
            parse(&bytes);
        }
    }
}
