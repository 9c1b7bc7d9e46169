//! Options of the peer, and those of the host as the peer reads them.

use std::net::IpAddr;

use mptcplab_wire::Segment;
use mptcplab_wire::keys::{address_hmac, join_hmac, join_hmac_in_ack, join_hmac_in_syn_ack};
use mptcplab_wire::option::{AddAddress, DataNumber, Dss, Join, Mapping, MptcpOption};

use super::{Bench, Flow, PEER_KEY, PEER_NONCE, payload};

/// Data sequence number, subflow sequence number, bytes, DATA_FIN.
pub type SentMapping = (u64, u32, u16, bool);

impl Bench {
    /// A DSS of the peer: acknowledgement of data and mapping, counted from 1 as in the scripts.
    pub fn dss(
        &self,
        acknowledged: u64,
        mapping: Option<(u64, u32, u16)>,
        fin: bool,
    ) -> MptcpOption {
        let acknowledgement = self.key.initial_data_sequence().wrapping_add(acknowledged);
        MptcpOption::Dss(Dss {
            data_fin: fin,
            acknowledgement: Some(DataNumber::Long(acknowledgement)),
            mapping: mapping.map(|(data, subflow_sequence, bytes)| Mapping {
                data_sequence: DataNumber::Long(
                    PEER_KEY.initial_data_sequence().wrapping_add(data),
                ),
                subflow_sequence,
                bytes,
                checksum: None,
            }),
        })
    }

    /// Data of the peer with its mapping.
    pub fn data(
        &self,
        flow: &Flow,
        sequence: u32,
        ack: u32,
        dack: u64,
        data: u64,
        bytes: usize,
    ) -> Segment {
        let option = self.dss(dack, Some((data, sequence, bytes as u16)), false);
        let mut segment = flow.with(".", sequence, ack, option);
        segment.payload = payload(bytes);
        segment
    }

    /// The DSS of a segment of the host: data acknowledged, and the mapping (data, subflow, bytes,
    /// fin), counted from 1.
    pub fn read_dss(&self, segment: &Segment) -> (Option<u64>, Option<SentMapping>) {
        let dss = segment
            .options
            .mptcp
            .iter()
            .find_map(|option| match option {
                MptcpOption::Dss(dss) => Some(*dss),
                _ => None,
            });
        let Some(dss) = dss else {
            panic!("no DSS in {segment:?}");
        };
        // Acknowledgements have 4 bytes until data has come.
        let acknowledged = |number| match number {
            DataNumber::Long(number) => number.wrapping_sub(PEER_KEY.initial_data_sequence()),
            DataNumber::Short(number) => {
                let initial = PEER_KEY.initial_data_sequence() as u32;
                u64::from(number.wrapping_sub(initial))
            }
        };
        let data_sequence = |number| match number {
            DataNumber::Long(number) => number.wrapping_sub(self.key.initial_data_sequence()),
            DataNumber::Short(_) => panic!("a data sequence number of 4 bytes"),
        };
        (
            dss.acknowledgement.map(acknowledged),
            dss.mapping.map(|mapping| {
                (
                    data_sequence(mapping.data_sequence),
                    mapping.subflow_sequence,
                    mapping.bytes,
                    dss.data_fin,
                )
            }),
        )
    }

    /// Joins with a subflow of the peer; the fourth packet, the ACK, was taken.
    pub fn join(&mut self, index: u8, port: u16, address_id: u8, backup: bool) -> Flow {
        let mut flow = Flow::new(index, port, 80);
        self.inject(flow.syn(Some(MptcpOption::Join(Join::Syn {
            backup,
            address_id,
            token: self.key.token(),
            nonce: PEER_NONCE,
        }))));
        let answer = self.next();
        let [MptcpOption::Join(Join::SynAck { hmac, nonce, .. })] = answer.options.mptcp[..] else {
            panic!("no join in {answer:?}");
        };
        assert_eq!(
            hmac,
            join_hmac_in_syn_ack(&join_hmac(self.key, PEER_KEY, nonce, PEER_NONCE))
        );
        flow.host_initial = answer.sequence;
        let third = join_hmac_in_ack(&join_hmac(PEER_KEY, self.key, PEER_NONCE, nonce));
        self.inject(flow.with(".", 1, 1, MptcpOption::Join(Join::Ack { hmac: third })));
        let fourth = self.next();
        assert!(fourth.flags.ack && fourth.payload.is_empty());
        flow
    }

    /// ADD_ADDR of the peer.
    pub fn add_address(&self, address_id: u8, address: IpAddr) -> MptcpOption {
        MptcpOption::AddAddress(AddAddress {
            echo: false,
            address_id,
            address,
            port: None,
            hmac: Some(address_hmac(PEER_KEY, self.key, address_id, address, None)),
        })
    }
}
