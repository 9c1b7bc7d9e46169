//! Options of MPTCP as text, field by field.

use std::fmt::{self, Write};

use mptcplab_wire::option::{AddAddress, Capable, DataNumber, Dss, Join, MptcpOption, Reset};

/// Formats the option with every field: `MP_PRIO backup=1`. Numbers without `0x` are decimal;
/// absent fields are left out.
pub fn format_option(option: &MptcpOption) -> String {
    let mut text = String::new();
    append_option(option, &mut text);
    text
}

/// Appends all options of a segment in their order to `text`, joined by `"; "`.
pub fn format_options(options: &[MptcpOption], text: &mut String) {
    for (index, option) in options.iter().enumerate() {
        if index > 0 {
            text.push_str("; ");
        }
        append_option(option, text);
    }
}

/// Appends the option to `text`.
fn append_option(option: &MptcpOption, text: &mut String) {
    write_option(option, text).expect("a String takes what is written to it");
}

/// Returns the meaning of MP_TCPRST's reason (RFC 8684, section 3.6).
pub(super) fn reason_text(reason: u8) -> &'static str {
    match reason {
        0 => "unspecified error",
        1 => "MPTCP-specific error",
        2 => "lack of resources",
        3 => "administratively prohibited",
        4 => "too much outstanding data",
        5 => "unacceptable performance",
        6 => "middlebox interference",
        _ => "unassigned reason",
    }
}

fn write_option(option: &MptcpOption, text: &mut String) -> fmt::Result {
    match option {
        MptcpOption::Capable(capable) => write_capable(capable, text),
        MptcpOption::Join(join) => write_join(join, text),
        MptcpOption::Dss(dss) => write_dss(dss, text),
        MptcpOption::AddAddress(add) => write_add_address(add, text),
        MptcpOption::RemoveAddress(ids) => {
            text.push_str("REMOVE_ADDR ids=");
            for (index, id) in ids.as_slice().iter().enumerate() {
                let comma = if index > 0 { "," } else { "" };
                write!(text, "{comma}{id}")?;
            }
            Ok(())
        }
        MptcpOption::Priority { backup, address_id } => {
            write!(text, "MP_PRIO backup={}", u8::from(*backup))?;
            match address_id {
                Some(id) => write!(text, " id={id}"),
                None => Ok(()),
            }
        }
        MptcpOption::Fail { data_sequence } => write!(text, "MP_FAIL dsn={data_sequence}"),
        MptcpOption::FastClose { receiver_key } => {
            write!(text, "MP_FASTCLOSE key={receiver_key:#018x}")
        }
        MptcpOption::Reset(Reset { transient, reason }) => {
            let transient = u8::from(*transient);
            write!(text, "MP_TCPRST transient={transient} reason={reason}")
        }
    }
}

fn write_capable(capable: &Capable, text: &mut String) -> fmt::Result {
    write!(text, "MP_CAPABLE v{}", capable.version)?;
    let flags = [
        (capable.checksum, 'A'),
        (capable.extension, 'B'),
        (capable.no_initial_address, 'C'),
        (capable.hmac, 'H'),
    ];
    let mut before = " flags=";
    for (_, letter) in flags.iter().filter(|(set, _)| *set) {
        text.push_str(before);
        text.push(*letter);
        before = "";
    }
    if let Some(key) = capable.sender_key {
        write!(text, " key={key:#018x}")?;
    }
    if let Some(key) = capable.receiver_key {
        write!(text, " peer_key={key:#018x}")?;
    }
    if let Some(bytes) = capable.data_bytes {
        write!(text, " data_bytes={bytes}")?;
    }
    write_checksum(capable.data_checksum, text)
}

fn write_join(join: &Join, text: &mut String) -> fmt::Result {
    text.push_str("MP_JOIN");
    match join {
        Join::Syn {
            backup,
            address_id,
            token,
            nonce,
        } => {
            write!(text, " backup={} id={address_id}", u8::from(*backup))?;
            write!(text, " token={token:#010x} nonce={nonce:#010x}")
        }
        Join::SynAck {
            backup,
            address_id,
            hmac,
            nonce,
        } => {
            write!(text, " backup={} id={address_id}", u8::from(*backup))?;
            write!(text, " hmac={hmac:#018x} nonce={nonce:#010x}")
        }
        Join::Ack { hmac } => {
            text.push_str(" hmac=0x");
            hmac.iter().try_for_each(|byte| write!(text, "{byte:02x}"))
        }
    }
}

fn write_dss(dss: &Dss, text: &mut String) -> fmt::Result {
    text.push_str("DSS");
    if dss.data_fin {
        text.push_str(" fin");
    }
    if let Some(number) = dss.acknowledgement {
        let (number, bytes) = number_and_bytes(number);
        write!(text, " ack={number} ack_bytes={bytes}")?;
    }
    let Some(mapping) = dss.mapping else {
        return Ok(());
    };
    let (number, bytes) = number_and_bytes(mapping.data_sequence);
    write!(text, " dsn={number} dsn_bytes={bytes}")?;
    write!(
        text,
        " ssn={} len={}",
        mapping.subflow_sequence, mapping.bytes
    )?;
    write_checksum(mapping.checksum, text)
}

fn write_add_address(add: &AddAddress, text: &mut String) -> fmt::Result {
    text.push_str("ADD_ADDR");
    if add.echo {
        text.push_str(" echo");
    }
    write!(text, " id={} address={}", add.address_id, add.address)?;
    if let Some(port) = add.port {
        write!(text, " port={port}")?;
    }
    match add.hmac {
        Some(hmac) => write!(text, " hmac={hmac:#018x}"),
        None => Ok(()),
    }
}

fn write_checksum(checksum: Option<u16>, text: &mut String) -> fmt::Result {
    match checksum {
        Some(checksum) => write!(text, " checksum={checksum:#06x}"),
        None => Ok(()),
    }
}

fn number_and_bytes(number: DataNumber) -> (u64, u8) {
    match number {
        DataNumber::Long(number) => (number, 8),
        DataNumber::Short(number) => (u64::from(number), 4),
    }
}

#[cfg(test)]
mod tests;
