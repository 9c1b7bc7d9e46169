//! Paths as policies see them.

use super::Path;
use crate::controller::Controller;
use crate::place::{Link, PortRef};
use crate::policy::PathView;

impl Controller {
    /// A path between the ports of two hosts.
    pub(crate) fn path_view(&self, path: &Path, ends: [PortRef; 2]) -> PathView {
        let links = path.iter().map(|link| self.rate_bps(link));
        let rates = links.chain(ends.iter().map(|end| self.port_rate_bps(*end)));
        let delays = path.iter().map(|link| self.delay_of(link));
        let delay_ns = delays.clone().map(|delay| delay.map(|(least, _)| least));
        PathView {
            links: path.to_vec(),
            bandwidth_bps: rates.flatten().min(),
            delay_ns: delay_ns.sum(),
            queueing_ns: delays.flatten().map(|(_, queueing)| queueing).sum(),
            load_bps: path
                .iter()
                .map(|link| self.load_bps(link))
                .max()
                .unwrap_or(0),
            subflows: path
                .iter()
                .map(|link| self.link_use.count(link))
                .max()
                .unwrap_or(0),
            new_subflows: path
                .iter()
                .map(|link| self.new_subflows.on(self.now_ns, link))
                .max()
                .unwrap_or(0),
            is_busy: path.iter().any(|link| self.is_busy(link)),
        }
    }

    /// The least delay of a link that was measured, and how much longer the last one was.
    pub(crate) fn delay_of(&self, link: &Link) -> Option<(u64, u64)> {
        let delays = &self.topology.port(link.to)?.peer.as_ref()?.delay;
        let least = delays.least()?;
        Some((least, delays.last()? - least))
    }

    /// The load of a link, as it comes out of it, in the direction that has more; less what transfers can
    /// have carried that are over.
    pub(crate) fn load_bps(&self, link: &Link) -> u64 {
        let load = |at: PortRef| {
            let load = self.topology.port(at).map(|port| port.load)?;
            let past_bps = self
                .past_traffic
                .most_bps(at, load.read_ns, || self.rate_bps(link));
            Some(load.received_bps.saturating_sub(past_bps))
        };
        load(link.from).max(load(link.to)).unwrap_or(0)
    }
}
