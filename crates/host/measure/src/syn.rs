//! The options of a SYN that came, as `TCP_SAVED_SYN` gives it: its IP and TCP headers.

use serde::{Deserialize, Serialize};

const MPTCP_KIND: u8 = 30;
const MP_CAPABLE: u8 = 0;

/// Options by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SynOptions {
    /// In the order in which they came: `mss`, `sack-permitted`, `timestamps`, `window-scale`,
    /// `mp-capable`, else the kind's number.
    pub names: Vec<String>,
}

/// The options of the headers of a SYN; `None` where they are cut or no such headers.
pub fn parse(headers: &[u8]) -> Option<SynOptions> {
    let tcp = match headers.first()? >> 4 {
        4 => headers.get(usize::from(headers[0] & 0xf) * 4..)?,
        // The kernel saves extension headers, too; none is expected before a SYN's.
        6 if headers.get(6) == Some(&6) => headers.get(40..)?,
        _ => return None,
    };
    let length = usize::from(tcp.get(12)? >> 4) * 4;
    let mut rest = tcp.get(20..length)?;
    let mut names = Vec::new();
    while let Some((&kind, after)) = rest.split_first() {
        match kind {
            0 => break,
            1 => rest = after,
            _ => {
                let length = usize::from(*after.first()?);
                let value = rest.get(2..length)?;
                names.push(name(kind, value));
                rest = &rest[length..];
            }
        }
    }
    Some(SynOptions { names })
}

fn name(kind: u8, value: &[u8]) -> String {
    let known = match (kind, value.first().map(|byte| byte >> 4)) {
        (2, _) => "mss",
        (3, _) => "window-scale",
        (4, _) => "sack-permitted",
        (8, _) => "timestamps",
        (MPTCP_KIND, Some(MP_CAPABLE)) => "mp-capable",
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
