//! Tokens, initial data sequence numbers and HMACs, computed from the keys of a connection, of
//! version 0 (RFC 6824: SHA-1) and of version 1 (RFC 8684: SHA-256).

use std::net::IpAddr;

use hmac::{Hmac, KeyInit, Mac};
use mptcplab_wire::keys::{self, Key};
use sha1::{Digest, Sha1};

/// Computes the token by which the other end names the connection in a MP_JOIN: the first 32 bits
/// of the key's digest (RFC 8684 and RFC 6824, section 3.2).
pub fn token(version: u8, key: u64) -> u32 {
    match version {
        0 => (first_word(&Sha1::digest(key.to_be_bytes())) >> 32) as u32,
        _ => Key(key).token(),
    }
}

/// Computes the initial data sequence number of the key's owner: the last 64 bits of the key's
/// digest (section 3.1). It stands for the handshake as a SYN does: the first byte of data has the
/// one that follows.
pub fn initial_data_sequence(version: u8, key: u64) -> u64 {
    match version {
        0 => last_word(&Sha1::digest(key.to_be_bytes())),
        _ => Key(key).initial_data_sequence(),
    }
}

/// Computes the HMAC of a MP_JOIN as its sender makes it, over its own number and the other's,
/// keyed by its own key and the other's (section 3.2): the leftmost 160 bits, which the third ACK
/// has, and which are all of version 0's.
pub fn join_hmac(
    version: u8,
    own_key: u64,
    other_key: u64,
    own_nonce: u32,
    other_nonce: u32,
) -> [u8; 20] {
    match version {
        0 => {
            let key = [own_key.to_be_bytes(), other_key.to_be_bytes()].concat();
            let mut mac =
                Hmac::<Sha1>::new_from_slice(&key).expect("HMAC takes keys of any length");
            mac.update(&own_nonce.to_be_bytes());
            mac.update(&other_nonce.to_be_bytes());
            mac.finalize().into_bytes().into()
        }
        _ => {
            let (own, other) = (Key(own_key), Key(other_key));
            keys::join_hmac_in_ack(&keys::join_hmac(own, other, own_nonce, other_nonce))
        }
    }
}

/// Returns the part of it that stands in the SYN/ACK: the leftmost 64 bits.
pub fn join_hmac_in_syn_ack(hmac: &[u8; 20]) -> u64 {
    first_word(hmac)
}

/// Computes the HMAC of an ADD_ADDR of version 1 (RFC 8684, section 3.4.1): over id, address and
/// port (0 where there is none), the rightmost 64 bits. `own_key` is that of the sender of the
/// option.
pub fn address_hmac(
    own_key: u64,
    other_key: u64,
    address_id: u8,
    address: IpAddr,
    port: Option<u16>,
) -> u64 {
    keys::address_hmac(Key(own_key), Key(other_key), address_id, address, port)
}

fn first_word(digest: &[u8]) -> u64 {
    digest
        .first_chunk()
        .map_or(0, |word| u64::from_be_bytes(*word))
}

fn last_word(digest: &[u8]) -> u64 {
    digest
        .last_chunk()
        .map_or(0, |word| u64::from_be_bytes(*word))
}

#[cfg(test)]
mod tests {
    use super::*;

    // Computed with Python's hashlib and hmac.
    const A: u64 = 0x0123_4567_89ab_cdef;
    const B: u64 = 0xfedc_ba98_7654_3210;

    #[test]
    fn token_and_initial_data_sequence_are_the_ends_of_the_digest() {
        assert_eq!(token(1, A), 0x55c5_3f5d);
        assert_eq!(token(1, B), 0x18f9_781b);
        assert_eq!(initial_data_sequence(1, A), 0x5707_62cd_38be_9818);
        assert_eq!(initial_data_sequence(1, B), 0x2808_18bf_0fa7_e28e);
    }

    #[test]
    fn version_0_takes_them_from_sha_1() {
        assert_eq!(token(0, A), 0x0ca2_eadb);
        assert_eq!(token(0, B), 0xa5be_6871);
        assert_eq!(initial_data_sequence(0, A), 0xe3df_8ee1_21f1_0547);
        assert_eq!(initial_data_sequence(0, B), 0x334f_c234_bee4_95ca);
    }

    #[test]
    fn the_hmac_of_a_join_has_160_bits_in_both_versions() {
        let hmac = join_hmac(1, A, B, 0x1111_2222, 0x3333_4444);
        assert_eq!(join_hmac_in_syn_ack(&hmac), 0x1553_0245_eb8d_7304);
        assert_eq!(hmac[12..], 0x7717_5b20_04b4_ac40_u64.to_be_bytes());
        let hmac = join_hmac(0, B, A, 0x3333_4444, 0x1111_2222);
        assert_eq!(join_hmac_in_syn_ack(&hmac), 0x8df7_a849_1d3a_33fc);
        assert_eq!(hmac[12..], 0x3c75_a2cf_babe_dd9b_u64.to_be_bytes());
    }
}
