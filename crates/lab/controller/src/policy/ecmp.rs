//! Equal-cost multipath: a hash of addresses and ports chooses among the shortest paths.

use std::net::IpAddr;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{PathView, Policy, Request};
use crate::subflows::Flow;

/// Each subflow takes the shortest path that its hash says, whatever the others take.
#[derive(Clone, Copy, Debug)]
pub struct Ecmp {
    seed: u64,
}

impl Ecmp {
    /// A policy whose hash has a seed.
    pub fn new(seed: u64) -> Self {
        Self { seed }
    }
}

impl Policy for Ecmp {
    fn name(&self) -> &'static str {
        "ecmp"
    }

    fn choose<'a>(&mut self, request: &Request<'a>) -> Option<&'a PathView> {
        let count = request.equal_cost.len() as u64;
        let index = hash(&request.flow, self.seed).checked_rem(count)?;
        request.equal_cost.get(index as usize)
    }
}

/// A hash of addresses, protocol and ports: XXH3, the same on every machine.
fn hash(flow: &Flow, seed: u64) -> u64 {
    let mut bytes = Vec::with_capacity(37);
    for address in [flow.source, flow.destination] {
        match address {
            IpAddr::V4(v4) => bytes.extend(v4.octets()),
            IpAddr::V6(v6) => bytes.extend(v6.octets()),
        }
    }
    bytes.push(flow.protocol);
    bytes.extend(flow.source_port.to_be_bytes());
    bytes.extend(flow.destination_port.to_be_bytes());
    xxh3_64_with_seed(&bytes, seed)
}
