//! MP_JOIN (RFC 8684, section 3.2).

use mptcplab_wire::option::Join;

use super::keys::{join_hmac, join_hmac_in_syn_ack};
use super::registry::{Registry, Seen};
use crate::Event;

impl Registry {
    /// Takes a MP_JOIN.
    pub(super) fn take_join(&mut self, seen: Seen, join: &Join, events: &mut Vec<Event>) {
        self.confirm(seen);
        let from = seen.from;
        let subflow = self.subflow(seen);
        match *join {
            Join::Syn {
                backup,
                address_id,
                nonce,
                ..
            } if subflow.join && subflow.nonces[from].is_none() => {
                subflow.nonces[from] = Some(nonce);
                subflow.address_ids[from] = Some(address_id);
                subflow.backup[from] = Some(backup);
            }
            Join::SynAck {
                backup,
                address_id,
                nonce,
                hmac,
            } if subflow.join && subflow.nonces[from].is_none() => {
                subflow.nonces[from] = Some(nonce);
                subflow.address_ids[from] = Some(address_id);
                subflow.backup[from] = Some(backup);
                self.check_join(
                    seen,
                    |expected| join_hmac_in_syn_ack(expected) == hmac,
                    events,
                );
            }
            Join::Ack { hmac } if subflow.hmac_valid[from].is_none() => {
                self.check_join(seen, |expected| *expected == hmac, events);
            }
            _ => {}
        }
    }

    /// Compares the HMAC that an end sent with the one that follows from keys and random numbers,
    /// where these are known.
    fn check_join(
        &mut self,
        seen: Seen,
        is_it: impl FnOnce(&[u8; 20]) -> bool,
        events: &mut Vec<Event>,
    ) {
        let (own, other) = (seen.from, seen.from.other());
        let nonces = self.subflow(seen).nonces;
        let connection = self.connection(seen);
        let (Some(own_key), Some(other_key), Some(own_nonce), Some(other_nonce)) = (
            connection.keys[own],
            connection.keys[other],
            nonces[own],
            nonces[other],
        ) else {
            return;
        };
        let version = connection.version.unwrap_or(1);
        let expected = join_hmac(version, own_key, other_key, own_nonce, other_nonce);
        let is_right = is_it(&expected);
        self.subflow(seen).hmac_valid[own] = Some(is_right);
        if !is_right {
            let text =
                "the HMAC of MP_JOIN does not follow from keys and random numbers".to_owned();
            self.report(seen, "hmac_wrong", text, events);
        }
    }
}
