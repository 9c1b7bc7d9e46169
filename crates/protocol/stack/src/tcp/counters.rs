//! Counters of one TCP connection, by the names of `/proc/net/snmp` and `/proc/net/netstat`.

crate::counters::counters! {
    /// Counters of one TCP connection.
    pub(crate) struct TcpCounters {
        /// Segments received.
        segments_in = "TcpInSegs",
        /// Segments sent, without those sent again.
        segments_out = "TcpOutSegs",
        /// Segments sent again.
        retransmitted = "TcpRetransSegs",
        /// Resets sent.
        resets_out = "TcpOutRsts",
        /// Established connections that were reset.
        established_resets = "TcpEstabResets",
        /// Handshakes that failed.
        failed_attempts = "TcpAttemptFails",
        /// Segments dropped as older than one with a later timestamp (RFC 7323, section 5).
        old_timestamps = "TcpExtPAWSEstab",
        /// Acknowledgements sent by the delayed-ACK timer.
        delayed_acks = "TcpExtDelayedACKs",
        /// Connections that ended in TIME-WAIT.
        time_waits = "TcpExtTW",
        /// Retransmission timeouts.
        timeouts = "TcpExtTCPTimeouts",
        /// Tail loss probes sent.
        loss_probes = "TcpExtTCPLossProbes",
        /// Losses that a tail loss probe repaired.
        loss_probe_recoveries = "TcpExtTCPLossProbeRecovery",
        /// Fast recoveries with SACK.
        sack_recoveries = "TcpExtTCPSackRecovery",
        /// Fast recoveries without SACK.
        reno_recoveries = "TcpExtTCPRenoRecovery",
        /// Retransmissions in fast recovery.
        fast_retransmissions = "TcpExtTCPFastRetrans",
        /// Retransmissions in the slow start after a timeout.
        slow_start_retransmissions = "TcpExtTCPSlowStartRetrans",
        /// Retransmissions that were lost in turn.
        lost_retransmissions = "TcpExtTCPLostRetransmit",
        /// Timeouts that F-RTO found to be spurious.
        spurious_timeouts = "TcpExtTCPSpuriousRTOs",
        /// Recoveries undone by timestamps at their end.
        full_undos = "TcpExtTCPFullUndo",
        /// Recoveries undone by D-SACK.
        duplicate_sack_undos = "TcpExtTCPDSACKUndo",
        /// Timeouts undone.
        loss_undos = "TcpExtTCPLossUndo",
        /// Reordering found by SACK.
        sack_reorderings = "TcpExtTCPSACKReorder",
        /// D-SACK blocks received.
        duplicate_sacks_in = "TcpExtTCPDSACKRecv",
        /// Segments that they tell of.
        duplicate_segments_in = "TcpExtTCPDSACKRecvSegs",
        /// D-SACK blocks sent for data that had been acknowledged.
        duplicate_sacks_old = "TcpExtTCPDSACKOldSent",
        /// D-SACK blocks sent for data beyond a hole.
        duplicate_sacks_early = "TcpExtTCPDSACKOfoSent",
        /// Scoreboards thrown away as the peer had forgotten data.
        reneged = "TcpExtTCPSACKReneging",
        /// Segments beyond a hole that were kept.
        queued_early = "TcpExtTCPOFOQueue",
        /// Segments beyond a hole that found no room.
        dropped_early = "TcpExtTCPOFODrop",
        /// Challenge ACKs (RFC 5961).
        challenges = "TcpExtTCPChallengeACK",
        /// Challenge ACKs for a SYN.
        syn_challenges = "TcpExtTCPSYNChallenge",
        /// Keepalive probes sent.
        keepalives = "TcpExtTCPKeepAlive",
        /// Zero-window probes sent.
        window_probes = "TcpExtTCPWinProbe",
        /// Windows advertised as closed.
        zero_windows = "TcpExtTCPToZeroWindowAdv",
        /// Windows opened again.
        reopened_windows = "TcpExtTCPFromZeroWindowAdv",
        /// Connections aborted with unread data, or by data after the application had gone.
        aborted_on_data = "TcpExtTCPAbortOnData",
        /// Connections given up for want of an answer.
        aborted_on_timeout = "TcpExtTCPAbortOnTimeout",
        /// Data segments sent.
        original_data = "TcpExtTCPOrigDataSent",
        /// Segments delivered to the peer.
        delivered = "TcpExtTCPDelivered",
        /// Of these with an ECN echo.
        delivered_ce = "TcpExtTCPDeliveredCE",
    }
}
