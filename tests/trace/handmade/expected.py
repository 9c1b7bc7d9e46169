"""Facts about the connections of the captures that are made by hand, as a whole."""

from typing import Any

CONNECTIONS: dict[str, dict[str, Any]] = {
    "v0": {
        "protocol": "mptcp",
        "version": 0,
        "checksums": False,
        "inferred": False,
        "subflows": 2,
        "end": "data_fin",
        "fallback": None,
        "packets": 30,
        "client_bytes": 150,
        "server_bytes": 2500,
        "client_reinjected_bytes": 0,
    },
    "v0-checksums": {
        "version": 0,
        "checksums": True,
        "subflows": 2,
        "client_bytes": 601,
        "client_payload_bytes": 901,
        "client_reinjected_bytes": 300,
        "client_reinjected_won_bytes": 300,
    },
    "v0-ipv6": {
        "version": 0,
        "client_address": "fd00:1::1",
        "server_address": "fd00:9::2",
        "client_bytes": 1000,
        "server_bytes": 1300,
        "end": "open",
    },
    "v0-fast-close": {"version": 0, "end": "fast_close", "client_bytes": 500},
    "v1": {
        "protocol": "mptcp",
        "version": 1,
        "checksums": False,
        "inferred": False,
        "subflows": 2,
        "end": "data_fin",
        "fallback": None,
        "packets": 32,
        "client_bytes": 80,
        "server_bytes": 3610,
        "server_late_bytes": 0,
    },
    "v1-checksums": {
        "version": 1,
        "checksums": True,
        "client_bytes": 33,
        "server_bytes": 1999,
        "server_reinjected_bytes": 1000,
        "server_reinjected_won_bytes": 1000,
        "client_checksums_verified": 1,
        "client_checksums_wrong": 0,
        "server_checksums_verified": 3,
        "server_checksums_wrong": 1,
    },
    "v1-ipv6": {"version": 1, "client_bytes": 1000, "server_bytes": 1300, "end": "open"},
    "v1-infinite": {
        "version": 1,
        "fallback": "infinite_mapping",
        "client_bytes": 100,
        "server_bytes": 1400,
        "end": "fin",
    },
    "v1-reset": {"version": 1, "end": "fast_close", "client_bytes": 200, "subflows": 3},
    "v1-server-joins": {"version": 1, "subflows": 2, "server_bytes": 1000},
    "reinjected": {
        "client_bytes": 3500,
        "client_payload_bytes": 6400,
        "client_reinjected_bytes": 1900,
        "client_reinjected_won_bytes": 1000,
        "client_late_bytes": 0,
    },
    "retransmitted": {"server_bytes": 8000, "server_payload_bytes": 10000},
    "spurious": {"server_bytes": 2000, "server_payload_bytes": 4000},
    "probes": {"protocol": "tcp", "version": None, "client_bytes": 800},
    "wrong-hmac": {"subflows": 4, "client_bytes": 100},
    "unknown-token": {"subflows": 1, "client_bytes": 200},
    "middle": {"inferred": True, "subflows": 2, "server_bytes": 8000, "client_bytes": 0},
    "stripped": {"fallback": "syn_ack_without_mptcp", "end": "fin", "client_bytes": 100},
    "reset-in-syn-sent": {"subflows": 2, "end": "open", "client_bytes": 600, "packets": 14},
    "reset-outside": {"end": "reset", "server_bytes": 2000, "packets": 11},
    "pause": {
        "client_bytes": 700,
        "client_silence_ns": 14_800_000_000,
        "client_recovery_ns": None,
        "client_moves": 0,
    },
    "unacknowledged-end": {"end": "fin", "server_data_fin_acknowledged_ns": None},
    "data-after-data-fin": {"end": "open", "client_bytes": 300, "client_reinjected_bytes": 100},
    "other-key": {"protocol": "mptcp", "client_bytes": 80},
    "reset-alone": {"protocol": "mptcp", "inferred": True, "end": "reset"},
    "without-key": {"inferred": True, "subflows": 1, "server_bytes": 4000, "client_bytes": 0},
    "tcp": {
        "protocol": "tcp",
        "version": None,
        "fallback": None,
        "client_token": None,
        "client_bytes": 110,
        "server_bytes": 1400,
        "end": "fin",
    },
}

_RIGHT = {"hmac_valid": True, "inferred": False}

