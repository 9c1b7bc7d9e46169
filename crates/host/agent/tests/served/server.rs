//! A server that answers as a test wants it to.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mptcplab_agent::caps::Caps;
use mptcplab_agent::enrolment::{Enrolment, Server};
use mptcplab_agent::store::{Identity, Store};
use mptcplab_agent::{Config, Error, run};
use mptcplab_measure::token::{fingerprint, hex};
use ring::digest::{SHA256, digest};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};

/// A request, as it came.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) place: String,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

/// Bytes of an answer; none: the connection is closed without one.
type Answers = dyn Fn(&Asked) -> Option<Vec<u8>> + Send + Sync;

/// A server with a certificate of its own.
pub(crate) struct Running {
    address: SocketAddr,
    fingerprint: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

pub(crate) const SECRET: &str = "an-agents-own-secret-of-32-bytes";

const MOST_LOOKS: u32 = 12_000;
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

fn caps() -> Caps {
    Caps {
        size_bytes: 100_000_000,
        age: Duration::from_secs(86_400),
    }
}

impl Running {
    /// Serves until the process ends.
    pub(crate) fn start(
        answers: impl Fn(&Asked) -> Option<Vec<u8>> + Send + Sync + 'static,
    ) -> Self {
        let made = rcgen::generate_simple_self_signed(["server".to_owned()]).unwrap();
        let certificate = made.cert.der().clone();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.clone()], key)
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let running = Self {
            address: listener.local_addr().unwrap(),
            fingerprint: hex(&fingerprint(&certificate)),
            asked: Arc::default(),
        };
        let (config, asked) = (Arc::new(config), Arc::clone(&running.asked));
        let answers: Arc<Answers> = Arc::new(answers);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let config = Arc::clone(&config);
                let (asked, answers) = (Arc::clone(&asked), Arc::clone(&answers));
                thread::spawn(move || serve(stream.unwrap(), config, &asked, &*answers));
            }
        });
        running
    }

    pub(crate) fn server(&self) -> Server {
        Server {
            url: format!("https://{}", self.address),
            fingerprint: Some(self.fingerprint.clone()),
        }
    }

    /// A token for a server at this address with this certificate, or its own.
    pub(crate) fn token(&self, fingerprint: Option<&str>) -> Enrolment {
        let content = json!({
            "url": self.server().url,
            "fingerprint": fingerprint.unwrap_or(&self.fingerprint),
            "secret": URL_SAFE_NO_PAD.encode([7; 32]),
        });
        let encoded = URL_SAFE_NO_PAD.encode(content.to_string());
        Enrolment::parse(&format!("mptcplab-enrol1-{encoded}")).unwrap()
    }

    /// Requests of this method and this beginning of a path.
    pub(crate) fn asked(&self, place: &str) -> Vec<Asked> {
        let asked = self.asked.lock().unwrap();
        let found = asked.iter().filter(|one| one.place.starts_with(place));
        found.cloned().collect()
    }

    /// The latest contact of an agent.
    pub(crate) fn contact(&self) -> Value {
        let contact = self.asked("POST /api/v1/agent/contact").pop().unwrap();
        serde_json::from_slice(&contact.body).unwrap()
    }

    /// The folder of an agent that is enrolled here.
    pub(crate) fn enrolled(&self) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), caps()).unwrap();
        let identity = Identity {
            server: self.server(),
            agent: "a1".to_owned(),
            secret: SECRET.to_owned(),
        };
        store.set_identity(&identity).unwrap();
        folder
    }
}

fn serve(
    stream: TcpStream,
    config: Arc<ServerConfig>,
    asked: &Mutex<Vec<Asked>>,
    answers: &Answers,
) {
    let tls = ServerConnection::new(config).unwrap();
    let mut stream = BufReader::new(StreamOwned::new(tls, stream));
    while let Some(one) = request(&mut stream) {
        asked.lock().unwrap().push(one.clone());
        let Some(answer) = answers(&one) else {
            return;
        };
        let stream = stream.get_mut();
        let sent = stream.write_all(&answer).and_then(|()| stream.flush());
        if sent.is_err() {
            return;
        }
    }
}

fn request(stream: &mut impl BufRead) -> Option<Asked> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let mut lines = head.lines();
    let length = lines.find_map(|line| line.strip_prefix("Content-Length: "));
    let mut body = vec![0; length.map_or(0, |digits| digits.parse().unwrap())];
    stream.read_exact(&mut body).ok()?;
    let place = head.split(" HTTP").next().unwrap().to_owned();
    Some(Asked { place, head, body })
}

/// An answer of JSON.
pub(crate) fn answer(status: u16, body: &Value) -> Option<Vec<u8>> {
    answer_with(status, "", body)
}

/// The same with further headers.
pub(crate) fn answer_with(status: u16, headers: &str, body: &Value) -> Option<Vec<u8>> {
    let body = body.to_string();
    let length = body.len();
    let head = format!("HTTP/1.1 {status} X\r\n{headers}Content-Length: {length}\r\n\r\n{body}");
    Some(head.into_bytes())
}

/// The answers of a server that takes all, and has these plans.
pub(crate) fn takes(asked: &Asked, plans: &Value) -> Option<Vec<u8>> {
    match &asked.place[..4] {
        "GET " => answer(200, &json!({"plans": plans})),
        "PUT " => {
            let hash = hex(digest(&SHA256, &asked.body).as_ref());
            answer(201, &json!({"sha256": hash}))
        }
        _ => answer(200, &json!({"now_unix_ms": 1_800_000_000_000_i64})),
    }
}

/// An agent of this folder that carries out each plan once.
pub(crate) fn config(folder: &Path) -> Config {
    Config {
        folder: folder.to_owned(),
        enrolment: None,
        name: "lab".to_owned(),
        caps: caps(),
        contact_interval: Duration::from_secs(60),
        is_once: true,
        hold: None,
        log: |line| eprintln!("{line}"),
    }
}

/// Runs such an agent to its end.
pub(crate) fn run_once(config: &Config) -> Result<(), Error> {
    let (_running, stop) = UnixStream::pair().unwrap();
    run(config, stop)
}

/// The ids of so many results, which an agent has left in its folder.
pub(crate) fn spooled(folder: &Path, count: usize) -> Vec<String> {
    let mut store = Store::open(folder, caps()).unwrap();
    let mut ids = Vec::new();
    for _ in 0..count {
        let add = store.add(None, |sequence| {
            let id = format!("00000000-0000-4000-8000-{sequence:012}");
            ids.push(id.clone());
            let bytes = json!({"id": id}).to_string().into_bytes();
            (id, bytes)
        });
        add.unwrap();
    }
    ids
}

/// Waits until this holds; an agent that does not come so far fails the test.
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..MOST_LOOKS {
        if holds() {
            return;
        }
        thread::sleep(BETWEEN_LOOKS);
    }
    panic!("{what}: in vain");
}

/// Names of the files in a folder of an agent's.
pub(crate) fn files(folder: &Path, name: &str) -> Vec<String> {
    let every = fs::read_dir(folder.join(name)).unwrap();
    let mut names: Vec<_> = every
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
