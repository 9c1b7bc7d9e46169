//! Names by `/etc/hosts` and by the servers that `/etc/resolv.conf` names.

use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::dns::Servers;
use super::preference;

/// The addresses of a name, those first that are tried first; `None` for what is an address already, with its interface
/// (`fe80::1%eth0`) or without: for these the C library needs none of its modules.
pub(super) fn resolve(host: &str) -> Option<io::Result<Vec<IpAddr>>> {
    let address = host.split_once('%').map_or(host, |(address, _)| address);
    let is_name = address.parse::<IpAddr>().is_err();
    is_name.then(|| look_up(host).map(preference::sorted))
}

fn look_up(name: &str) -> io::Result<Vec<IpAddr>> {
    let listed = in_hosts(&content("/etc/hosts")?, name);
    if !listed.is_empty() {
        return Ok(listed);
    }
    // RFC 6761, section 6.3.
    if name.trim_end_matches('.').eq_ignore_ascii_case("localhost") {
        return Ok(vec![Ipv6Addr::LOCALHOST.into(), Ipv4Addr::LOCALHOST.into()]);
    }
    Servers::of(&content("/etc/resolv.conf")?).look_up(name)
}

/// The content of a file, in whatever encoding; none where there is no file.
fn content(path: &str) -> io::Result<String> {
    match fs::read(path) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(error),
    }
}

/// The addresses that hosts(5) has for a name.
fn in_hosts(hosts: &str, name: &str) -> Vec<IpAddr> {
    let name = name.trim_end_matches('.');
    let line = |line: &str| {
        let mut words = line.split('#').next()?.split_whitespace();
        let address = words.next()?.parse().ok()?;
        words
            .any(|known| known.eq_ignore_ascii_case(name))
            .then_some(address)
    };
    hosts.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_have_names_and_aliases() {
        let hosts = "# local\n127.0.0.1 localhost\n::1\tlocalhost ip6-localhost # both\n\
                     10.0.1.6 server server.lab\nbroken server\n10.0.1.7\n";
        let of = |name| in_hosts(hosts, name);
        let [v4, v6] = ["127.0.0.1", "::1"].map(|text| text.parse::<IpAddr>().unwrap());
        assert_eq!(of("localhost"), [v4, v6]);
        assert_eq!(of("LocalHost."), [v4, v6]);
        assert_eq!(of("server.lab"), ["10.0.1.6".parse::<IpAddr>().unwrap()]);
        for name in ["both", "lab", "10.0.1.7", ""] {
            assert!(of(name).is_empty(), "{name}");
        }
    }

    #[test]
    fn addresses_are_left_to_the_c_library() {
        for host in ["10.0.1.6", "::1", "fe80::1%eth0"] {
            assert!(resolve(host).is_none(), "{host}");
        }
        let local = resolve("localhost").unwrap().unwrap();
        assert!(local.iter().all(IpAddr::is_loopback) && !local.is_empty());
    }
}