SUBFLOWS: dict[str, list[dict[str, Any]]] = {
    "v0": [
        {"origin": "initial", "opener": "client", "end": "fin", "hmac_valid": None},
        _RIGHT
        | {
            "origin": "join",
            "opener": "client",
            "client_address": "10.0.2.1",
            "client_address_id": 1,
            "server_address_id": 0,
            "client_backup": True,
            "server_backup": False,
            "priority_changes": 2,
            "client_bytes": 50,
            "server_bytes": 1400,
            "end": "fin",
        },
    ],
    "v0-checksums": [
        {"end": "open", "client_reinjected_bytes": 300},
        _RIGHT | {"end": "reset", "client_bytes": 500},
    ],
    "v0-ipv6": [{"client_bytes": 1000}, _RIGHT | {"server_bytes": 1300}],
    "v1": [
        {"origin": "initial", "end": "fin", "client_bytes": 80, "server_bytes": 1010},
        _RIGHT
        | {
            "origin": "join",
            "opener": "client",
            "announced": True,
            "client_address_id": 1,
            "server_address_id": 2,
            "client_backup": False,
            "server_backup": False,
            "priority_changes": 1,
            "server_bytes": 2600,
            "server_ecn_marked": 1,
            "client_mss": 1400,
            "client_window_shift": 7,
            "handshake_rtt_ns": 11_000_000,
            "end": "fin",
        },
    ],
    "v1-checksums": [{"end": "open"}, _RIGHT | {"end": "reset", "reset_reason": 5}],
    "v1-reset": [
        {"end": "fast_close"},
        _RIGHT | {"end": "reset", "reset_reason": 3},
        {"end": "reset", "reset_reason": 1, "established_ns": None, "hmac_valid": None},
    ],
    "v1-server-joins": [
        {"origin": "initial", "opener": "client"},
        _RIGHT
        | {
            "origin": "join",
            "opener": "server",
            "announced": True,
            "client_address": "10.0.2.1",
            "client_port": 40_001,
            "server_address": "10.0.10.2",
            "client_address_id": 1,
            "server_address_id": 2,
            "server_bytes": 1000,
        },
    ],
    "reinjected": [
        {
            "client_payload_bytes": 4400,
            "client_bytes": 3400,
            "client_retransmissions": 1,
            "client_timeout_retransmissions": 1,
            "client_retransmitted_bytes": 1000,
            "client_reinjected_bytes": 900,
        },
        _RIGHT
        | {
            "client_payload_bytes": 2000,
            "client_retransmissions": 0,
            "client_reinjected_bytes": 1000,
        },
    ],
    "retransmitted": [
        {
            "server_retransmissions": 2,
            "server_fast_retransmissions": 1,
            "server_timeout_retransmissions": 1,
            "server_spurious_retransmissions": 0,
            "server_retransmitted_bytes": 2000,
            "server_out_of_order": 1,
            "server_sack_blocks": 3,
            "server_dsack_blocks": 0,
            "server_duplicate_acknowledgements": 3,
        }
    ],
    "spurious": [
        {
            "server_retransmissions": 2,
            "server_timeout_retransmissions": 2,
            "server_spurious_retransmissions": 1,
            "server_dsack_blocks": 1,
        }
    ],
    "probes": [
        {
            "client_window_probes": 1,
            "client_keep_alives": 2,
            "client_retransmissions": 1,
            "client_zero_windows": 2,
        }
    ],
    "wrong-hmac": [{"hmac_valid": None}, _RIGHT, {"hmac_valid": False}, {"hmac_valid": False}],
    "unknown-token": [{"origin": "initial"}],
    "middle": [{"inferred": True}, {"inferred": True, "origin": "join"}],
    "reset-in-syn-sent": [
        {"end": "open"},
        _RIGHT
        | {
            "end": "open",
            "client_packets": 5,
            "server_packets": 4,
            "client_bytes": 500,
            "client_mss": 1400,
            "client_window_shift": 7,
        },
    ],
    "reset-outside": [{"end": "reset", "server_packets": 5, "client_packets": 6}],
    "without-key": [{"inferred": True, "origin": "join", "server_keep_alives": 1}],
    "tcp": [
        {
            "origin": "initial",
            "opener": "client",
            "end": "fin",
            "client_bytes": 110,
            "client_share": 1.0,
            "server_ecn_marked": 1,
        }
    ],
}
