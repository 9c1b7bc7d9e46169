//! A better path for a subflow that carries.
//!
//! The rest of the transfer takes a time over the paths that its subflows have, each at the rate
//! at which it does carry, and another time if the subflow were elsewhere: on a path that is free, at
//! the rate that others leave there, or with another subflow of its connection, which then adds
//! nothing to that path and no longer waits for this one. The second time is not less than what is in
//! the queues of the old path takes to arrive by it, and the move costs a round trip. The subflow moves
//! where it is the shorter one by more than measurements are wrong.

use super::super::completion::{Completions, ModelPath, Transfer};
use super::super::{Carrying, PathView, Request};
use super::{LEAST_ROUND_TRIP_S, MOST_PATHS, Subflow, model};
use crate::place::Link;

/// The part of the time which must be left: a window of CUBIC that has lost a segment is 0.7 of what
/// it was (RFC 9438, section 4.6), and so may be any rate that was measured.
const WORTH: f64 = 0.7;

/// The part which must be left of the time at the rates that were measured last.
const MEASURED: f64 = 0.9;

/// The part of its fair share of a path below which a transfer of one subflow carries all that it has,
/// as a stream of a fixed rate does: another path would not make it faster, and new transfers would
/// meet it there.
const WANTS_MORE: f64 = 0.5;

/// The path that the subflow moves to, if one is worth it.
pub(super) fn path<'a>(
    completions: &mut Completions,
    request: &Request<'a>,
    carrying: &Carrying<'_>,
) -> Option<&'a PathView> {
    let carried = request.carried_bytes;
    // Of a transfer whose size is not known as much is expected to come as was carried.
    let left = request
        .bytes
        .map_or(carried, |bytes| bytes.saturating_sub(carried));
    if left == 0 || request.subflows.is_empty() && !wants_more(carrying) {
        return None;
    }
    let transfer = Transfer {
        bytes: left as f64,
        among: request.disjoint.len().min(MOST_PATHS),
        is_alone: false,
    };
    let waits_s = carrying.waits_ns as f64 / 1e9;
    let others = others(request, carrying);
    let round_trip_s = model(carrying.path, Subflow::Coming).round_trip_s;
    let own = ModelPath {
        // Data in its queue hold up those of other subflows, where there are any.
        round_trip_s: round_trip_s + if others.is_empty() { 0.0 } else { waits_s },
        rate: rate(carrying.rate_bps),
    };
    let now = with(&others, &carrying.path.links, own);
    let stays_s = time_s(completions, transfer, &now, f64::INFINITY);
    // Whatever the model says, it takes about as long as at the rates at which its subflows do carry.
    let carried_bps = carrying.rate_bps + carrying.others_bps.iter().sum::<u64>();
    let carried_s = transfer.bytes / rate(carried_bps) + waits_s;
    let limit_s = (WORTH * stays_s - round_trip_s).min(MEASURED * carried_s);
    let mut best = (limit_s, None);
    let elsewhere = request.disjoint.iter();
    for path in elsewhere.filter(|path| path.links != carrying.path.links) {
        let then = with(&others, &path.links, model(path, Subflow::Coming));
        let time_s = time_s(completions, transfer, &then, best.0).max(waits_s);
        if time_s < best.0 {
            best = (time_s, Some(path));
        }
    }
    best.1
}

/// Whether a subflow carries about as much as its path lets it.
fn wants_more(carrying: &Carrying<'_>) -> bool {
    let fair_bps = |bps: u64| bps as f64 / carrying.sharing.max(1) as f64;
    let bps = carrying.path.bandwidth_bps.map(fair_bps);
    bps.is_none_or(|fair_bps| carrying.rate_bps as f64 >= WANTS_MORE * fair_bps)
}

/// A path and what it carries.
type Loaded<'a> = (&'a [Link], ModelPath);

/// The paths of the other subflows, each once, at the rates of all that have it. Where this one has
/// it, too, they have its rate when it is gone.
fn others<'a>(request: &Request<'a>, carrying: &Carrying<'_>) -> Vec<Loaded<'a>> {
    let mut paths: Vec<Loaded<'_>> = Vec::new();
    for (subflow, bps) in request.subflows.iter().zip(carrying.others_bps) {
        let links = &subflow.links[..];
        let rate = rate(*bps);
        if let Some((_, path)) = paths.iter_mut().find(|(own, _)| *own == links) {
            path.rate += rate;
            continue;
        }
        let mut own = ModelPath {
            rate,
            round_trip_s: LEAST_ROUND_TRIP_S,
        };
        if let Some(view) = request.disjoint.iter().find(|path| path.links == links) {
            let fair = model(view, Subflow::Carrying);
            own.round_trip_s = fair.round_trip_s;
            if !view.is_busy {
                // It could carry more.
                own.rate = rate.max(fair.rate);
            }
        }
        paths.push((links, own));
    }
    let own = &carrying.path.links;
    if let Some((_, path)) = paths.iter_mut().find(|(links, _)| links == own) {
        path.rate += rate(carrying.rate_bps);
    }
    paths
}

/// Paths and another one, unless it is one of them.
fn with<'a>(paths: &[Loaded<'a>], links: &'a [Link], path: ModelPath) -> Vec<Loaded<'a>> {
    let mut paths = paths.to_vec();
    if paths.iter().all(|(own, _)| *own != links) {
        paths.push((links, path));
    }
    paths
}

/// The time of a transfer, which goes by the widest path first.
fn time_s(
    completions: &mut Completions,
    transfer: Transfer,
    paths: &[Loaded<'_>],
    limit_s: f64,
) -> f64 {
    let mut models: Vec<ModelPath> = paths.iter().map(|(_, path)| *path).collect();
    models.sort_by(|one, other| other.rate.total_cmp(&one.rate));
    completions.time_s(transfer, &models, limit_s)
}

/// Bytes a second; nothing would never end.
fn rate(bps: u64) -> f64 {
    bps.max(1) as f64 / 8.0
}

#[cfg(test)]
mod tests;
