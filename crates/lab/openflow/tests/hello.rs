//! Versions that hellos agree on.

use mptcplab_openflow::error::{BadRequest, ErrorMessage, HelloFailed};
use mptcplab_openflow::{Body, Hello, Message, answer};

fn hello(version: u8, bitmap: Option<&[u32]>) -> Hello {
    Hello {
        version,
        bitmap: bitmap.map(<[u32]>::to_vec),
    }
}

#[test]
fn the_bitmap_decides_where_there_is_one() {
    assert!(hello(1, Some(&[0b1_0010])).agrees());
    assert!(!hello(6, Some(&[0b110_0010])).agrees());
    assert!(!hello(4, Some(&[])).agrees());
}

#[test]
fn without_a_bitmap_the_lower_version_is_taken() {
    assert!(hello(4, None).agrees());
    assert!(hello(6, None).agrees());
    assert!(!hello(1, None).agrees());
    assert!(Hello::ours().agrees());
}

#[test]
fn a_hello_of_any_version_is_read_and_unknown_elements_are_ignored() {
    let bytes = [
        6, 0, 0, 24, 0, 0, 0, 1, 0, 9, 0, 5, 7, 0, 0, 0, 0, 1, 0, 8, 0, 0, 0, 0x12,
    ];
    let message = Message::decode(&bytes).unwrap();
    assert_eq!(message.body, Body::Hello(hello(6, Some(&[0x12]))));
}

#[test]
fn another_message_of_another_version_is_refused() {
    let error = Message::decode(&[1, 2, 0, 8, 0, 0, 0, 3]).unwrap_err();
    assert_eq!((error.xid, error.kind), (3, BadRequest::BadVersion.into()));
}

#[test]
fn an_answer_has_the_first_64_bytes_of_the_request() {
    let request: Vec<u8> = (0..100).collect();
    let message = answer(5, HelloFailed::Incompatible, &request);
    let expected = ErrorMessage {
        kind: HelloFailed::Incompatible.into(),
        data: request[..64].to_vec(),
    };
    assert_eq!(message, Message::new(5, Body::Error(expected)));
    let short = answer(5, HelloFailed::Eperm, &request[..9]);
    assert!(matches!(short.body, Body::Error(error) if error.data == request[..9]));
}
