//! A stub resolver (RFC 1034, section 5.3.1): it asks recursive servers, by UDP, and by TCP where the
//! answer is too long for that.

use std::hash::BuildHasher;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use nix::net::if_::if_nametoindex;
use resolv_conf::{Config, ScopedIp};
use simple_dns::rdata::RData;
use simple_dns::{CLASS, Name, Packet, PacketFlag, QCLASS, QTYPE, Question, RCODE, TYPE};

const PORT: u16 = 53;
/// The largest message over UDP, without EDNS (RFC 1035, section 2.3.4).
const LARGEST_DATAGRAM_BYTES: usize = 512;

/// The servers of resolv.conf(5), and how they are asked.
#[derive(Clone, Debug)]
pub(super) struct Servers {
    addresses: Vec<SocketAddr>,
    /// Domains that are appended to names.
    search: Vec<String>,
    /// Names with so many dots are first asked for as they are.
    dots: usize,
    timeout: Duration,
    attempts: u32,
}

impl Servers {
    /// Those that the content of resolv.conf(5) names, or one on this host.
    pub(super) fn of(text: &str) -> Self {
        // Lines of another form are passed over.
        let (mut config, _) = Config::parse_with_errors(text.as_bytes());
        config.glibc_normalize();
        let servers = config.get_nameservers_or_local();
        Self {
            addresses: servers.iter().filter_map(address).collect(),
            search: config.get_last_search_or_domain().cloned().collect(),
            dots: config.ndots as usize,
            // The bounds of the C library.
            timeout: Duration::from_secs(config.timeout.clamp(1, 30).into()),
            attempts: config.attempts.clamp(1, 5),
        }
    }

