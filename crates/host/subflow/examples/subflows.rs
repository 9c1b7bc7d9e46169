//! Fetches a file over two subflows: `subflows ADDRESS PORT OWN PEERS`.

use std::env::args;
use std::error::Error;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use mptcplab_subflow::{Manager, Open, subflow_ids, subflow_info, subflow_tuple};
use socket2::{Domain, Protocol, Socket, Type};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = args().collect();
    let [_, address, port, own, peers] = &arguments[..] else {
        return Err("subflows ADDRESS PORT OWN PEERS".into());
    };
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::MPTCP))?;
    socket.connect(&SocketAddr::new(address.parse()?, port.parse()?).into())?;
    let mut socket = TcpStream::from(socket);
    socket.write_all(b"GET /file HTTP/1.0\r\n\r\n")?;

    let mut manager = Manager::open()?;
    let events = manager.events(&socket)?;
    let open = Open {
        remote: Some(SocketAddr::new(peers.parse()?, 0)),
        ..Open::from(SocketAddr::new(own.parse()?, 0))
    };
    let second = manager.open_subflow(&socket, &open)?;
    for event in events {
        let event = event?;
        if event.subflow == Some(second) {
            println!("event: {:?}", event.kind);
            break;
        }
    }
    for id in subflow_ids(&socket)? {
        let tuple = subflow_tuple(&socket, id)?;
        println!(
            "subflow {id}: {} to {}",
            tuple.local.ip(),
            tuple.remote.ip()
        );
    }
    socket.read_to_end(&mut Vec::new())?;
    let info = subflow_info(&socket, second)?;
    println!("its window: {} segments", info.cwnd.unwrap_or(0));
    manager.set_backup(&socket, second, true)?;
    manager.close_subflow(&socket, second)?;
    println!("left: {}", subflow_ids(&socket)?.len());
    Ok(())
}
