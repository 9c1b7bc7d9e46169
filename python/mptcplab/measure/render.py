"""A probe's figures as JSON, and as the tables of a terminal and a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from mptcplab.measure.figures import Figures, SizeFigures
from mptcplab.measure.passing import Passing, SynData
from mptcplab.measure.plan import Direction
from mptcplab.measure.survival import EVIDENCE
from mptcplab.measure.transfer import Transfer
from mptcplab.measure.verdict import verdict
from mptcplab.measure.words import UNKNOWN, shown, size_words
from mptcplab.metrics.statistics import Estimate


@dataclass(frozen=True)
class Table:
    """Words in rows."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    words: tuple[int, ...] = (0,)
    """Numbers of the columns that hold words; the others hold figures."""


@dataclass(frozen=True)
class Why:
    """Why MPTCP was as slow as it was, and what to change, in words."""

    sentences: tuple[str, ...]
    tables: tuple[Table, ...] = ()
    settings: tuple[str, ...] = ()
    """Commands of the best change."""

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Why:
        """Reads what `dataclasses.asdict` made."""
        tables = tuple(Table(**one) for one in told["tables"])
        return cls(tuple(told["sentences"]), tables, tuple(told["settings"]))


def to_json(figures: Figures) -> dict[str, Any]:
    """The form that `docs/json.md` describes."""
    value = {
        "paths": [_path(figures, number) for number in range(len(figures.paths))],
        "mptcp": _mptcp(figures),
        "benefit": _benefit(figures),
        "verdict": verdict(figures),
    }
    return value | ({"partial": True} if figures.partial is not None else {})


def estimate_json(one: Estimate) -> dict[str, Any]:
    """Mean, interval and samples."""
    return {
        "mean": one.mean,
        "ci95": None if one.ci95 is None else list(one.ci95),
        "samples": list(one.samples),
    }


def _path(figures: Figures, number: int) -> dict[str, Any]:
    one, passed = figures.survival[number], figures.passing[number]
    largest = {direction: _largest(figures, direction) for direction in Direction}
    goodput = {
        direction: None if size is None else estimate_json(size.path_goodputs[number])
        for direction, size in largest.items()
    }
    return {
        "interface": figures.paths[number].interface,
        "mptcp": {
            "capable": one.capable,
            "join": one.join,
            "join_unknown": one.unknown,
            "stripped": list(one.stripped),
            "checksum": passed.checksum,
            "checksum_unknown": passed.checksum_unknown,
            "wrong_checksums": passed.wrong_checksums,
        },
        "payload": {
            "unchanged": passed.payload,
            "unknown": passed.payload_unknown,
            "changed_bytes": passed.changed_bytes,
        },
        "syn_data": {
            "tcp": passed.tcp_syn,
            "tcp_unknown": passed.tcp_syn_unknown,
            "mptcp": passed.mptcp_syn,
            "mptcp_unknown": passed.mptcp_syn_unknown,
            "mptcp_fell_back": passed.fell_back,
        },
        "down_mbps": goodput[Direction.DOWN],
        "up_mbps": goodput[Direction.UP],
        "rtt_ms": estimate_json(figures.idle_rtt[number])
        | {"loaded": estimate_json(figures.loaded_rtt[number])},
    }


def _mptcp(figures: Figures) -> dict[str, Any]:
    largest = {direction: _largest(figures, direction) for direction in Direction}
    return {
        "endpoints": figures.endpoints,
        "add_addr": figures.add_addr,
        "evidence": EVIDENCE,
        "used_bytes": figures.used_bytes,
        "rate_limit_mbps": figures.rate_limit_mbps,
        "congestion_control": figures.congestion_control,
        "other_addresses": sorted(figures.other_addresses),
        "settings": None if figures.settings is None else asdict(figures.settings),
    } | {
        f"{direction}_mbps": None if size is None else estimate_json(size.mptcp_goodput)
        for direction, size in largest.items()
    }


def _benefit(figures: Figures) -> dict[str, Any]:
    names = [path.interface for path in figures.paths]
    return {
        direction.value: [_size(one, names) for one in figures.sizes[direction]]
        for direction in Direction
    }


def _size(one: SizeFigures, names: Sequence[str]) -> dict[str, Any]:
    return {
        "bytes": one.size_bytes,
        "aggregation": estimate_json(one.aggregation),
        "delay": estimate_json(one.delay),
        "mptcp_s": estimate_json(one.mptcp_time),
        "mptcp_unfinished": one.unfinished,
        "mptcp_protocols": [_protocol(transfer) for transfer in one.mptcp],
        "mptcp_first_paths": [_first(transfer, names) for transfer in one.mptcp],
        "mptcp_on_other_paths": one.on_other_paths,
        "mptcp_subflows": [transfer and transfer.subflows for transfer in one.mptcp],
        "paths_s": [estimate_json(time) for time in one.path_times],
        "at_once_mbps": estimate_json(one.at_once_goodput),
    }


