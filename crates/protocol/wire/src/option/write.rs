//! Options of MPTCP written as bytes.

use core::net::IpAddr;

use super::{AddAddress, Capable, DataNumber, Dss, Join, KIND, MptcpOption, bits, subtype};
use crate::buffer::{Header, put};

/// Appends `option`, which takes `bytes`, without padding.
pub(crate) fn write(option: &MptcpOption, bytes: usize, header: &mut Header) {
    put(header, &[KIND, bytes as u8]);
    match option {
        MptcpOption::Capable(capable) => write_capable(capable, header),
        MptcpOption::Join(join) => write_join(join, header),
        MptcpOption::Dss(dss) => write_dss(dss, header),
        MptcpOption::AddAddress(add) => write_add_address(add, header),
        MptcpOption::RemoveAddress(ids) => {
            put(header, &[subtype::REMOVE_ADDRESS << 4]);
            put(header, ids.as_slice());
        }
        MptcpOption::Priority { backup, address_id } => {
            put(
                header,
                &[first(subtype::PRIORITY, &[(*backup, bits::BACKUP)])],
            );
            if let Some(id) = address_id {
                put(header, &[*id]);
            }
        }
        MptcpOption::Fail { data_sequence } => {
            put(header, &[subtype::FAIL << 4, 0]);
            put(header, &data_sequence.to_be_bytes());
        }
        MptcpOption::FastClose { receiver_key } => {
            put(header, &[subtype::FAST_CLOSE << 4, 0]);
            put(header, &receiver_key.to_be_bytes());
        }
        MptcpOption::Reset(reset) => {
            let first = first(subtype::RESET, &[(reset.transient, bits::TRANSIENT)]);
            put(header, &[first, reset.reason]);
        }
    }
}

fn write_capable(capable: &Capable, header: &mut Header) {
    let flags = flags(&[
        (capable.checksum, bits::CHECKSUM),
        (capable.extension, bits::EXTENSION),
        (capable.no_initial_address, bits::NO_INITIAL_ADDRESS),
        (capable.hmac, bits::HMAC),
    ]);
    put(
        header,
        &[subtype::CAPABLE << 4 | capable.version & 0x0f, flags],
    );
    for key in [capable.sender_key, capable.receiver_key]
        .into_iter()
        .flatten()
    {
        put(header, &key.to_be_bytes());
    }
    for field in [capable.data_bytes, capable.data_checksum]
        .into_iter()
        .flatten()
    {
        put(header, &field.to_be_bytes());
    }
}

fn write_join(join: &Join, header: &mut Header) {
    match *join {
        Join::Syn {
            backup,
            address_id,
            token,
            nonce,
        } => {
            put(
                header,
                &[first(subtype::JOIN, &[(backup, bits::BACKUP)]), address_id],
            );
            put(header, &token.to_be_bytes());
            put(header, &nonce.to_be_bytes());
        }
        Join::SynAck {
            backup,
            address_id,
            hmac,
            nonce,
        } => {
            put(
                header,
                &[first(subtype::JOIN, &[(backup, bits::BACKUP)]), address_id],
            );
            put(header, &hmac.to_be_bytes());
            put(header, &nonce.to_be_bytes());
        }
        Join::Ack { hmac } => {
            put(header, &[subtype::JOIN << 4, 0]);
            put(header, &hmac);
        }
    }
}

fn write_dss(dss: &Dss, header: &mut Header) {
    put(header, &dss_begin(dss));
    if let Some(number) = dss.acknowledgement {
        put_number(header, number);
    }
    if let Some(mapping) = &dss.mapping {
        put_number(header, mapping.data_sequence);
        put(header, &mapping.subflow_sequence.to_be_bytes());
        put(header, &mapping.bytes.to_be_bytes());
        if let Some(checksum) = mapping.checksum {
            put(header, &checksum.to_be_bytes());
        }
    }
}

/// Subtype and flags of a DSS.
#[inline]
pub(crate) fn dss_begin(dss: &Dss) -> [u8; 2] {
    let long = |number: DataNumber| matches!(number, DataNumber::Long(_));
    let sequence = dss.mapping.map(|mapping| mapping.data_sequence);
    let flags = flags(&[
        (dss.data_fin, bits::DATA_FIN),
        (sequence.is_some_and(long), bits::LONG_DATA_SEQUENCE),
        (sequence.is_some(), bits::MAPPING),
        (dss.acknowledgement.is_some_and(long), bits::LONG_DATA_ACK),
        (dss.acknowledgement.is_some(), bits::DATA_ACK),
    ]);
    [subtype::DSS << 4, flags]
}

fn write_add_address(add: &AddAddress, header: &mut Header) {
    let low = match (add.echo, add.hmac, add.address) {
        (true, ..) => bits::ECHO,
        (false, Some(_), _) => 0,
        (false, None, IpAddr::V4(_)) => 4,
        (false, None, IpAddr::V6(_)) => 6,
    };
    put(header, &[subtype::ADD_ADDRESS << 4 | low, add.address_id]);
    match add.address {
        IpAddr::V4(address) => put(header, &address.octets()),
        IpAddr::V6(address) => put(header, &address.octets()),
    }
    if let Some(port) = add.port {
        put(header, &port.to_be_bytes());
    }
    if let Some(hmac) = add.hmac {
        put(header, &hmac.to_be_bytes());
    }
}

fn put_number(header: &mut Header, number: DataNumber) {
    match number {
        DataNumber::Long(number) => put(header, &number.to_be_bytes()),
        DataNumber::Short(number) => put(header, &number.to_be_bytes()),
    }
}

/// First byte after the length: the subtype and the flags that are set.
fn first(subtype: u8, set: &[(bool, u8)]) -> u8 {
    subtype << 4 | flags(set)
}

#[inline]
fn flags(set: &[(bool, u8)]) -> u8 {
    set.iter()
        .map(|&(is_set, bit)| if is_set { bit } else { 0 })
        .sum()
}
