//! Congestion controls in the kernel of this machine.

mod world;

use mptcplab_bpf::{Control, State};
use socket2::Protocol;
use world::{alone, carry, connection, join, loaded, socket, subflows};

#[test]
fn sockets_of_tcp_and_mptcp_use_it_in_any_namespace() {
    for control in Control::ALL {
        alone(move || {
            let Some(_registration) = loaded(control.hold()) else {
                return;
            };
            let (client, server, _listener) = connection(Protocol::TCP, control.name());
            carry(&client, &server, 4_000_000);
            assert_eq!(subflows()[0].control, control.name());
            drop((client, server));

            let (client, server, _listener) = connection(Protocol::MPTCP, control.name());
            join(&client, &server);
            carry(&client, &server, 4_000_000);
            carry(&server, &client, 4_000_000);
            for subflow in subflows() {
                assert_eq!(subflow.control, control.name(), "{subflow:?}");
            }
        });
    }
}

#[test]
fn it_is_shared_and_goes_with_the_last_that_holds_it() {
    // Not one that other tests hold.
    let control = Control::Lia;
    let Some(first) = loaded(control.hold()) else {
        return;
    };
    let second = control.hold().unwrap();
    assert_ne!(control.state().unwrap(), State::Absent);
    drop(first);
    socket(Protocol::TCP, control.name());
    drop(second);
}
