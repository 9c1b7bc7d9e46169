//! Reasons why a server does not start.

use std::fs;

use mptcplab_controller_server::{Config, Server, StartError, TlsFiles};

use crate::certificates::Authority;
use crate::serving::config;

fn refused(config: &Config) -> String {
    match Server::bind(config) {
        Ok(_) => panic!("it starts: {config:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn plain_tcp_beyond_the_loopback_is_to_be_asked_for() {
    for listen in ["0.0.0.0:0", "[::]:0", "[::ffff:0.0.0.0]:0"] {
        let listen = listen.parse().expect("an address");
        let error = refused(&Config { listen, ..config() });
        assert!(error.contains("is beyond the loopback"), "{error}");
    }
    let asked = Config {
        listen: "0.0.0.0:0".parse().expect("an address"),
        plain_tcp: true,
        ..config()
    };
    assert!(Server::bind(&asked).is_ok());
    let authority = Authority::new();
    let by_tls = Config {
        listen: "0.0.0.0:0".parse().expect("an address"),
        tls: Some(authority.server()),
        ..config()
    };
    assert!(Server::bind(&by_tls).is_ok());
}

#[test]
fn files_that_are_no_certificates_are_told() {
    let authority = Authority::new();
    let good = authority.server();
    let text = authority.file("text.pem");
    fs::write(&text, "no certificate").expect("written");
    let absent = authority.file("absent.pem");
    let with = |files: TlsFiles| {
        let tls = Some(files);
        refused(&Config { tls, ..config() })
    };
    let ca = |ca| TlsFiles { ca, ..good.clone() };
    let cert = |cert| TlsFiles {
        cert,
        ..good.clone()
    };
    let key = |key| TlsFiles {
        key: Some(key),
        ..good.clone()
    };
    assert!(with(ca(text.clone())).ends_with("text.pem: holds no certificate in PEM"));
    assert!(with(key(text.clone())).ends_with("text.pem: holds no key in PEM"));
    assert!(with(cert(absent.clone())).contains("absent.pem: cannot be read: "));
    // The key of another certificate.
    let other = Authority::new();
    let theirs = key(other.server().cert);
    assert!(with(theirs).contains("server.pem: cannot be used: "));
}

#[test]
fn a_policy_that_there_is_not_and_an_address_in_use_are_told() {
    let policy = "fastest".to_owned();
    let error = refused(&Config { policy, ..config() });
    assert_eq!(error, "there is no policy 'fastest'");
    let first = Server::bind(&config()).expect("a server");
    let listen = first.local_addr().expect("an address");
    let error = refused(&Config { listen, ..config() });
    assert!(error.starts_with(&format!("{listen}: cannot listen there: ")));
}

#[test]
fn a_configuration_is_read_from_json() {
    let json = r#"{"listen": "127.0.0.1:6653", "policy": "disjoint", "learn_sizes": true,
        "link_rates": [{"datapath": 1, "port": 2, "bits_per_second": 1000}]}"#;
    let config = Config::parse(json).expect("a configuration");
    assert_eq!(config.link_rates[0].bits_per_second, 1000);
    assert!(config.learn_sizes);
    for wrong in ["", "{}", r#"{"listen": "localhost", "policy": "disjoint"}"#] {
        assert!(matches!(Config::parse(wrong), Err(StartError::Config(_))));
    }
}
