"""A result made by hand: WiFi at 40 Mbit/s, Ethernet at 90 that fails from 8 to 12 s."""

from pathlib import Path

from tests.metrics.plans import carrier, two_paths
from tests.recording.handmade import (
    MILLISECOND,
    SECOND,
    Protocol,
    description,
    manifest,
    record,
    result,
    transfer,
)

from mptcplab.recording import Result
from mptcplab.recording.result import Reference

FAILURE = carrier(8 * SECOND, "eth fails", 1, up=False)
RETURN = carrier(12 * SECOND, "eth is back", 1, up=True)
VARIANTS: list[tuple[str, Protocol]] = [
    ("tcp-wifi", "tcp"),
    ("tcp-eth", "tcp"),
    ("mptcp", "mptcp"),
]
PATHS = {"tcp-wifi": ("wifi",), "tcp-eth": ("eth",), "mptcp": ("wifi", "eth")}
ADDRESS = {"wifi": "10.0.1", "eth": "10.0.2"}


def sample(
    folder: Path, repetitions: int = 3, engine: str = "kernel", wifi_mbps: int = 40
) -> Result:
    """Repetition n of WiFi carries 40 + n Mbit/s, Ethernet always 90 while it is up."""
    made = result(
        folder,
        description(
            VARIANTS,
            repetitions,
            engine=engine,
            expect=(
                "mptcp.goodput >= 0.95 * (tcp-wifi.goodput + tcp-eth.goodput)",
                "mptcp.recovery_s > 1 s",
                "mptcp.completion_s < 1 s",
            ),
            reference=(
                Reference(variant="mptcp", metric="goodput", value=146.0, unit="Mbit/s"),
                Reference(
                    variant="mptcp", metric="recovery_s.eth", value=15.0, unit="s", note="table 6.4"
                ),
            ),
        ),
    )
    for name, protocol in VARIANTS:
        for repetition in range(1, repetitions + 1):
            rows = course(PATHS[name], protocol, wifi_mbps + repetition)
            warnings = ("eth: the interface lost its carrier",) if name == "tcp-eth" else ()
            header = manifest(name, protocol, repetition, two_paths(FAILURE, RETURN), warnings)
            record(made.recording_folder(name, repetition), rows, header)
    return made


def course(
    paths: tuple[str, ...], protocol: Protocol, wifi_mbps: int
) -> dict[str, list[dict[str, object]]]:
    tables: dict[str, list[dict[str, object]]] = {
        "transfers": [],
        "deliveries": [],
        "subflow_samples": [],
        "interface_samples": [],
        "link_samples": [],
        "events": [
            {"t_ns": 8 * SECOND, "kind": "link", "subject": "eth", "label": "eth fails"},
            {"t_ns": 12 * SECOND, "kind": "link", "subject": "eth", "label": "eth is back"},
        ],
    }
    carried = dict.fromkeys(paths, 0)
    for step in range(2000):
        t_ns = step * 10 * MILLISECOND
        rates = {"wifi": wifi_mbps, "eth": 0 if 8 * SECOND <= t_ns < 13 * SECOND else 90}
        delivered = sum(rates[path] * 1250 for path in paths)
        if delivered:
            tables["deliveries"].append(
                {"traffic": "bulk", "index": 0, "way": "down", "t_ns": t_ns, "bytes": delivered}
            )
        for path in paths:
            carried[path] += rates[path] * 1250
        if step % 10 == 9:
            for path in paths:
                sample_path(tables, path, t_ns + 10 * MILLISECOND, carried[path], rates[path])
    row = transfer(protocol=protocol, end_ns=20 * SECOND, bytes=sum(carried.values()))
    tables["transfers"].append(row)
    return tables


def sample_path(
    tables: dict[str, list[dict[str, object]]], path: str, t_ns: int, carried: int, rate: int
) -> None:
    client, server = f"{ADDRESS[path]}.1:4000", f"{ADDRESS[path]}.2:5001"
    tables["interface_samples"].append(
        {
            "t_ns": t_ns,
            "node": "client",
            "interface": path,
            "rx_bytes": carried * 1500 // 1448,
            "tx_bytes": carried // 60,
        }
    )
    tables["subflow_samples"] += [
        {
            "t_ns": t_ns,
            "node": "client",
            "token": 1,
            "subflow": f"{client}-{server}",
            "bytes_received": carried,
            "bytes_acked": 1,
        },
        {
            "t_ns": t_ns,
            "node": "server",
            "token": 2,
            "subflow": f"{server}-{client}",
            "bytes_received": 1,
            "bytes_acked": carried + 2,
            "bytes_retrans": carried // 1000,
            "rtt_us": 10_000 + (t_ns // MILLISECOND % 1000) * rate // 10,
        },
    ]
    for source, target, queued in (("server", "client", rate // 2), ("client", "server", 0)):
        tables["link_samples"].append(
            {
                "t_ns": t_ns,
                "link": path,
                "from": f"{source}.{path}",
                "to": f"{target}.{path}",
                "queued_packets": queued,
                "delivered_bytes": carried if source == "server" else carried // 60,
                "rate_bps": 100_000_000,
            }
        )
