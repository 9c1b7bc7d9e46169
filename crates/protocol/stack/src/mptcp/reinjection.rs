//! Reinjection: data of a subflow that fails is sent again on others.

use super::connection::Connection;

impl Connection {
    /// Lets the subflows that are left send all that the peer has not acknowledged, and a DATA_FIN
    /// that went with it. Which of them has some of it on its way does not count; what the peer has
    /// it acknowledges meanwhile.
    ///
    /// Source: `__mptcp_retransmit_pending_data` in Linux 6.18, net/mptcp/protocol.c.
    pub(super) fn reinject(&mut self) {
        let (from, next) = (self.sender.acknowledged(), self.sender.next());
        // Where every subflow sends all, those that are left do.
        if !self.sends_everything_everywhere() {
            self.sender.ask_again(from, next);
        }
        if from < next && self.sender.fin_went_with_data() {
            self.signal_fin();
        }
        self.scheduling.request();
    }
}
