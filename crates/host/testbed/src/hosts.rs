//! A client and a server with several links.

use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::thread;

use mptcplab_linux::netns::NetNs;
use mptcplab_linux::userspace_pm::UserspacePm;
use socket2::{Domain, Protocol, Socket, Type};

/// A client and a server, joined by links 1 to `links`. On link *n* the client has the interface
/// `eth`*n* with 10.0.*n*.2 and fd00:*n*::2, the server 10.0.*n*.1 and fd00:*n*::1. Packets leave the
/// client by the interface that has their source, whichever of the server's addresses they go to.
pub struct Hosts {
    /// The client's namespace.
    pub client: NetNs,
    /// The server's.
    pub server: NetNs,
    links: u8,
}

impl Hosts {
    /// Makes both, with subflows opened by order only (`net.mptcp.path_manager=userspace`).
    ///
    /// # Panics
    /// Where the kernel refuses anything of it.
    pub fn new(links: u8) -> Self {
        let hosts = Self {
            client: NetNs::create().expect("a namespace"),
            server: NetNs::create().expect("a namespace"),
            links,
        };
        for netns in [&hosts.client, &hosts.server] {
            netns.run(prepare).expect("the namespace can be entered");
            ip(netns, "link set lo up");
        }
        (1..=links).for_each(|link| hosts.join(link));
        for from in 1..=links {
            for to in (1..=links).filter(|&to| to != from) {
                hosts.route(from, to, false);
                hosts.route(from, to, true);
            }
        }
        hosts
    }

    /// From the client's address on one link to the server's on another, over the first.
    fn route(&self, from: u8, to: u8, six: bool) {
        let family = if six { "-6" } else { "-4" };
        let (target, gateway) = (self.server_address(to, six), self.server_address(from, six));
        let (source, table) = (self.client_address(from, six), 100 + u32::from(from));
        ip(
            &self.client,
            &format!(
                "{family} route replace {target} via {gateway} dev eth{from} src {source} \
                 table {table}"
            ),
        );
    }

    fn join(&self, link: u8) {
        let peer = format!("peer{link}");
        let make = format!("link add eth{link} type veth peer name {peer}");
        ip(&self.client, &make);
        // The other end moves by a descriptor of its namespace, which has no name.
        self.client
            .run(|| move_interface(&peer, &self.server))
            .expect("the namespace can be entered");
        ip(&self.server, &format!("link set {peer} name eth{link}"));
        for (netns, host) in [(&self.client, 2), (&self.server, 1)] {
            ip(
                netns,
                &format!("addr add 10.0.{link}.{host}/24 dev eth{link}"),
            );
            ip(
                netns,
                &format!("addr add fd00:{link}::{host}/64 dev eth{link} nodad"),
            );
            ip(netns, &format!("link set eth{link} up"));
        }
        for (family, address) in [
            ("-4", self.client_address(link, false)),
            ("-6", self.client_address(link, true)),
        ] {
            ip(
                &self.client,
                &format!(
                    "{family} rule add from {address} lookup {}",
                    100 + u32::from(link)
                ),
            );
        }
    }

    /// Gives the client its IPv4 address on a link again, with the routes that went with it.
    ///
    /// # Panics
    /// Where the kernel refuses.
    pub fn restore_client_address(&self, link: u8) {
        ip(
            &self.client,
            &format!("addr add 10.0.{link}.2/24 dev eth{link}"),
        );
        (1..=self.links)
            .filter(|&to| to != link)
            .for_each(|to| self.route(link, to, false));
    }

    /// Lets nothing more through from the server on a link; nothing else tells of it.
    ///
    /// # Panics
    /// Where the kernel refuses.
    pub fn silence(&self, link: u8) {
        // Every packet is larger than what the bucket can hold.
        let words = format!("qdisc add dev eth{link} root tbf rate 8kbit burst 20 limit 20");
        self.server
            .run(|| run("tc", &words))
            .expect("the namespace can be entered");
    }

    /// How many links there are.
    pub fn links(&self) -> u8 {
        self.links
    }

    /// The client's address on a link, of IPv6 or IPv4.
    pub fn client_address(&self, link: u8, six: bool) -> IpAddr {
        address(link, 2, six)
    }

