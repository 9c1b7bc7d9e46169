//! Options of pcapng blocks, brought into the byte order of the files that are written.

use super::order::Order;

/// Most bytes of the options that are kept of an interface.
const MAX_INTERFACE_BYTES: usize = 4096;

/// How the value of an option is stored.
#[derive(Clone, Copy)]
enum Value {
    /// In the same way in either byte order: text, addresses.
    Bytes,
    /// Numbers of four bytes.
    U32,
    /// Numbers of eight bytes.
    U64,
}

/// Returns how an option of an interface is stored, where it is one that also describes the
/// interface in another file: the clock's are not, since the times are written anew.
fn of_interface(code: u16) -> Option<Value> {
    match code {
        1..=7 | 11 | 12 | 15 => Some(Value::Bytes),
        8 | 16 | 17 => Some(Value::U64),
        _ => None,
    }
}

/// The same for an option of a packet: comment, flags, hash, drop count, packet id, queue, verdict.
fn of_packet(code: u16) -> Option<Value> {
    match code {
        1 | 3 | 7 => Some(Value::Bytes),
        2 | 6 => Some(Value::U32),
        4 | 5 => Some(Value::U64),
        _ => None,
    }
}

/// Returns the known options of an interface, little-endian, without the option that ends them.
pub(super) fn interface(order: Order, options: &[u8]) -> Vec<u8> {
    known(order, options, of_interface, MAX_INTERFACE_BYTES)
}

/// Returns the known options of a packet, likewise.
pub(super) fn packet(order: Order, options: &[u8]) -> Vec<u8> {
    known(order, options, of_packet, usize::MAX)
}

fn known(
    order: Order,
    mut options: &[u8],
    of: impl Fn(u16) -> Option<Value>,
    most: usize,
) -> Vec<u8> {
    let mut kept = Vec::new();
    while let Some((header, after)) = options.split_first_chunk::<4>() {
        let (code, bytes) = (order.u16(header, 0), order.u16(header, 2));
        let padded = usize::from(bytes).next_multiple_of(4);
        let Some(value) = after.get(..usize::from(bytes)) else {
            break;
        };
        if code == 0 {
            break;
        }
        if let Some(kind) = of(code)
            && kept.len() + 4 + padded <= most
        {
            kept.extend_from_slice(&code.to_le_bytes());
            kept.extend_from_slice(&bytes.to_le_bytes());
            kept.extend(turned(order, kind, value));
            kept.resize(kept.len().next_multiple_of(4), 0);
        }
        options = after.get(padded..).unwrap_or_default();
    }
    kept
}

/// Returns a value in little-endian order; one that is not as long as its kind says stays as it is.
fn turned(order: Order, kind: Value, value: &[u8]) -> Vec<u8> {
    let width = match kind {
        Value::Bytes => 1,
        Value::U32 => 4,
        Value::U64 => 8,
    };
    let mut value = value.to_vec();
    if order == Order::Big {
        value.chunks_exact_mut(width).for_each(<[u8]>::reverse);
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_turned_and_texts_are_not() {
        let big = [
            0, 1, 0, 2, b'h', b'i', 0, 0, 0, 2, 0, 4, 1, 2, 3, 4, 0, 0, 0, 0,
        ];
        let little = [1, 0, 2, 0, b'h', b'i', 0, 0, 2, 0, 4, 0, 4, 3, 2, 1];
        assert_eq!(packet(Order::Big, &big), little);
        assert_eq!(packet(Order::Little, &little), little);
    }

    #[test]
    fn clocks_and_unknown_options_are_left_out() {
        let name = [2, 0, 4, 0, b'w', b'i', b'f', b'i'];
        let clock = [9, 0, 1, 0, 6, 0, 0, 0];
        let own = [0x00, 0x80, 4, 0, 1, 2, 3, 4];
        let options = [clock, name, own].concat();
        assert_eq!(interface(Order::Little, &options), name);
    }

    #[test]
    fn an_option_beyond_the_end_ends_them() {
        let options = [1, 0, 2, 0, b'h', b'i', 0, 0, 1, 0, 200, 0, b'x'];
        assert_eq!(packet(Order::Little, &options), options[..8]);
        assert!(packet(Order::Little, &options[..3]).is_empty());
    }

    #[test]
    fn few_bytes_are_kept_of_an_interface() {
        let option = [&[1, 0, 0, 4][..], &[b'x'; 1024]].concat();
        let kept = interface(Order::Little, &option.repeat(100));
        assert_eq!(kept, option.repeat(3));
    }
}
