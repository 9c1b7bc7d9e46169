//! Requests and responses over one connection, one outstanding: latency as an application has it.

use mptcplab_plan::{Protocol, Requests};

use super::end::{End, Input, Pending, Progress, Role};
use crate::Nanos;
use mptcplab_traffic::Failure;

/// The client's role: sends the requests.
#[derive(Clone, Debug)]
pub(super) struct Requester {
    requests: Requests,
    /// Number of the next request, or of the one under way.
    sequence: u32,
    /// The time of the next request; the first at once.
    due: Option<Nanos>,
    under_way: Option<Exchange>,
}

/// A request without its whole response.
#[derive(Clone, Debug)]
struct Exchange {
    asked: Nanos,
    request: Pending,
    missing_bytes: u64,
}

impl Requester {
    pub(super) fn new(requests: Requests) -> Self {
        Self {
            requests,
            sequence: 0,
            due: None,
            under_way: None,
        }
    }

    /// Advances the request under way; says whether its response has come.
    fn exchange(&mut self, end: &mut End<'_>) -> Result<bool, Failure> {
        let Some(exchange) = &mut self.under_way else {
            return Ok(true);
        };
        exchange.request.flush(end);
        while exchange.missing_bytes > 0 {
            match end.read(exchange.missing_bytes as usize) {
                None => return Ok(false),
                Some(Input::End) => return Err(Failure::closed()),
                Some(Input::Bytes(part)) => {
                    exchange.missing_bytes -= part.len() as u64;
                    end.take(&part)?;
                }
            }
        }
        Ok(true)
    }
}

impl Role for Requester {
    fn sleeps(&self, _: Protocol) -> bool {
        true
    }

    fn advance(&mut self, end: &mut End<'_>) -> Result<Progress, Failure> {
        loop {
            if !self.exchange(end)? {
                return Ok(Progress::Waiting);
            }
            let now = end.now();
            if let Some(exchange) = self.under_way.take() {
                end.write_latency(self.sequence, exchange.asked, Some(now - exchange.asked));
                self.sequence += 1;
                // A late response does not make the next requests come in a burst.
                let begun = self.due.unwrap_or(now);
                self.due = Some(begun.saturating_add(self.requests.interval_ns).max(now));
            }
            if self.sequence == self.requests.count {
                end.finish();
                self.due = None;
                return Ok(Progress::Done);
            }
            let due = *self.due.get_or_insert(now);
            if due > now {
                return Ok(Progress::Waiting);
            }
            self.under_way = Some(Exchange {
                asked: now,
                request: Pending::new(vec![0; self.requests.request_bytes as usize]),
                missing_bytes: self.requests.response_bytes.into(),
            });
        }
    }

    fn deadline(&self) -> Option<Nanos> {
        self.due.filter(|_| self.under_way.is_none())
    }

    fn abandon(&mut self, end: &mut End<'_>) {
        if let Some(exchange) = self.under_way.take() {
            end.write_latency(self.sequence, exchange.asked, None);
        }
    }
}

/// The server's role: replies to every request.
#[derive(Clone, Debug)]
pub(super) struct Responder {
    requests: Requests,
    /// Bytes of the next request that have not come.
    missing_bytes: usize,
    response: Pending,
}

impl Responder {
    pub(super) fn new(requests: Requests) -> Self {
        Self {
            requests,
            missing_bytes: requests.request_bytes as usize,
            response: Pending::default(),
        }
    }
}

impl Role for Responder {
    fn listens(&self) -> bool {
        true
    }

    fn sleeps(&self, _: Protocol) -> bool {
        true
    }

    fn advance(&mut self, end: &mut End<'_>) -> Result<Progress, Failure> {
        while self.response.flush(end) {
            match end.read(self.missing_bytes) {
                None => break,
                Some(Input::End) => {
                    end.finish();
                    return Ok(Progress::Done);
                }
                Some(Input::Bytes(part)) => self.missing_bytes -= part.len(),
            }
            if self.missing_bytes == 0 {
                self.missing_bytes = self.requests.request_bytes as usize;
                self.response = Pending::new(vec![0; self.requests.response_bytes as usize]);
            }
        }
        Ok(Progress::Waiting)
    }
}
