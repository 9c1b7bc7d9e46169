//! IP packets that are made from others.

/// The fragments of an IPv4 packet without options, cut at these places of its content.
pub fn fragments_v4(packet: &[u8], identification: u16, cuts: &[usize]) -> Vec<Vec<u8>> {
    let (header, content) = packet.split_at(20);
    let fragment = |from: usize, to: usize| {
        let mut fragment = header.to_vec();
        let more = if to < content.len() { 0x2000 } else { 0 };
        fragment[2..4].copy_from_slice(&((20 + to - from) as u16).to_be_bytes());
        fragment[4..6].copy_from_slice(&identification.to_be_bytes());
        fragment[6..8].copy_from_slice(&(more | (from / 8) as u16).to_be_bytes());
        fragment.extend_from_slice(&content[from..to]);
        set_v4_checksum(&mut fragment);
        fragment
    };
    pieces(content.len(), cuts, fragment)
}

/// The fragments of an IPv6 packet without extension headers, cut at these places of its content.
pub fn fragments_v6(packet: &[u8], identification: u32, cuts: &[usize]) -> Vec<Vec<u8>> {
    let (header, content) = packet.split_at(40);
    let fragment = |from: usize, to: usize| {
        let more = u16::from(to < content.len());
        let place = (from as u16 | more).to_be_bytes();
        let mut extension = vec![header[6], 0, place[0], place[1]];
        extension.extend_from_slice(&identification.to_be_bytes());
        with_extension(header, 44, &extension, &content[from..to])
    };
    pieces(content.len(), cuts, fragment)
}

fn pieces(bytes: usize, cuts: &[usize], piece: impl Fn(usize, usize) -> Vec<u8>) -> Vec<Vec<u8>> {
    let ends = cuts.iter().copied().chain([bytes]);
    let mut from = 0;
    ends.map(|to| piece(std::mem::replace(&mut from, to), to))
        .collect()
}

/// An IPv6 packet with an extension header of type `kind` before its content. The first byte of
/// `extension` should be what the content is.
pub fn extended_v6(packet: &[u8], kind: u8, extension: &[u8]) -> Vec<u8> {
    let (header, content) = packet.split_at(40);
    let mut extension = extension.to_vec();
    extension[0] = header[6];
    with_extension(header, kind, &extension, content)
}

fn with_extension(header: &[u8], kind: u8, extension: &[u8], content: &[u8]) -> Vec<u8> {
    let mut packet = [header, extension, content].concat();
    let bytes = (extension.len() + content.len()) as u16;
    packet[4..6].copy_from_slice(&bytes.to_be_bytes());
    packet[6] = kind;
    packet
}

/// An IPv4 packet with options, whose bytes are a multiple of 4.
pub fn with_options_v4(packet: &[u8], options: &[u8]) -> Vec<u8> {
    let (header, content) = packet.split_at(20);
    let mut packet = [header, options, content].concat();
    packet[0] = 0x40 | (5 + options.len() / 4) as u8;
    let bytes = packet.len() as u16;
    packet[2..4].copy_from_slice(&bytes.to_be_bytes());
    set_v4_checksum(&mut packet);
    packet
}

fn set_v4_checksum(packet: &mut [u8]) {
    let header_bytes = usize::from(packet[0] & 15) * 4;
    packet[10..12].fill(0);
    let sum = mptcplab_wire::checksum::internet(&packet[..header_bytes]);
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
}
