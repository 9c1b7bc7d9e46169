//! The programs' maps of connections, seen from inside: registered under a name of the test's own,
//! so that no other connections are among them.

use std::ffi::{c_int, c_void};
use std::os::fd::AsRawFd;

use libloading::os::unix::Library;
use socket2::Protocol;

use super::*;
use world::{alone, carry, connection, ip, join, loaded, wait};

#[path = "../../tests/world/mod.rs"]
mod world;

/// The programs of `control`, registered under another name.
fn register_as(control: Control, name: &str) -> Option<(Loaded, Option<OwnedFd>)> {
    // The bytes of the structure around the name: the flag before it, and zeros after it.
    let pattern = |name: &str| {
        let mut bytes = [0_u8; 20];
        bytes[0] = 1;
        bytes[4..4 + name.len()].copy_from_slice(name.as_bytes());
        bytes
    };
    let (from, to) = (pattern(control.name()), pattern(name));
    let mut object = control.object().to_vec();
    if let Some(place) = object.windows(from.len()).position(|part| part == from) {
        object[place..place + to.len()].copy_from_slice(&to);
    }
    let flags = Some((control.map(), BPF_F_LINK));
    let object = loaded(Loaded::load(&object, name, flags))?;
    let link = object.register(control.map(), true).unwrap();
    Some((object, link))
}

/// How many connections the programs know.
fn connections(object: &Loaded) -> usize {
    type NextKey = unsafe extern "C" fn(c_int, *const c_void, *mut c_void) -> c_int;
    let map = object.map_descriptor(c"connections").unwrap().as_raw_fd();
    let (mut key, mut count) = (0_u64, 0);
    // SAFETY: libbpf declares the function so; keys are 8 bytes.
    unsafe {
        let library = Library::new("libbpf.so.1").unwrap();
        let next = library.get::<NextKey>(b"bpf_map_get_next_key\0").unwrap();
        let mut before = std::ptr::null();
        while next(map, before, (&raw mut key).cast()) == 0 {
            before = (&raw const key).cast();
            count += 1;
        }
    }
    count
}

#[test]
fn a_connection_is_known_as_long_as_it_has_subflows() {
    for control in Control::ALL {
        let name = format!("{}.{}", &control.name()[..1], std::process::id());
        alone(move || {
            let Some((object, _link)) = register_as(control, &name) else {
                return;
            };
            assert_eq!(connections(&object), 0);
            let (client, server, _listener) = connection(Protocol::TCP, &name);
            carry(&client, &server, 100_000);
            assert_eq!(connections(&object), 0, "plain TCP is not coupled");
            drop((client, server));

            // Both ends, and a second connection.
            let (client, server, _listener) = connection(Protocol::MPTCP, &name);
            join(&client, &server);
            carry(&client, &server, 100_000);
            assert_eq!(connections(&object), 2);
            let other = connection(Protocol::MPTCP, &name);
            assert_eq!(connections(&object), 4);

            // The subflow that is left keeps its connection.
            ip("mptcp endpoint flush");
            carry(&client, &server, 100_000);
            assert_eq!(connections(&object), 4);
            drop(other);
            wait(|| connections(&object) == 2);
            drop((client, server));
            wait(|| connections(&object) == 0);
        });
    }
}
