//! How long a data segment takes through two host stacks: sending, its packet, receiving, the
//! acknowledgement and its way back. Run with `cargo bench -p mptcplab-stack`.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};

use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mptcplab_stack::congestion::CongestionAlgorithm;
use mptcplab_stack::{ConnectionId, Event, HostConfig, HostStack, LocalAddress, SocketOptions};
use mptcplab_wire::Packet;

const DELAY_NS: u64 = 5_000_000;
const SEGMENTS: u64 = 20_000;

/// Two hosts and a wire of 1 Gbit/s with 5 ms each way.
struct Pair {
    now: u64,
    hosts: [HostStack; 2],
    /// Packets on their way to each host.
    wire: [VecDeque<(u64, Box<Packet>)>; 2],
    free_at: [u64; 2],
}

impl Pair {
    fn new() -> Self {
        let host = |index: u8| {
            let mut host = HostStack::new(HostConfig::default(), u64::from(index));
            let local = LocalAddress {
                address: IpAddr::from([10, 0, 0, index]),
                mtu: 1500,
                endpoint: None,
            };
            host.set_addresses(0, &[local]);
            host
        };
        Self {
            now: 0,
            hosts: [host(1), host(2)],
            wire: Default::default(),
            free_at: [0; 2],
        }
    }

    fn step(&mut self) {
        for from in 0..2 {
            while let Some(packet) = self.hosts[from].transmit(self.now) {
                let leaves = self.free_at[from].max(self.now) + packet.ip_bytes() as u64 * 8;
                self.free_at[from] = leaves;
                self.wire[1 - from].push_back((leaves + DELAY_NS, packet));
            }
        }
        let deadline = self.hosts.iter().filter_map(HostStack::next_deadline).min();
        let arrival = |to: usize| self.wire[to].front().map_or(u64::MAX, |entry| entry.0);
        let to = usize::from(arrival(1) < arrival(0));
        match (self.wire[to].pop_front(), deadline) {
            (Some((at, packet)), _) if deadline.is_none_or(|deadline| at <= deadline) => {
                self.now = at;
                self.hosts[to].receive(at, *packet);
            }
            (entry, Some(at)) => {
                if let Some(entry) = entry {
                    self.wire[to].push_front(entry);
                }
                self.now = self.now.max(at);
                for host in &mut self.hosts {
                    host.on_deadline(self.now);
                }
            }
            _ => unreachable!("a transfer always waits for something"),
        }
    }

    fn event(&mut self, host: usize) -> Event {
        loop {
            if let Some(event) = self.hosts[host].poll_event() {
                return event;
            }
            self.step();
        }
    }

    fn establish(&mut self, options: &SocketOptions) -> [ConnectionId; 2] {
        self.hosts[1].listen(80, options.clone());
        let remote = SocketAddr::from(([10, 0, 0, 2], 80));
        let local = IpAddr::from([10, 0, 0, 1]);
        let client = self.hosts[0].connect(0, local, remote, options.clone());
        loop {
            if let Event::Accepted { id, .. } = self.event(1) {
                return [client, id];
            }
        }
    }

    fn transfer(&mut self, ids: [ConnectionId; 2], bytes: u64) {
        let chunk = Bytes::from(vec![7; 1 << 16]);
        let mut read = 0;
        while read < bytes {
            while self.hosts[0].write(self.now, ids[0], chunk.clone()) == chunk.len() {}
            while let Some(data) = self.hosts[1].read(self.now, ids[1], usize::MAX) {
                read += data.len() as u64;
            }
            self.step();
        }
    }
}

fn benches(criterion: &mut Criterion) {
    let options = SocketOptions {
        congestion_control: CongestionAlgorithm::Cubic,
        ..SocketOptions::default()
    };
    let mut group = criterion.benchmark_group("transfer");
    group.throughput(Throughput::Elements(SEGMENTS));
    group.sample_size(20);
    group.bench_function("tcp", |bencher| {
        let mut pair = Pair::new();
        let ids = pair.establish(&options);
        bencher.iter(|| pair.transfer(ids, SEGMENTS * 1448));
    });
    group.finish();
}

criterion_group!(transfer, benches);
criterion_main!(transfer);
