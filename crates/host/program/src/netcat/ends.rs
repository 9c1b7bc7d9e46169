//! Host, ports and source of `nc`.

use std::fs;
use std::net::{IpAddr, Ipv6Addr};

use anyhow::{anyhow, bail};

use super::Options;

/// Ports of one scan at most: every one there is.
const MOST_PORTS: usize = 65_536;

/// The two ends, as far as the options tell them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Ends {
    /// Host to connect to, or address to listen at.
    pub(super) host: Option<String>,
    /// Ports in the order in which they are tried.
    pub(super) ports: Vec<u16>,
    /// Address to connect from.
    pub(super) source: Option<IpAddr>,
    /// Port to connect from.
    pub(super) source_port: Option<u16>,
}

/// Reads the words and what `-p` and `-s` add to them.
pub(super) fn read(options: &Options) -> anyhow::Result<Ends> {
    let source = options
        .source
        .as_deref()
        .map(|text| address(text, &format!("-s {text}")))
        .transpose()?;
    let ends = match options.listen {
        true => listening(options, source)?,
        false => connecting(options, source)?,
    };
    if options.numeric && ends.host.as_deref().is_some_and(|host| !is_address(host)) {
        bail!("-n, and the host is a name: an address is wanted, such as 10.0.1.6");
    }
    Ok(ends)
}

fn listening(options: &Options, source: Option<IpAddr>) -> anyhow::Result<Ends> {
    let source = source.map(|address| address.to_string());
    let words = source.iter().chain(&options.words).chain(&options.port);
    let (host, port_word) = match *words.collect::<Vec<_>>() {
        [word] => (None, word),
        [host, word] => (Some(host.clone()), word),
        _ => bail!("-l: write nc -l PORT, or nc -l ADDRESS PORT"),
    };
    Ok(Ends {
        host,
        ports: vec![port(port_word, options)?],
        source: None,
        source_port: None,
    })
}

fn connecting(options: &Options, source: Option<IpAddr>) -> anyhow::Result<Ends> {
    let [host, words @ ..] = options.words.as_slice() else {
        bail!(NO_WORDS);
    };
    if words.is_empty() {
        bail!(NO_WORDS);
    }
    let mut ports = Vec::new();
    for word in words {
        ports.extend(range(word, options)?);
        if ports.len() > MOST_PORTS {
            bail!("more than {MOST_PORTS} ports");
        }
    }
    if ports.len() > 1 && !options.scan {
        bail!("{} ports: only -z takes more than one", ports.len());
    }
    let source_port = options.port.as_deref();
    Ok(Ends {
        host: Some(host.clone()),
        ports,
        source,
        source_port: source_port.map(|word| port(word, options)).transpose()?,
    })
}

const NO_WORDS: &str = "write nc HOST PORT, or nc -l PORT to listen; nc --help tells more";

/// A port, the name of its service, or a range such as 20-30.
fn range(word: &str, options: &Options) -> anyhow::Result<Vec<u16>> {
    let Some((first, last)) = word
        .split_once('-')
        .filter(|(first, last)| is_number(first) && is_number(last))
    else {
        return Ok(vec![port(word, options)?]);
    };
    let (low, high) = (port(first, options)?, port(last, options)?);
    if low > high {
        bail!("ports {word}: write the smaller one first");
    }
    Ok((low..=high).collect())
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

fn port(word: &str, options: &Options) -> anyhow::Result<u16> {
    let found = match is_number(word) {
        true => word.parse().ok().filter(|&port| port > 0),
        false => {
            let services = fs::read("/etc/services").unwrap_or_default();
            service(
                &String::from_utf8_lossy(&services),
                word,
                if options.udp { "udp" } else { "tcp" },
            )
        }
    };
    found.ok_or_else(|| {
        anyhow!("port {word}: a number from 1 to 65535, or a service of /etc/services")
    })
}

/// Port of a service by one of its names, as services(5) has it.
fn service(services: &str, name: &str, protocol: &str) -> Option<u16> {
    services.lines().find_map(|line| {
        let mut words = line.split('#').next()?.split_whitespace();
        let official = words.next()?;
        let (port, spoken) = words.next()?.split_once('/')?;
        let is_called = official == name || words.any(|alias| alias == name);
        (is_called && spoken == protocol).then(|| port.parse().ok())?
    })
}

fn address(text: &str, what: &str) -> anyhow::Result<IpAddr> {
    text.parse()
        .map_err(|_| anyhow!("{what}: an address is wanted, such as 10.0.1.6"))
}

/// Whether a host is an address, with its interface or without: fe80::1%eth0.
fn is_address(host: &str) -> bool {
    match host.split_once('%') {
        Some((address, zone)) => address.parse::<Ipv6Addr>().is_ok() && !zone.is_empty(),
        None => host.parse::<IpAddr>().is_ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_are_found_by_their_names_and_protocol() {
        let services =
            "# comment\nhttp\t80/tcp\t\twww # WorldWideWeb\ndomain 53/tcp\ndomain 53/udp\nbroken\n";
        assert_eq!(service(services, "www", "tcp"), Some(80));
        assert_eq!(service(services, "http", "udp"), None);
        assert_eq!(service(services, "domain", "udp"), Some(53));
        assert_eq!(service(services, "broken", "tcp"), None);
    }

    #[test]
    fn a_listener_needs_a_port_and_may_have_an_address() {
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        let mut options = Options {
            listen: true,
            words: words(&["::1", "80"]),
            ..Options::default()
        };
        let ends = read(&options).unwrap();
        assert_eq!((ends.host.as_deref(), ends.ports), (Some("::1"), vec![80]));
        options.words = words(&[]);
        options.port = Some("80".to_owned());
        options.source = Some("::1".to_owned());
        let ends = read(&options).unwrap();
        assert_eq!((ends.host.as_deref(), ends.ports), (Some("::1"), vec![80]));
        assert_eq!(ends.source, None);
    }

    #[test]
    fn a_scan_takes_every_port_there_is() {
        let options = Options {
            scan: true,
            words: vec!["host".to_owned(), "1-65535".to_owned(), "1".to_owned()],
            ..Options::default()
        };
        assert_eq!(read(&options).unwrap().ports.len(), MOST_PORTS);
        let too_many = Options {
            words: vec!["host".to_owned(), "1-65535".to_owned(), "1-2".to_owned()],
            ..options
        };
        assert!(read(&too_many).is_err());
    }
}
