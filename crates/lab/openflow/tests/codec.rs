//! The codec for every message, for bytes that are none, and for streams in pieces.

mod strategies;

use mptcplab_openflow::error::BadRequest;
use mptcplab_openflow::{Framer, HEADER_BYTES, Message, VERSION};
use proptest::collection::vec;
use proptest::prelude::*;
use strategies::message;

fn bytes(message: &Message) -> Vec<u8> {
    let mut bytes = Vec::new();
    message.encode(&mut bytes).expect("it is short enough");
    bytes
}

/// Takes all messages that are whole.
fn drain(framer: &mut Framer, into: &mut Vec<Message>) {
    while let Some(frame) = framer.next_frame().expect("lengths are right") {
        into.push(frame.message.expect("it is a message"));
    }
}

proptest! {
    #[test]
    fn a_message_comes_out_of_its_bytes_as_it_went_in(message in message()) {
        prop_assert_eq!(Message::decode(&bytes(&message)), Ok(message));
    }

    #[test]
    fn a_stream_in_any_pieces_gives_its_messages(
        messages in vec(message(), 1..5),
        cuts in vec(0..2000_usize, 0..10),
    ) {
        let stream: Vec<u8> = messages.iter().flat_map(bytes).collect();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (stream.len() + 1)).collect();
        cuts.sort_unstable();
        let mut framer = Framer::new(u16::MAX);
        let mut read = Vec::new();
        let mut from = 0;
        for cut in cuts.into_iter().chain([stream.len()]) {
            framer.feed(&stream[from..cut]);
            from = cut;
            drain(&mut framer, &mut read);
        }
        prop_assert_eq!(read, messages);
    }

    /// Bytes that were changed or cut are read or refused, and what is read is written and read
    /// again the same.
    #[test]
    fn damage_is_refused_or_read_as_another_message(
        message in message(),
        changes in vec((any::<usize>(), any::<u8>()), 0..4),
        cut in prop::option::of(any::<usize>()),
    ) {
        let mut bytes = bytes(&message);
        for (place, byte) in changes {
            let place = place % bytes.len();
            bytes[place] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(HEADER_BYTES + cut % bytes.len());
        }
        let length = bytes.len() as u16;
        bytes[2..4].copy_from_slice(&length.to_be_bytes());
        check_any(&bytes)?;
    }

    #[test]
    fn any_body_of_any_type_is_refused_or_read(kind in 0..32_u8, body in vec(any::<u8>(), 0..200)) {
        let length = (HEADER_BYTES + body.len()) as u16;
        let mut bytes = vec![VERSION, kind];
        bytes.extend(length.to_be_bytes());
        bytes.extend([0, 0, 0, 7]);
        bytes.extend(body);
        check_any(&bytes)?;
    }

    #[test]
    fn any_stream_ends_in_waiting_or_in_an_error(
        pieces in vec(vec(any::<u8>(), 0..30), 0..10),
        limit in 8..100_u16,
    ) {
        let mut framer = Framer::new(limit);
        for piece in pieces {
            framer.feed(&piece);
            while let Ok(Some(frame)) = framer.next_frame() {
                prop_assert!((HEADER_BYTES..=usize::from(limit)).contains(&frame.bytes.len()));
            }
        }
    }
}

fn check_any(bytes: &[u8]) -> Result<(), TestCaseError> {
    match Message::decode(bytes) {
        Ok(read) => {
            let mut again = Vec::new();
            // Numbers of bytes without meaning may be written as more.
            if read.encode(&mut again).is_ok() {
                prop_assert_eq!(Message::decode(&again), Ok(read));
            }
        }
        Err(error) => {
            let answer = error.answer(bytes);
            prop_assert_eq!(answer.xid, error.xid);
            prop_assert!(answer.encode(&mut Vec::new()).is_ok());
        }
    }
    Ok(())
}

#[test]
fn a_length_beyond_the_limit_breaks_the_stream_for_good() {
    let mut framer = Framer::new(16);
    framer.feed(&[VERSION, 2, 0, 17, 0, 0, 0, 9]);
    let error = framer.next_frame().expect_err("it is too long");
    assert_eq!((error.xid, error.kind), (9, BadRequest::BadLen.into()));
    framer.feed(&[VERSION, 2, 0, 8, 0, 0, 0, 9]);
    assert_eq!(framer.next_frame(), Err(error));
}

#[test]
fn a_length_below_the_header_breaks_the_stream() {
    let mut framer = Framer::new(u16::MAX);
    framer.feed(&[VERSION, 2, 0, 7, 0, 0, 0, 9]);
    assert!(framer.next_frame().is_err());
}

#[test]
fn a_stream_goes_on_after_a_message_that_is_refused() {
    let mut framer = Framer::new(u16::MAX);
    framer.feed(&[VERSION, 99, 0, 8, 0, 0, 0, 1, VERSION, 20, 0, 8, 0, 0, 0, 2]);
    let refused = framer.next_frame().unwrap().unwrap().message.unwrap_err();
    assert_eq!((refused.xid, refused.kind), (1, BadRequest::BadType.into()));
    assert_eq!(
        framer.next_frame().unwrap().unwrap().message.unwrap().xid,
        2
    );
}
