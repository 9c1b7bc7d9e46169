"""Does a link do what it was set to? Measured by packets that carry their number and time.

10 ms, packets of 1500 bytes with Ethernet's framing. Four runs a repetition at 100 Mbit/s: half
loaded (delay), overloaded (rate, queue), with loss, and with reordering and duplication. One at
1 Gbit/s: half loaded, as the program that sends and notes each packet cannot do more.
"""

from __future__ import annotations

import itertools
import math
import sys
import tempfile
from array import array
from collections import Counter
from pathlib import Path
from typing import Any

from .effort import Effort
from .figures import Figure, figure, quantile
from .model import Wire, arrivals_ns, longest_busy_period
from .one_link import PORT, Outcome, plan, run

_RATE_BPS = 100_000_000
_FAST_BPS = 1_000_000_000
_DELAY_NS = 10_000_000
_IP_BYTES = 1500
_FRAMING_BYTES = 38
_HEADER_BYTES = 28
_LIMIT_PACKETS = 1000
"""Room enough that a sender that is kept from running for a moment leaves the link busy."""
_LOSS = 0.02
_REORDERING = 0.01
_DUPLICATION = 0.01
_HELD_BACK_NS = 5_000_000
_INTERRUPTED_NS = 150_000
"""A packet that took so long to send says nothing about delay: when it left is not known."""
_Z = 3.29
"""Half-width of the binomial interval, standard deviations: one good link in 1000 is outside."""


class Probed:
    """The packets of one run."""

    def __init__(
        self, seed: int, packets: int, load: float, rate_bps: int = _RATE_BPS, **changes: Any
    ) -> None:
        self.wire = Wire(_serialisation_ns(rate_bps), _DELAY_NS, _LIMIT_PACKETS)
        with tempfile.TemporaryDirectory() as folder:
            sent, arrived = Path(folder, "sent"), Path(folder, "arrived")
            probe = [sys.executable, str(Path(__file__).with_name("probe.py"))]
            interval_ns = round(self.wire.serialisation_ns / load)
            sizes = [str(packets), str(interval_ns), str(_IP_BYTES - _HEADER_BYTES)]
            workload = {
                "kind": "command",
                "argv": [*probe, "send", str(sent), "{server}", str(PORT), *sizes],
                "server_argv": [*probe, "receive", str(arrived), str(PORT)],
                "duration_ns": None,
            }
            settings = _settings(rate_bps) | changes
            self.outcome: Outcome = run(plan(workload, seed=seed, **settings))
            spans = _pairs(sent)
            self.sent_ns = [before for before, _ in spans]
            # The sender lost its processor between looking at the clock and sending, or after it.
            self.interrupted = {
                number
                for number, (before, after) in enumerate(spans)
                if after - before > _INTERRUPTED_NS
            }
            self.arrivals = _pairs(arrived)

    def delays_ns(self) -> list[int]:
        return [
            at - self.sent_ns[number]
            for number, at in self.arrivals
            if number not in self.interrupted
        ]

    def counters(self) -> dict[str, int]:
        """The model's own counters of the way to the server, at the end."""
        ways = [row for row in self.outcome.of("link_samples") if row["from"] == "client.eth"]
        last: dict[str, int] = ways[-1]
        return last


def _serialisation_ns(rate_bps: int) -> int:
    return (_IP_BYTES + _FRAMING_BYTES) * 8 * 1_000_000_000 // rate_bps


def _settings(rate_bps: int) -> dict[str, Any]:
    """Settings of a link of this rate."""
    limits = {"limit_packets": _LIMIT_PACKETS, "limit_bytes": None}
    return {
        "rate": {"kind": "fixed", "bits_per_second": rate_bps},
        "delay_ns": _DELAY_NS,
        "queue": limits | {"discipline": {"kind": "drop_tail"}},
    }


