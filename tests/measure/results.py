"""Results of experiments as the extension gives them, made up."""

from __future__ import annotations

from typing import Any

from mptcplab.measure.plan import COMPARED_BYTES, Path

PATHS = (Path("wifi", "10.0.1.1", None, 2), Path("lte", "10.0.2.1", None, 3))
SENT = ("mss", "sack-permitted", "timestamps", "window-scale", "mp-capable")


def ended(
    received: int = 0, duration_us: int = 0, moved: int | None = None, sent: int = 0
) -> dict[str, Any]:
    """One end's account of a connection."""
    return {
        "sent_bytes": sent,
        "received_bytes": received,
        "duration_us": duration_us,
        "moved_by_all_bytes": received if moved is None else moved,
        "ended_us": duration_us,
        "samples": [],
        "failure": None,
        "seen": seen(),
        "syn": None,
        "changed_bytes": None,
    }


def seen(*locals_: str, mptcp: bool = False, endpoints: int = 0) -> dict[str, Any]:
    """The kernel's account of a connection."""
    return {
        "mptcp": mptcp,
        "announced": 0,
        "accepted": 0,
        "subflows_allowed": 2 if endpoints else 0,
        "endpoints": endpoints,
        "subflows": [
            {"local": one, "remote": "10.0.9.1:5001", "received_bytes": 1, "sent_bytes": 1}
            for one in locals_
        ],
        "checksum": False if mptcp else None,
        "syn_data_acked": False,
        "fast_open_failure": None,
    }


def seen_by_target(*remotes: str, mptcp: bool = True, allowed: int | None = 2) -> dict[str, Any]:
    """The same at the target."""
    one = seen(*remotes, mptcp=mptcp)
    turned = [one | {"local": one["remote"], "remote": one["local"]} for one in one["subflows"]]
    return one | {"subflows": turned, "subflows_allowed": allowed}


def connection(
    probe: dict[str, Any], target: dict[str, Any] | None, rtts: tuple[int, ...] = ()
) -> dict[str, Any]:
    """Both ends' account."""
    return {
        "failure": None,
        "connect_us": 1,
        "rtts_us": list(rtts),
        "sources": [],
        "refused": False,
        "probe": probe,
        "target": target,
    }


def result(*connections: dict[str, Any]) -> dict[str, Any]:
    """An experiment."""
    return {
        "connections": list(connections),
        "moved_bytes": 0,
        "stopped": False,
        "wrong_checksums": {"probe": 0, "target": 0},
    }


def of_payload(
    changed: int = 0,
    wrong: int = 0,
    came: int = COMPARED_BYTES,
    *locals_: str,
    checksum: bool = False,
    mptcp: bool = True,
) -> dict[str, Any]:
    """An experiment of payload, and its subflows; the changes are of what the target got."""
    ends = []
    for count in (0, changed):
        end = ended(came, sent=COMPARED_BYTES)
        end["changed_bytes"] = count
        end["seen"] = seen(*locals_, mptcp=mptcp)
        end["seen"] |= {"mptcp": mptcp, "checksum": checksum if mptcp else None}
        ends.append(end)
    told = result(connection(ends[0], ends[1]))
    told["wrong_checksums"]["target"] = wrong
    return told


def of_fast_open(
    failure: str | None = None,
    *,
    acked: bool = False,
    names: tuple[str, ...] = ("mss", "fast-open"),
    data: int = 37,
    mptcp: bool = True,
    connections: int = 3,
) -> dict[str, Any]:
    """An experiment of data in the SYN, in which all connections fare alike."""
    found = []
    for number in range(connections):
        probe, target = ended(), ended()
        is_mptcp = mptcp and number == 2
        for end in (probe, target):
            end["seen"]["mptcp"] = is_mptcp
        probe["seen"] |= {"syn_data_acked": acked, "fast_open_failure": failure}
        target["syn"] = None if number == 2 else {"names": list(names), "data_bytes": data}
        found.append(connection(probe, target, (1_000,)))
    return result(*found)


def of_survival(
    names: tuple[str, ...] | None,
    *locals_: str,
    mptcp: bool = True,
    endpoints: int = 2,
    rtt_us: int = 1_000,
) -> dict[str, Any]:
    """An experiment of survival: options that came, and subflows that both ends have."""
    witness = ended()
    witness["syn"] = None if names is None else {"names": list(names)}
    probe, target = ended(), ended()
    probe["seen"] = seen(*locals_, mptcp=mptcp, endpoints=endpoints)
    target["seen"] = seen_by_target(*locals_, mptcp=mptcp)
    rtts = (rtt_us,) * 15
    return result(connection(ended(), witness), connection(probe, target, rtts))
