"""Options of a single subflow by their names in C."""

from __future__ import annotations

import socket

_IPPROTO_IPV6 = 41

OPTIONS: dict[str, tuple[int, int]] = {
    "IP_TOS": (socket.IPPROTO_IP, 1),
    "IPV6_TCLASS": (_IPPROTO_IPV6, 67),
    "SO_KEEPALIVE": (socket.SOL_SOCKET, socket.SO_KEEPALIVE),
    "SO_MARK": (socket.SOL_SOCKET, 36),
    "SO_MAX_PACING_RATE": (socket.SOL_SOCKET, 47),
    "SO_PRIORITY": (socket.SOL_SOCKET, 12),
    "SO_RCVBUF": (socket.SOL_SOCKET, socket.SO_RCVBUF),
    "SO_SNDBUF": (socket.SOL_SOCKET, socket.SO_SNDBUF),
    "SO_TXREHASH": (socket.SOL_SOCKET, 74),
    "TCP_CONGESTION": (socket.IPPROTO_TCP, 13),
    "TCP_KEEPCNT": (socket.IPPROTO_TCP, 6),
    "TCP_KEEPIDLE": (socket.IPPROTO_TCP, 4),
    "TCP_KEEPINTVL": (socket.IPPROTO_TCP, 5),
    "TCP_MAXSEG": (socket.IPPROTO_TCP, 2),
    "TCP_NODELAY": (socket.IPPROTO_TCP, 1),
    "TCP_NOTSENT_LOWAT": (socket.IPPROTO_TCP, 25),
    "TCP_SYNCNT": (socket.IPPROTO_TCP, 7),
    "TCP_THIN_LINEAR_TIMEOUTS": (socket.IPPROTO_TCP, 16),
    "TCP_USER_TIMEOUT": (socket.IPPROTO_TCP, 18),
    "TCP_WINDOW_CLAMP": (socket.IPPROTO_TCP, 10),
}
"""Level and number, for Linux on x86-64 and AArch64: what bpf_setsockopt() takes."""