def _first(one: Transfer | None, names: Sequence[str]) -> str | None:
    return None if one is None or one.begin is None else names[one.begin]


def _protocol(one: Transfer | None) -> str | None:
    if one is None or one.is_mptcp is None:
        return None
    return "mptcp" if one.is_mptcp else "tcp"


def _largest(figures: Figures, direction: Direction) -> SizeFigures | None:
    sizes = figures.sizes[direction]
    return sizes[-1] if sizes else None


def tables(figures: Figures) -> list[Table]:
    """The paths, and the transfers of each size."""
    every = [
        Table("Paths", _PATH_HEAD, tuple(_path_rows(figures)), _PATH_NOTE),
        Table("What else passes", _PASSING_HEAD, tuple(_passing_rows(figures)), _PASSING_NOTE),
    ]
    names = tuple(path.interface for path in figures.paths)
    for direction in Direction:
        rows = tuple(_size_row(one) for one in figures.sizes[direction])
        if not rows:
            continue
        head = ("size", *(f"TCP {name} s" for name in names), "MPTCP s", *_BENEFITS)
        title = f"Time of transfers {direction.value}"
        every.append(Table(title, head, rows, _BENEFIT_NOTE))
    return every


_PATH_HEAD = (
    "path", "MP_CAPABLE", "MP_JOIN", "taken out", "down Mbit/s", "up Mbit/s", "RTT ms", "loaded ms",
)  # fmt: skip
_PATH_NOTE = f"By {EVIDENCE}."
_BENEFITS = ("aggregation benefit", "delay benefit")
_BENEFIT_NOTE = "Benefits: 1 is the ideal sum of all paths, 0 the best path alone, below 0 worse."
_WORDS = {True: "yes", False: "no", None: UNKNOWN}


def _path_rows(figures: Figures) -> list[tuple[str, ...]]:
    rows = []
    for number, one in enumerate(figures.survival):
        sizes = [_largest(figures, direction) for direction in Direction]
        goodputs = [None if size is None else size.path_goodputs[number] for size in sizes]
        rtts = (figures.idle_rtt[number], figures.loaded_rtt[number])
        figured = [shown(value) for value in (*goodputs, *rtts)]
        name = figures.paths[number].interface
        stripped = ", ".join(one.stripped) or UNKNOWN
        rows.append((name, _WORDS[one.capable], _WORDS[one.join], stripped, *figured))
    return rows


_PASSING_HEAD = ("path", "payload", "checksums", "data in SYN: TCP", "data in SYN: MPTCP")
_PASSING_NOTE = (
    "By payload that both ends compare, checksums of MPTCP that were wrong (MPTcpExtDataCsumErr), "
    "and whether the SYN/ACK acknowledged data of the SYN (TCP Fast Open)."
)
_NOT_TESTED = "not tested"
_PAYLOAD_WORDS = {True: "unchanged", False: "changed"}
_CHECKSUM_WORDS = {True: "right", False: "wrong"}
_SYN_WORDS = {
    SynData.ACKNOWLEDGED: "acknowledged",
    SynData.REFUSED: "refused",
    SynData.DROPPED: "taken out",
    SynData.STRIPPED: "option taken out",
    SynData.LOST: "SYN lost",
}


def _passing_rows(figures: Figures) -> list[tuple[str, ...]]:
    return [
        (path.interface, *_passing_words(one))
        for path, one in zip(figures.paths, figures.passing, strict=True)
    ]


def _passing_words(one: Passing) -> tuple[str, ...]:
    fates = [
        _NOT_TESTED if fate is None else _SYN_WORDS[fate] for fate in (one.tcp_syn, one.mptcp_syn)
    ]
    if one.mptcp_syn is not None and one.fell_back:
        fates[1] += ", then TCP"
    payload = _NOT_TESTED if one.payload is None else _PAYLOAD_WORDS[one.payload]
    checksum = _NOT_TESTED if one.checksum is None else _CHECKSUM_WORDS[one.checksum]
    return (payload, checksum, *fates)


def _size_row(one: SizeFigures) -> tuple[str, ...]:
    figured = (*one.path_times, one.mptcp_time, one.aggregation, one.delay)
    return (size_words(one.size_bytes), *(shown(value) for value in figured))
