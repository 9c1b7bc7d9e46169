//! Counters of MPTCP, by the names of the kernel.

crate::counters::counters! {
    /// Counters of one MPTCP connection.
    pub(crate) struct MptcpCounters {
        /// Connections asked for by a peer.
        capable_syn_received = "MPTcpExtMPCapableSYNRX",
        /// Connections asked for here.
        capable_syn_sent = "MPTcpExtMPCapableSYNTX",
        /// SYN/ACKs with MP_CAPABLE received.
        capable_syn_ack_received = "MPTcpExtMPCapableSYNACKRX",
        /// Third ACKs with MP_CAPABLE received.
        capable_ack_received = "MPTcpExtMPCapableACKRX",
        /// Fallbacks of the end that accepted: the third ACK had no MP_CAPABLE.
        fallback_ack = "MPTcpExtMPCapableFallbackACK",
        /// Fallbacks of the end that connected: the SYN/ACK had no MP_CAPABLE.
        fallback_syn_ack = "MPTcpExtMPCapableFallbackSYNACK",
        /// SYNs sent without MP_CAPABLE after some with it had no answer.
        capable_syn_dropped = "MPTcpExtMPCapableSYNTXDrop",
        /// Timeouts of the connection-level retransmission timer that sent data again.
        retransmitted = "MPTcpExtMPTCPRetrans",
        /// Joins with a token that names no connection.
        join_no_token = "MPTcpExtMPJoinNoTokenFound",
        /// SYNs of joins received.
        join_syn_received = "MPTcpExtMPJoinSynRx",
        /// Of these to be backups.
        join_backup_syn_received = "MPTcpExtMPJoinSynBackupRx",
        /// SYN/ACKs of joins received.
        join_syn_ack_received = "MPTcpExtMPJoinSynAckRx",
        /// Of these to be backups.
        join_backup_syn_ack_received = "MPTcpExtMPJoinSynAckBackupRx",
        /// SYN/ACKs of joins with a wrong HMAC.
        join_syn_ack_hmac_failures = "MPTcpExtMPJoinSynAckHMacFailure",
        /// Third ACKs of joins received.
        join_ack_received = "MPTcpExtMPJoinAckRx",
        /// Third ACKs of joins with a wrong HMAC.
        join_ack_hmac_failures = "MPTcpExtMPJoinAckHMacFailure",
        /// Joins refused, as there were enough subflows.
        join_rejected = "MPTcpExtMPJoinRejected",
        /// SYNs of joins sent.
        join_syn_sent = "MPTcpExtMPJoinSynTx",
        /// Subflows closed, and fallbacks, as data came without a mapping.
        mapping_missing = "MPTcpExtDSSNoMatchTCP",
        /// Infinite mappings sent.
        infinite_map_sent = "MPTcpExtInfiniteMapTx",
        /// Infinite mappings received.
        infinite_map_received = "MPTcpExtInfiniteMapRx",
        /// Mappings with a wrong checksum.
        checksum_errors = "MPTcpExtDataCsumErr",
        /// Data of the connection that came early.
        early_data = "MPTcpExtOFOQueue",
        /// Data of the connection that had come before.
        duplicate_data = "MPTcpExtDuplicateData",
        /// ADD_ADDR received.
        add_address_received = "MPTcpExtAddAddr",
        /// ADD_ADDR sent.
        add_address_sent = "MPTcpExtAddAddrTx",
        /// Echoes received.
        echo_received = "MPTcpExtEchoAdd",
        /// Echoes sent.
        echo_sent = "MPTcpExtEchoAddTx",
        /// ADD_ADDR not taken.
        add_address_dropped = "MPTcpExtAddAddrDrop",
        /// REMOVE_ADDR received.
        remove_address_received = "MPTcpExtRmAddr",
        /// REMOVE_ADDR sent.
        remove_address_sent = "MPTcpExtRmAddrTx",
        /// Subflows closed as their address was removed.
        removed_subflows = "MPTcpExtRmSubflow",
        /// MP_PRIO sent.
        priority_sent = "MPTcpExtMPPrioTx",
        /// MP_PRIO received.
        priority_received = "MPTcpExtMPPrioRx",
        /// MP_FAIL sent.
        fail_sent = "MPTcpExtMPFailTx",
        /// MP_FAIL received.
        fail_received = "MPTcpExtMPFailRx",
        /// MP_FASTCLOSE sent.
        fast_close_sent = "MPTcpExtMPFastcloseTx",
        /// MP_FASTCLOSE received.
        fast_close_received = "MPTcpExtMPFastcloseRx",
        /// MP_TCPRST sent.
        reset_sent = "MPTcpExtMPRstTx",
        /// MP_TCPRST received.
        reset_received = "MPTcpExtMPRstRx",
        /// Subflows found to be stale.
        stale = "MPTcpExtSubflowStale",
        /// Stale subflows that came back.
        recovered = "MPTcpExtSubflowRecover",
        /// Connections that are established now: a gauge. As in Linux, one that this end writes
        /// nothing more to does not count.
        established = "MPTcpExtMPCurrEstab",
    }
}
