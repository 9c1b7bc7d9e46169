//! Messages between programs and the broker from any bytes: refused, or read the same from what they
//! are written as.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mptcplab_subflow::protocol::{Message, Request};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(request) = Request::parse(bytes) {
        assert_eq!(Request::parse(&request.to_bytes()), Ok(request));
    }
    if let Ok(message) = Message::parse(bytes) {
        assert_eq!(Message::parse(&message.to_bytes()), Ok(message));
    }
});
