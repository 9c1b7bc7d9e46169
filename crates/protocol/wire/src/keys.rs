//! Keys of a connection, and what version 1 (RFC 8684) computes from them.

use core::net::IpAddr;

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// Key of one end of a connection (RFC 8684, section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(pub u64);

impl Key {
    /// Token by which the other end names the connection in a MP_JOIN: the first 32 bits of the
    /// key's SHA-256 (section 3.2).
    pub fn token(self) -> u32 {
        (self.digest_word(0) >> 32) as u32
    }

    /// Initial data sequence number: the last 64 bits of the key's SHA-256 (section 3.1). It
    /// stands for the handshake as a SYN does; the first byte of data has the one that follows.
    pub fn initial_data_sequence(self) -> u64 {
        self.digest_word(3)
    }

    fn digest_word(self, index: usize) -> u64 {
        word(&Sha256::digest(self.0.to_be_bytes()), index)
    }
}

/// HMAC of a MP_JOIN (section 3.2), as its sender makes it: over its own number and the other's,
/// keyed by its own key and the other's.
pub fn join_hmac(own: Key, other: Key, own_nonce: u32, other_nonce: u32) -> [u8; 32] {
    let mut message = [0; 8];
    message[..4].copy_from_slice(&own_nonce.to_be_bytes());
    message[4..].copy_from_slice(&other_nonce.to_be_bytes());
    hmac(own, other, &message)
}

/// The part of it that stands in the SYN/ACK: the leftmost 64 bits.
pub fn join_hmac_in_syn_ack(hmac: &[u8; 32]) -> u64 {
    word(hmac, 0)
}

/// The part of it that stands in the third ACK: the leftmost 160 bits.
pub fn join_hmac_in_ack(hmac: &[u8; 32]) -> [u8; 20] {
    let mut part = [0; 20];
    part.copy_from_slice(&hmac[..20]);
    part
}

/// HMAC of an ADD_ADDR (section 3.4.1): over id, address and port (0 where there is none), the
/// rightmost 64 bits. `own` is the key of the sender of the option.
pub fn address_hmac(own: Key, other: Key, id: u8, address: IpAddr, port: Option<u16>) -> u64 {
    let mut message = arrayvec::ArrayVec::<u8, 19>::new();
    message.push(id);
    match address {
        IpAddr::V4(v4) => message.extend(v4.octets()),
        IpAddr::V6(v6) => message.extend(v6.octets()),
    }
    message.extend(port.unwrap_or(0).to_be_bytes());
    word(&hmac(own, other, &message), 3)
}

fn hmac(own: Key, other: Key, message: &[u8]) -> [u8; 32] {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&own.0.to_be_bytes());
    key[8..].copy_from_slice(&other.0.to_be_bytes());
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).expect("HMAC takes keys of any length");
    mac.update(message);
    mac.finalize().into_bytes().into()
}

/// The 64-bit word number `index` of a digest.
fn word(digest: &[u8], index: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&digest[8 * index..8 * index + 8]);
    u64::from_be_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Computed with Python's hashlib and hmac.
    const A: Key = Key(0x0123_4567_89ab_cdef);
    const B: Key = Key(0xfedc_ba98_7654_3210);

    #[test]
    fn token_and_initial_data_sequence_are_the_ends_of_the_digest() {
        assert_eq!(A.token(), 0x55c5_3f5d);
        assert_eq!(A.initial_data_sequence(), 0x5707_62cd_38be_9818);
    }

    #[test]
    fn the_hmac_of_a_join_is_that_of_section_3_2() {
        let hmac = join_hmac(A, B, 0x1111_2222, 0x3333_4444);
        assert_eq!(join_hmac_in_syn_ack(&hmac), 0x1553_0245_eb8d_7304);
        assert_eq!(join_hmac_in_ack(&hmac)[..], hmac[..20]);
        assert_eq!(hmac[12..20], 0x7717_5b20_04b4_ac40_u64.to_be_bytes());
    }

    #[test]
    fn the_hmac_of_an_address_is_that_of_section_3_4_1() {
        let v4: IpAddr = "10.0.2.1".parse().unwrap();
        let v6: IpAddr = "fd00::1".parse().unwrap();
        assert_eq!(address_hmac(A, B, 7, v4, None), 0x50f6_b483_0754_8511);
        assert_eq!(address_hmac(A, B, 7, v4, Some(0)), 0x50f6_b483_0754_8511);
        assert_eq!(address_hmac(A, B, 7, v6, Some(8080)), 0xf334_ca96_e1f0_f904);
    }
}