    /// The server's.
    pub fn server_address(&self, link: u8, six: bool) -> IpAddr {
        address(link, 1, six)
    }

    /// A listener on all addresses of the server, and its port.
    ///
    /// # Panics
    /// Where the kernel has no MPTCP.
    pub fn listen(&self, six: bool) -> (TcpListener, u16) {
        let any: IpAddr = if six {
            Ipv6Addr::UNSPECIFIED.into()
        } else {
            Ipv4Addr::UNSPECIFIED.into()
        };
        let listen = || {
            let socket = mptcp_socket(six)?;
            socket.bind(&SocketAddr::new(any, 0).into())?;
            socket.listen(128)?;
            io::Result::Ok(TcpListener::from(socket))
        };
        let listener = self
            .server
            .run(listen)
            .expect("the namespace can be entered")
            .expect("a listener");
        let port = listener.local_addr().expect("an address").port();
        (listener, port)
    }

    /// Connects by MPTCP from the calling thread's namespace.
    ///
    /// # Panics
    /// Where it cannot.
    pub fn dial(&self, target: SocketAddr) -> TcpStream {
        let socket = mptcp_socket(target.is_ipv6()).expect("a socket");
        socket.connect(&target.into()).expect("a connection");
        socket.into()
    }

    /// Both ends of a connection of MPTCP over link 1, over which a byte has gone each way, so that
    /// subflows can join.
    ///
    /// # Panics
    /// Where it cannot be opened.
    pub fn connect(
        &self,
        (listener, port): &(TcpListener, u16),
        six: bool,
    ) -> (TcpStream, TcpStream) {
        let target = SocketAddr::new(self.server_address(1, six), *port);
        self.connect_to(listener, target)
    }

    /// As [`Self::connect`], to this address of the listener.
    ///
    /// # Panics
    /// Where it cannot be opened.
    pub fn connect_to(&self, listener: &TcpListener, target: SocketAddr) -> (TcpStream, TcpStream) {
        use std::io::{Read, Write};
        thread::scope(|scope| {
            let accepted = scope.spawn(|| listener.accept().expect("a client").0);
            let mut client = self
                .client
                .run(|| self.dial(target))
                .expect("the namespace can be entered");
            let mut server = accepted.join().expect("no panic");
            let mut byte = [0];
            client.write_all(&[1]).expect("room");
            server.read_exact(&mut byte).expect("a byte");
            server.write_all(&[2]).expect("room");
            client.read_exact(&mut byte).expect("a byte");
            (client, server)
        })
    }
}

fn address(link: u8, host: u8, six: bool) -> IpAddr {
    match six {
        false => Ipv4Addr::new(10, 0, link, host).into(),
        true => Ipv6Addr::new(0xfd00, link.into(), 0, 0, 0, 0, 0, host.into()).into(),
    }
}

fn mptcp_socket(six: bool) -> io::Result<Socket> {
    let domain = if six { Domain::IPV6 } else { Domain::IPV4 };
    Socket::new(domain, Type::STREAM, Some(Protocol::MPTCP))
}

fn prepare() {
    let set = |name: &str, value: &str| fs::write(format!("/proc/sys/net/{name}"), value);
    set("ipv4/conf/all/rp_filter", "0").expect("a setting");
    set("ipv4/conf/default/rp_filter", "0").expect("a setting");
    UserspacePm::select().expect("a kernel with MPTCP").keep();
    // The one that every namespace may use.
    set("ipv4/tcp_congestion_control", "reno").expect("a setting");
}

fn move_interface(name: &str, to: &NetNs) {
    use std::os::fd::{AsFd, AsRawFd};
    let path = format!("/proc/{}/fd/{}", std::process::id(), to.as_fd().as_raw_fd());
    run("ip", &format!("link set {name} netns {path}"));
}

/// Runs `ip` in a namespace.
///
/// # Panics
/// Where it fails.
pub fn ip(netns: &NetNs, words: &str) {
    netns
        .run(|| run("ip", words))
        .expect("the namespace can be entered");
}

/// Runs a program in the calling thread's namespace.
///
/// # Panics
/// Where it fails.
pub fn run(program: &str, words: &str) {
    let status = Command::new(program)
        .args(words.split_whitespace())
        .status();
    assert!(
        status.is_ok_and(|status| status.success()),
        "{program} {words}"
    );
}