def measure(effort: Effort) -> list[Figure]:
    """All figures, over the runs of about so many seconds each."""
    packets, many = (
        round(effort.seconds * 1e9 / _serialisation_ns(rate)) for rate in (_RATE_BPS, _FAST_BPS)
    )
    seeds = range(1, effort.repeat + 1)
    half = [Probed(seed, packets // 2, 0.5) for seed in seeds]
    over = [Probed(seed, packets, 1.2) for seed in seeds]
    lossy = [
        Probed(seed, packets // 2, 0.5, loss={"kind": "random", "probability": _LOSS})
        for seed in seeds
    ]
    mixed = [
        Probed(
            seed,
            packets // 2,
            0.5,
            reordering={"probability": _REORDERING, "extra_ns": _HELD_BACK_NS},
            duplication=_DUPLICATION,
        )
        for seed in seeds
    ]
    fast = [Probed(seed, many // 2, 0.5, _FAST_BPS) for seed in seeds]
    return [
        *_delay(half),
        *_overload(over),
        *_loss(lossy),
        *_mixed(mixed),
        *_emulator(half),
        *_delay(fast, "1 Gbit/s: "),
        *_emulator(fast, "1 Gbit/s: "),
    ]


def _delay(runs: list[Probed], prefix: str = "") -> list[Figure]:
    """Delay beyond the serialisation and the set 10 ms.

    The sender is a program of this machine: kept from running for a moment it sends a burst, whose
    packets rightly wait for each other. The model says how long; what is beyond is the emulator's.
    """
    added = [
        [(delay - probed.wire.serialisation_ns - _DELAY_NS) / 1e6 for delay in probed.delays_ns()]
        for probed in runs
    ]
    model = [_beyond_model_ms(probed) for probed in runs]
    both = "the same and what the sender's own bursts wait"
    figures = [
        *_quantiles(f"{prefix}delay beyond the model's", model, 0.2, 1),
        *_quantiles(f"{prefix}{both}", added),
    ]
    lost = [float(_missing(probed)) for probed in runs]
    return [*figures, figure(f"{prefix}packets lost at half load", "", lost, 0, 0)]


def _quantiles(
    name: str, runs: list[list[float]], median: float | None = None, most: float | None = None
) -> list[Figure]:
    """Median and 99th percentile of each run, in ms, and how far both may be from 0."""
    return [
        figure(
            f"{name}, {word}",
            "ms",
            [quantile(each, share) for each in runs],
            *((-limit, limit) if limit is not None else ()),
        )
        for word, share, limit in (("median", 0.5, median), ("99th percentile", 0.99, most))
    ]


def _overload(runs: list[Probed]) -> list[Figure]:
    """Rate and queue of a link that is offered a fifth too much."""
    carried, filled = [], []
    for probed in runs:
        model = arrivals_ns(probed.wire, probed.sent_ns)
        period = longest_busy_period(probed.wire, model)
        # Which of two packets a full queue takes is a matter of nanoseconds; both are counted.
        busy = [at for number, at in probed.arrivals if period[0] <= number <= period[-1]]
        bits = (len(busy) - 1) * (_IP_BYTES + _FRAMING_BYTES) * 8
        carried.append(bits / (busy[-1] - busy[0]) * 1e9 / _RATE_BPS)
        # A packet that just finds room waits for all before it and the one in serialisation.
        longest_ns = quantile(probed.delays_ns(), 0.99) - _DELAY_NS
        filled.append(longest_ns / ((_LIMIT_PACKETS + 1) * probed.wire.serialisation_ns))
    beyond = [_beyond_model_ms(probed) for probed in runs]
    drops = [
        _missing(probed) - sum(at is None for at in arrivals_ns(probed.wire, probed.sent_ns))
        for probed in runs
    ]
    return [
        figure("carried rate over set rate while busy", "", carried, 0.995, 1.005),
        figure("overloaded 1.2 times: longest wait over the limit's", "", filled, 0.97, 1.01),
        *_quantiles("overloaded: delay beyond the model's", beyond, 0.2, 1),
        figure("overloaded: drops beyond the model's", "packets", [float(d) for d in drops]),
    ]


def _loss(runs: list[Probed]) -> list[Figure]:
    deviations = []
    for probed in runs:
        packets = len(probed.sent_ns)
        deviations.append(_deviation(_missing(probed), packets, _LOSS))
        _agree("lost packets", _missing(probed), probed.counters()["dropped_loss"])
    return [
        figure(f"loss of {_LOSS:.0%}: standard deviations from the mean", "", deviations, -_Z, _Z)
    ]


def _mixed(runs: list[Probed]) -> list[Figure]:
    held, copied = [], []
    for probed in runs:
        packets = len(probed.sent_ns)
        copies = Counter(number for number, _ in probed.arrivals)
        duplicated = sum(count == 2 for count in copies.values())
        first = list(dict.fromkeys(number for number, _ in probed.arrivals))
        highest = itertools.accumulate(first, max)
        overtaken = sum(number < top for number, top in zip(first, highest, strict=True))
        counters = probed.counters()
        _agree("duplicated packets", duplicated, counters["duplicated"])
        copied.append(_deviation(duplicated, packets, _DUPLICATION))
        held.append(_deviation(overtaken, packets, _REORDERING))
    return [
        figure("reordering of 1%: standard deviations from the mean", "", held, -_Z, _Z),
        figure("duplication of 1%: standard deviations from the mean", "", copied, -_Z, _Z),
    ]


def _emulator(runs: list[Probed], prefix: str = "") -> list[Figure]:
    """How late frames left, by the emulator's own account."""
    done = [probed.outcome.of("done")[0] for probed in runs]
    return [
        figure(
            f"{prefix}lateness by the emulator's own account, {name}",
            "ms",
            [row[key] / 1e6 for row in done],
        )
        for name, key in (
            ("median", "lateness_p50_ns"),
            ("99th percentile", "lateness_p99_ns"),
        )
    ]


def _beyond_model_ms(probed: Probed) -> list[float]:
    """Delay of each packet beyond the model's, for those that both delivered."""
    model = arrivals_ns(probed.wire, probed.sent_ns)
    return [
        (at - expected) / 1e6
        for number, at in probed.arrivals
        if (expected := model[number]) is not None and number not in probed.interrupted
    ]


def _missing(probed: Probed) -> int:
    return len(probed.sent_ns) - len({number for number, _ in probed.arrivals})


def _deviation(count: int, trials: int, probability: float) -> float:
    return (count - trials * probability) / math.sqrt(trials * probability * (1 - probability))


def _agree(what: str, seen: int, counted: int) -> None:
    if seen != counted:
        print(f"warning: the receiver saw {seen} {what}, the model counted {counted}")


def _pairs(path: Path) -> list[tuple[int, int]]:
    numbers = array("q")
    numbers.frombytes(path.read_bytes())
    return list(zip(numbers[::2], numbers[1::2], strict=True))
