//! The story that every face of the crate tells in the same words.

#[path = "story/peer.rs"]
mod peer;
#[path = "story/teller.rs"]
mod teller;

use std::net::SocketAddr;

use mptcplab_subflow::Manager;
use mptcplab_testbed::inside;

#[test]
fn the_crate_tells_the_story() {
    if !inside("the_crate_tells_the_story") {
        return;
    }
    let (hosts, port) = peer::stage();
    let target = SocketAddr::new(hosts.server_address(1, false), port);
    let tell = || teller::tell(hosts.dial(target), Manager::direct().unwrap());
    let told = hosts.client.run(tell).unwrap();
    assert_eq!(told, peer::TOLD, "\n{told}");
}
