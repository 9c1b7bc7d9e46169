//! The server of the story: it does with its end of the connection what single bytes ask for.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

use mptcplab_subflow::{Manager, connection};
use mptcplab_testbed::{Hosts, ip};

/// Output that every interface gives of the story.
pub(crate) const TOLD: &str = include_str!("told.txt");

/// An address of link 2 that no host has, so that no answer comes.
const NOBODY: &str = "10.0.2.77";

/// Two hosts with three links, and the port at which the server waits for the story's client.
pub(crate) fn stage() -> (Hosts, u16) {
    let hosts = Hosts::new(3);
    let neighbour = format!("neigh add {NOBODY} lladdr 02:00:00:00:00:77 dev eth2");
    ip(&hosts.client, &neighbour);
    let (listener, port) = hosts.listen(false);
    let manager = hosts.server.run(Manager::direct).unwrap().unwrap();
    let offered = SocketAddr::new(hosts.server_address(2, false), 0);
    let disliked = hosts.client_address(2, false);
    thread::spawn(move || serve(&listener, manager, offered, disliked));
    (hosts, port)
}

fn serve(
    listener: &TcpListener,
    mut manager: Manager,
    offered: SocketAddr,
    disliked: std::net::IpAddr,
) {
    let (mut client, _) = listener.accept().unwrap();
    let mut announced = None;
    let mut asked = [0];
    while client.read(&mut asked).unwrap() == 1 {
        match asked[0] {
            b'a' => announced = Some(manager.announce(&client, offered).unwrap()),
            b'w' => manager.withdraw(&client, announced.unwrap()).unwrap(),
            b'p' => {
                let subflow = from(&client, disliked);
                manager.set_backup(&client, subflow, true).unwrap();
            }
            b'q' => return,
            _ => client.write_all(&asked).unwrap(),
        }
    }
}

/// The subflow from an address of the client.
fn from(socket: &TcpStream, address: std::net::IpAddr) -> u32 {
    let subflows = connection(socket).unwrap().subflows;
    let mut subflows = subflows.iter();
    subflows.find(|one| one.remote.ip() == address).unwrap().id
}