    /// The addresses of a name, those of IPv6 first.
    ///
    /// # Errors
    /// The name is not known, or no server answers.
    pub(super) fn look_up(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let unknown = "no host of this name is known to DNS";
        let mut last = io::Error::new(io::ErrorKind::NotFound, unknown);
        for name in self.candidates(name) {
            match self.addresses_of(&name) {
                Ok(found) if found.is_empty() => {}
                Ok(found) => return Ok(found),
                // The servers are silent about other names, too.
                Err(error) if error.kind() == io::ErrorKind::TimedOut => return Err(error),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// The full names for which a name may stand, in the order in which they are tried.
    fn candidates(&self, name: &str) -> Vec<String> {
        if let Some(full) = name.strip_suffix('.') {
            return vec![full.to_owned()];
        }
        let mut names: Vec<_> = self
            .search
            .iter()
            .map(|domain| format!("{name}.{}", domain.trim_end_matches('.')))
            .collect();
        let comes_first = name.matches('.').count() >= self.dots;
        let at = if comes_first { 0 } else { names.len() };
        names.insert(at, name.to_owned());
        names
    }

    /// The addresses of a full name; fails only where there is none and a server did not answer.
    fn addresses_of(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let mut found = Vec::new();
        let mut failed = Ok(());
        for kind in [TYPE::AAAA, TYPE::A] {
            match self.ask(name, kind) {
                Ok(addresses) => found.extend(addresses),
                Err(error) => failed = Err(error),
            }
        }
        match found.is_empty() {
            true => failed.map(|()| found),
            false => Ok(found),
        }
    }

    /// The answer of the first server that has one.
    fn ask(&self, name: &str, kind: TYPE) -> io::Result<Vec<IpAddr>> {
        let question = question(name, kind)?;
        let mut last = io::ErrorKind::TimedOut.into();
        for _ in 0..self.attempts {
            for &server in &self.addresses {
                match self.ask_server(server, &question) {
                    Ok(found) => return Ok(found),
                    Err(error) => {
                        let text = format!("nameserver {}: {error}", server.ip());
                        last = io::Error::new(error.kind(), text);
                    }
                }
            }
        }
        Err(last)
    }

    fn ask_server(&self, server: SocketAddr, question: &Question<'_>) -> io::Result<Vec<IpAddr>> {
        let mut query = Packet::new_query(random());
        query.set_flags(PacketFlag::RECURSION_DESIRED);
        query.questions.push(question.clone());
        let bytes = query.build_bytes_vec().map_err(unusable)?;
        let mut reply = self.exchange_datagrams(server, &query, &bytes)?;
        if Packet::parse(&reply).is_ok_and(|reply| reply.has_flags(PacketFlag::TRUNCATION)) {
            reply = self.exchange_by_tcp(server, &bytes)?;
        }
        let reply = Packet::parse(&reply).map_err(unusable)?;
        if !answers(&reply, &query) {
            return Err(io::Error::other("the answer is to another question"));
        }
        match reply.rcode() {
            RCODE::NoError => Ok(addresses(&reply)),
            RCODE::NameError => Ok(Vec::new()),
            code => Err(io::Error::other(format!("{code:?}"))),
        }
    }

    /// The message that comes back first and answers the query; anything else is passed over.
    fn exchange_datagrams(
        &self,
        server: SocketAddr,
        query: &Packet<'_>,
        bytes: &[u8],
    ) -> io::Result<Vec<u8>> {
        let any: IpAddr = match server {
            SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let socket = UdpSocket::bind((any, 0))?;
        socket.connect(server)?;
        socket.send(bytes)?;
        let deadline = Instant::now() + self.timeout;
        loop {
            socket.set_read_timeout(Some(left_until(deadline)?))?;
            let mut reply = vec![0; LARGEST_DATAGRAM_BYTES];
            let length = socket.recv(&mut reply).map_err(timed_out_or)?;
            reply.truncate(length);
            if Packet::parse(&reply).is_ok_and(|reply| answers(&reply, query)) {
                return Ok(reply);
            }
        }
    }

    /// The reply that is complete before the timeout, however slowly its bytes come.
    fn exchange_by_tcp(&self, server: SocketAddr, query: &[u8]) -> io::Result<Vec<u8>> {
        let deadline = Instant::now() + self.timeout;
        let mut stream = TcpStream::connect_timeout(&server, self.timeout)?;
        // RFC 1035, section 4.2.2: the length comes first. A query is far below 64 KiB, and fits
        // into the socket's buffer.
        let length = (query.len() as u16).to_be_bytes();
        stream.write_all(&[&length, query].concat())?;
        let mut length = [0; 2];
        read_until(&mut stream, &mut length, deadline)?;
        let mut reply = vec![0; u16::from_be_bytes(length).into()];
        read_until(&mut stream, &mut reply, deadline)?;
        Ok(reply)
    }
}

/// Fills the buffer, or fails at the deadline.
fn read_until(stream: &mut TcpStream, mut buffer: &mut [u8], deadline: Instant) -> io::Result<()> {
    while !buffer.is_empty() {
        stream.set_read_timeout(Some(left_until(deadline)?))?;
        match stream.read(buffer) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(length) => buffer = &mut buffer[length..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(timed_out_or(error)),
        }
    }
    Ok(())
}

/// The time until a deadline, which is not over.
fn left_until(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(timed_out());
    }
    Ok(left)
}

/// A server's address; none where its interface (`fe80::1%eth0`) is not there.
fn address(server: &ScopedIp) -> Option<SocketAddr> {
    match server {
        ScopedIp::V6(address, Some(scope)) => {
            let number = scope.parse::<u32>();
            let scope = number.or_else(|_| if_nametoindex(scope.as_str())).ok()?;
            Some(SocketAddrV6::new(*address, PORT, 0, scope).into())
        }
        server => Some(SocketAddr::new(server.into(), PORT)),
    }
}

fn question(name: &str, kind: TYPE) -> io::Result<Question<'_>> {
    let invalid = |_| io::Error::new(io::ErrorKind::InvalidInput, "DNS has no such names");
    let name = Name::new(name).map_err(invalid)?;
    let (kind, class) = (QTYPE::TYPE(kind), QCLASS::CLASS(CLASS::IN));
    Ok(Question::new(name, kind, class, false))
}

/// Whether a message answers this query. Others may have sent it, who must guess id and port.
fn answers(reply: &Packet<'_>, query: &Packet<'_>) -> bool {
    let [asked, answered] = [query, reply].map(|packet| packet.questions.first());
    let same = asked.zip(answered).is_some_and(|(asked, answered)| {
        asked.qname == answered.qname && asked.qtype == answered.qtype
    });
    same && reply.has_flags(PacketFlag::RESPONSE) && reply.id() == query.id()
}

/// The addresses of an answer. A recursive server also answers for the name behind an alias.
fn addresses(reply: &Packet<'_>) -> Vec<IpAddr> {
    let records = reply.answers.iter();
    records
        .filter_map(|record| match &record.rdata {
            RData::A(address) => Some(Ipv4Addr::from(address.address).into()),
            RData::AAAA(address) => Some(Ipv6Addr::from(address.address).into()),
            _ => None,
        })
        .collect()
}

/// An id that others have to guess.
fn random() -> u16 {
    std::hash::RandomState::new().hash_one(()) as u16
}

/// The error of a socket, whose timeout the kernel tells as EAGAIN.
fn timed_out_or(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::WouldBlock => timed_out(),
        _ => error,
    }
}

fn timed_out() -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, "no answer")
}

fn unusable(error: simple_dns::SimpleDnsError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error.to_string())
}

#[cfg(test)]
mod tests;
