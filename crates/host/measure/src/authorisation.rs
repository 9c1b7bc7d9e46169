//! Authentication codes: HMAC with SHA-256 (RFC 2104) under the secret of a token.
//!
//! A holder proves its secret by the code of the target's challenge. Each connection of an
//! experiment begins with the code of the experiment's nonce and the connection's place, which
//! is good for that connection only, once: those who see it on the way can open no further one by it.
//! A host on the way that holds it back can use it in the connection's place.

use ring::hmac::{self, HMAC_SHA256, Key};
use ring::rand::{SecureRandom, SystemRandom};

/// Length of a code.
pub const CODE_BYTES: usize = 32;
/// The opening of a connection for data: four letters, its place and its code.
pub const OPENING_BYTES: usize = MAGIC.len() + 1 + CODE_BYTES;
/// The target's consent, the first byte that it sends on a connection for data.
pub const GO: u8 = b'G';

/// Nothing that TLS begins with.
const MAGIC: [u8; 4] = *b"MPm1";
const OF_CHALLENGE: u8 = 1;
const OF_CONNECTION: u8 = 2;

/// A secret that a target and one holder share.
#[derive(Clone)]
pub struct Secret(Key);

impl Secret {
    /// The secret of these bytes.
    pub fn new(bytes: &[u8]) -> Self {
        Self(Key::new(HMAC_SHA256, bytes))
    }

    /// The answer to a challenge.
    pub fn prove(&self, challenge: &[u8]) -> Vec<u8> {
        self.code(OF_CHALLENGE, challenge)
    }

    /// Whether an answer to a challenge is right, in a time that does not tell where it is wrong.
    pub fn is_proof(&self, challenge: &[u8], proof: &[u8]) -> bool {
        let text = [&[OF_CHALLENGE], challenge].concat();
        hmac::verify(&self.0, &text, proof).is_ok()
    }

    /// The opening of the connection at a place of an experiment.
    pub fn opening(&self, nonce: &[u8], place: u8) -> [u8; OPENING_BYTES] {
        let code = self.code(OF_CONNECTION, &[nonce, &[place]].concat());
        let opening = [&MAGIC[..], &[place], &code].concat();
        opening.try_into().expect("codes are of one length")
    }

    /// The place of the connection that begins so; `None` where it has no authorisation.
    pub fn place(&self, nonce: &[u8], opening: &[u8; OPENING_BYTES]) -> Option<u8> {
        let (place, code) = opening.strip_prefix(&MAGIC)?.split_first()?;
        let text = [&[OF_CONNECTION], nonce, &[*place]].concat();
        hmac::verify(&self.0, &text, code).is_ok().then_some(*place)
    }

    fn code(&self, purpose: u8, text: &[u8]) -> Vec<u8> {
        let text = [&[purpose], text].concat();
        hmac::sign(&self.0, &text).as_ref().to_vec()
    }
}

/// Random bytes that cannot be guessed.
///
/// # Panics
/// Where the system has none.
pub fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    SystemRandom::new()
        .fill(&mut bytes)
        .expect("the system has random bytes");
    bytes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_opening_is_good_for_its_place_nonce_and_secret_only() {
        let (one, other) = (Secret::new(&[1; 32]), Secret::new(&[2; 32]));
        let opening = one.opening(b"nonce", 3);
        assert_eq!(one.place(b"nonce", &opening), Some(3));
        assert_eq!(one.place(b"other", &opening), None);
        assert_eq!(other.place(b"nonce", &opening), None);
        let mut moved = opening;
        moved[4] = 2;
        assert_eq!(one.place(b"nonce", &moved), None);
    }

    #[test]
    fn a_proof_is_no_opening() {
        let secret = Secret::new(&[1; 32]);
        let proof = secret.prove(b"nonce\x03");
        assert!(secret.is_proof(b"nonce\x03", &proof));
        assert_ne!(secret.opening(b"nonce", 3)[5..], proof);
    }

    proptest! {
        #[test]
        fn no_other_bytes_open_a_connection(bytes in any::<[u8; 32]>(), place: u8) {
            let opening = [&b"MPm1"[..], &[place], &bytes].concat().try_into().unwrap();
            prop_assert_eq!(Secret::new(b"secret").place(b"nonce", &opening), None);
        }
    }
}
