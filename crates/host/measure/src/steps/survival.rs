//! Whether MPTCP survives on paths, as far as that decides which steps come next.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use crate::client::{Measured, Outcome, Path};
use crate::message::Seen;

const MP_CAPABLE: &str = "mp-capable";
/// A SYN that was lost is sent again after a second, and then after two more.
const ENOUGH: Duration = Duration::from_secs(3);

/// The two connections of a step of survival.
pub(super) struct Observation<'a> {
    /// Number of the path on which they began.
    pub(super) path: usize,
    witness: &'a Outcome,
    mptcp: &'a Outcome,
    /// Time that subflows had to join.
    time: Duration,
}

impl<'a> Observation<'a> {
    /// That of a result; none where it has not both connections.
    pub(super) fn of(path: usize, interval_ms: u32, result: &'a Measured) -> Option<Self> {
        let [witness, mptcp] = &result.connections[..] else {
            return None;
        };
        let echoes = mptcp.rtts_us.iter().map(|rtt| Duration::from_micros(*rtt));
        let interval = Duration::from_millis(interval_ms.into());
        Some(Self {
            path,
            witness,
            mptcp,
            time: echoes.map(|rtt| rtt + interval).sum(),
        })
    }

    /// Both ends say that it is MPTCP; none where the connection did not come to be at all.
    pub(super) fn is_capable(&self) -> Option<bool> {
        let target = self.mptcp.target.as_ref()?;
        Some(self.mptcp.probe.seen.mptcp && target.seen.mptcp)
    }

    /// Local addresses here, those that the target sees, and the number of its subflows.
    fn subflows(&self) -> (Vec<IpAddr>, Vec<IpAddr>, usize) {
        match &self.mptcp.target {
            Some(target) if self.is_capable() == Some(true) => {
                let ours = self.mptcp.probe.seen.subflows.iter();
                let theirs = &target.seen.subflows;
                (
                    distinct(ours.filter_map(|one| address(&one.local))),
                    distinct(theirs.iter().filter_map(|one| address(&one.remote))),
                    theirs.len(),
                )
            }
            _ => (Vec::new(), Vec::new(), 0),
        }
    }

    /// A subflow from this address is known to both ends.
    fn has_joined(&self, source: IpAddr) -> bool {
        let (ours, known, theirs) = self.subflows();
        ours.contains(&source) && (theirs >= ours.len() || known.contains(&source))
    }

    /// A subflow from this address, of which the target may see another address (NAT).
    fn is_unsure(&self, source: IpAddr) -> bool {
        let (ours, known, theirs) = self.subflows();
        // Each one that the target has is known by its address: it has no other one.
        let is_clear = theirs == ours.iter().filter(|one| known.contains(one)).count();
        !is_clear && ours.contains(&source) && !self.has_joined(source)
    }

    /// Either end allows no further subflow, or does not tell.
    fn is_at_limit(&self) -> bool {
        let target = self.mptcp.target.iter().map(|ended| &ended.seen);
        let mut ends = target.chain([&self.mptcp.probe.seen]);
        ends.any(|seen: &Seen| {
            let allowed = seen.subflows_allowed.map(usize::from);
            allowed.is_none_or(|allowed| seen.subflows.len() > allowed)
        })
    }
}

/// The paths on which MPTCP survives, in their order.
pub(super) fn capable(trials: &[Observation<'_>]) -> Vec<usize> {
    let capable = trials.iter().filter(|one| one.is_capable() == Some(true));
    let mut paths: Vec<_> = capable.map(|one| one.path).collect();
    paths.sort_unstable();
    paths.dedup();
    paths
}

/// The path on which MPTCP begins in a repetition: those on which it survives take turns, and the
/// seed says which one is first. The first path of all where it survives on none.
pub(super) fn begin(capable: &[usize], repetition: u32, seed: u64) -> usize {
    let count = capable.len().max(1) as u64;
    let place = (seed % count + u64::from(repetition)) % count;
    capable.get(place as usize).copied().unwrap_or(0)
}

/// The reason, a sentence without its stop, for which MPTCP is to be had on no path.
pub(super) fn no_mptcp(trials: &[Observation<'_>]) -> Option<String> {
    let came: Vec<_> = trials.iter().map(Observation::is_capable).collect();
    if trials.is_empty() || came.contains(&Some(true)) {
        return None;
    }
    if came.iter().all(Option::is_none) {
        let mut failures = trials.iter().filter_map(|one| one.mptcp.failure.as_deref());
        let reason = failures.next().unwrap_or("the target saw none");
        return Some(format!("No connection by MPTCP came to be: {reason}"));
    }
    let targets = trials.iter().filter_map(|one| one.witness.target.as_ref());
    let mut syns = targets.filter_map(|ended| ended.syn.as_ref());
    let more = match syns.any(|syn| syn.names.iter().any(|name| name == MP_CAPABLE)) {
        true => ", and its SYN came: the target's kernel may have none",
        false => "",
    };
    Some(format!("No connection was MPTCP at both ends{more}"))
}

/// Whether a longer trial that begins on this path tells more about joins over others. `endpoints`
/// are the addresses that are endpoints of the path manager, where that is known.
pub(super) fn is_second_look_wanted(
    path: usize,
    paths: &[Path],
    endpoints: Option<&[IpAddr]>,
    trials: &[Observation<'_>],
) -> bool {
    let is_capable = |one: &Observation<'_>| one.path == path && one.is_capable() == Some(true);
    let Some(endpoints) = endpoints else {
        return false;
    };
    trials.iter().any(is_capable)
        && (0..paths.len()).any(|other| {
            other != path && is_left_open(other, paths[other].source, endpoints, trials)
        })
}

/// No subflow joined over a path, and the only trial in which one could have was a short one.
fn is_left_open(
    path: usize,
    source: IpAddr,
    endpoints: &[IpAddr],
    trials: &[Observation<'_>],
) -> bool {
    let is_other = |one: &&Observation<'_>| one.path != path && one.is_capable() == Some(true);
    let others: Vec<_> = trials.iter().filter(is_other).collect();
    let is_settled = others
        .iter()
        .any(|one| one.has_joined(source) || one.is_unsure(source));
    if is_settled || !endpoints.contains(&source) {
        return false;
    }
    let free: Vec<_> = others.iter().filter(|one| !one.is_at_limit()).collect();
    matches!(free[..], [only] if only.time <= ENOUGH)
}

/// The address of `10.0.0.1:80` or `[::1]:80`.
fn address(place: &str) -> Option<IpAddr> {
    let place: SocketAddr = place.parse().ok()?;
    Some(place.ip().to_canonical())
}

fn distinct(addresses: impl Iterator<Item = IpAddr>) -> Vec<IpAddr> {
    let mut found: Vec<_> = addresses.collect();
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests;
