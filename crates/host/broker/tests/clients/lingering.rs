//! Sockets that take long to close.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use mptcplab_testbed::Hosts;
use socket2::SockRef;

/// A TCP connection of the client's to itself, and its listener.
pub(crate) fn loopback(hosts: &Hosts) -> (TcpStream, TcpListener) {
    let connect = || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        // As little memory as the kernel allows.
        SockRef::from(&listener).set_recv_buffer_size(1).unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (stream, listener)
    };
    hosts.client.run(connect).unwrap()
}

/// A TCP socket with unsent data, to close which takes an hour; and its listener.
pub(crate) fn lingering(hosts: &Hosts) -> (TcpStream, TcpListener) {
    let (mut stream, listener) = loopback(hosts);
    let hour = Some(Duration::from_secs(3600));
    let socket = SockRef::from(&stream);
    socket.set_linger(hour).unwrap();
    socket.set_send_buffer_size(1).unwrap();
    stream.set_nonblocking(true).unwrap();
    while stream.write(&[0; 65_536]).is_ok() {}
    stream.set_nonblocking(false).unwrap();
    (stream, listener)
}
