//! The thread that serves.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rustls::ServerConfig;

use super::access::Access;
use super::config::{HttpConfig, HttpLimits, PageParts};
use super::exchange::{Answerer, Asker, exchange};
use super::peers::Peers;
use super::request::{Method, Request};
use super::response::{self, CommonFields, Content, Status};
use super::routes::Routes;
use crate::error::StartError;
use crate::server::is_passing;
use crate::tls;

/// Bytes that are read of a peer at once.
const READ_BYTES: usize = 16 << 10;
/// The time for which no connection is accepted after the system has refused.
const PAUSE: Duration = Duration::from_millis(100);

/// The API at work: the thread that serves it, and the end of what it asks. It ends when this is
/// dropped.
#[derive(Debug)]
pub(crate) struct Api {
    pub(crate) address: SocketAddr,
    pub(crate) is_tls: bool,
    pub(crate) answerer: Answerer,
}

/// All that the thread has.
struct Http {
    listener: TcpListener,
    tls: Option<Arc<ServerConfig>>,
    access: Access,
    charts: Option<PageParts>,
    limits: HttpLimits,
}

impl Api {
    /// Listens and serves.
    ///
    /// # Errors
    ///
    /// An address beyond the loopback without TLS or without a token, an address that cannot be
    /// listened at, files that cannot be used.
    pub(crate) fn start(config: &HttpConfig) -> Result<Self, StartError> {
        let access = Access::new(config)?;
        let tls = config.tls.as_ref().map(tls::http_config).transpose()?;
        let is_tls = tls.is_some();
        let address = config.listen;
        let listen = |error| StartError::Listen { address, error };
        let listener = TcpListener::bind(address).map_err(listen)?;
        listener.set_nonblocking(true).map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let (asker, answerer) = exchange().map_err(listen)?;
        let http = Http {
            listener,
            tls,
            access,
            charts: config.charts.clone(),
            limits: config.limits,
        };
        thread::Builder::new()
            .name("http".to_owned())
            .spawn(move || http.serve(asker))
            .map_err(listen)?;
        Ok(Self {
            address,
            is_tls,
            answerer,
        })
    }
}

impl Http {
    /// Serves until the controller's loop has ended.
    fn serve(self, asker: Asker) {
        let common = CommonFields::new(self.charts.is_some());
        let mut routes = Routes::new(asker, self.charts.as_ref());
        let mut peers = Peers::new(self.limits, self.tls.clone());
        let mut buffer = vec![0; READ_BYTES];
        let mut paused_until: Option<Instant> = None;
        loop {
            let now = Instant::now();
            paused_until.take_if(|until| *until <= now);
            let listener = paused_until.is_none().then(|| self.listener.as_fd());
            let pause = paused_until.map(|until| until - now);
            let Ok(ready) = peers.wait(routes.asker().end(), listener, pause, now) else {
                // The system has no memory for poll(2): peers wait until it has.
                thread::sleep(PAUSE);
                continue;
            };
            if ready.is_over {
                return;
            }
            let now = Instant::now();
            // From the last one, so that the places of the others stay.
            for place in ready.peers.into_iter().rev() {
                let peer = &mut peers.all[place];
                let Ok(request) = peer.receive(&mut buffer, &self.limits) else {
                    peers.all.remove(place);
                    continue;
                };
                if let Some(request) = request {
                    let is_head = request
                        .as_ref()
                        .is_ok_and(|request| request.method == Method::Head);
                    let (status, content) = self.answer(&mut routes, request);
                    let head = response::head(status, &content, &common);
                    let content = (!is_head).then_some(&content);
                    peer.answer(head, content, &self.limits, now);
                }
            }
            if ready.has_connection
                && let Err(error) = self.accept(&mut peers, now)
                && !is_passing(&error)
            {
                paused_until = Some(now + PAUSE);
            }
            peers.all.retain_mut(|peer| peer.send(now).is_ok());
            peers.end_late(now);
        }
    }

    /// Takes one new connection.
    fn accept(&self, peers: &mut Peers, now: Instant) -> io::Result<()> {
        let (stream, _) = self.listener.accept()?;
        peers.add(stream, now)
    }

    fn answer(&self, routes: &mut Routes, request: Result<Request, Status>) -> (Status, Content) {
        let content = request.and_then(|request| {
            self.access.admit(&request)?;
            if request.method != Method::Post {
                return routes.content(&request);
            }
            self.access.admit_change(&request)?;
            routes.tell(&request)
        });
        match content {
            Ok(content) => (Status::Ok, content),
            Err(status) => (status, status.content()),
        }
    }
}
