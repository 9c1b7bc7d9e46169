"""A congestion control written in Python."""

import math
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars
import pytest
from tests.engine.worlds import MPTCP, two_paths

from mptcplab._native import Ack, CongestionEvent, PathView, Window
from mptcplab.engine import run
from mptcplab.recording import Recording, Status
from mptcplab.recording.tables import TABLES
from mptcplab.scenario import Scenario, ScenarioError, load, with_overrides

TRAFFIC = """\
traffic:
  - bulk: {from: client, to: server, way: up, duration: 3 s}
events:
  - {at: 1 s, link: b, up: false}
  - {at: 2 s, link: b, up: true}
"""
QUEUES = {"links.a.queue": "20 packets", "links.b.loss": "0.5 %"}


class Reno:
    """Reno, again, as in `crates/protocol/stack/src/congestion/reno.rs`."""

    def __init__(self) -> None:
        self.counted_bytes = 0

    def on_ack(self, window: Window, ack: Ack) -> None:
        if not ack.window_limited:
            return
        left = ack.acknowledged_bytes
        if window.in_slow_start:
            before = window.bytes
            window.bytes = min(before + left, window.slow_start_threshold_bytes)
            left -= window.bytes - before
        self.counted_bytes += left
        if self.counted_bytes >= window.bytes:
            self.counted_bytes -= window.bytes
            window.bytes += window.segment_bytes

    def on_congestion_event(self, window: Window, _: CongestionEvent) -> int:
        self.counted_bytes = 0
        return max(window.bytes // 2, 2 * window.segment_bytes)


class Lia:
    """LIA, again, as in `crates/protocol/stack/src/congestion/lia.rs`."""

    coupled = True

    def __init__(self) -> None:
        self.fraction_bytes = 0.0

    def on_ack(self, window: Window, ack: Ack) -> None:
        if not ack.window_limited:
            return
        left = ack.acknowledged_bytes
        if window.in_slow_start:
            before = window.bytes
            window.bytes = min(before + left, window.slow_start_threshold_bytes)
            left -= window.bytes - before
        if left == 0:
            return
        growth = self.fraction_bytes + left * self.per_byte(window, ack.paths)
        self.fraction_bytes = growth - int(growth)
        window.bytes = max(window.bytes + int(growth), 2 * window.segment_bytes)

    def per_byte(self, window: Window, paths: list[PathView]) -> float:
        total_window, total_rate, best = 0.0, 0.0, 0.0
        for path in paths:
            if path.smoothed_rtt_ns > 0:
                rate = path.window_bytes / path.smoothed_rtt_ns
                total_window += path.window_bytes
                total_rate += rate
                best = max(best, rate / path.smoothed_rtt_ns)
        own = 1.0 / window.bytes
        if total_window == 0.0:
            return own * window.segment_bytes
        alpha = total_window * best / (total_rate * total_rate)
        return min(own, alpha / total_window) * window.segment_bytes

    def on_congestion_event(self, window: Window, _: CongestionEvent) -> int:
        self.fraction_bytes = 0.0
        return max(window.bytes // 2, 2 * window.segment_bytes)


def scenario(folder: Path, control: str = "mine") -> Scenario:
    asked = {f"hosts.{host}.congestion_control": control for host in ("client", "server")}
    return with_overrides(load(two_paths(folder, "same", TRAFFIC + MPTCP)), QUEUES | asked)


def tables(recording: Recording, name: str) -> list[polars.DataFrame]:
    """All tables, with the congestion control called `name` in them."""
    found = [recording.frame(table) for table in TABLES]
    return [
        frame.with_columns(congestion_control=polars.lit(name))
        if "congestion_control" in frame.columns
        else frame
        for frame in found
    ]


@pytest.mark.parametrize(("mine", "built_in"), [(Reno, "reno"), (Lia, "lia")])
def test_it_does_what_the_same_one_of_the_simulator_does(
    mine: Callable[[], Reno | Lia], built_in: str, tmp_path: Path
) -> None:
    own = run(
        scenario(tmp_path),
        "mptcp",
        tmp_path / "own",
        captures=True,
        congestion_controls={"mine": mine},
    )
    theirs = run(
        scenario(tmp_path, built_in), "mptcp", tmp_path / "theirs", engine="sim", captures=True
    )
    samples = own.frame("subflow_samples")
    assert set(samples["congestion_control"]) == {"mine"}
    assert own.manifest.settings["congestion_control"] == ["mine"]
    assert any(samples["retrans"]), "nothing was lost"
    for mine_rows, their_rows in zip(tables(own, "x"), tables(theirs, "x"), strict=True):
        assert mine_rows.equals(their_rows)
    captured = sorted(path.name for path in (tmp_path / "own").glob("*.pcapng"))
    assert len(captured) == 4
    for name in captured:
        assert (tmp_path / "own" / name).read_bytes() == (tmp_path / "theirs" / name).read_bytes()


def test_it_hears_of_everything(tmp_path: Path) -> None:
    heard: set[object] = set()

    class Listening(Reno):
        coupled = True

        def on_ack(self, window: Window, ack: Ack) -> None:
            assert [path.is_self for path in ack.paths].count(True) == 1
            heard.add(("paths", len(ack.paths)))
            super().on_ack(window, ack)

        def on_congestion_event(self, window: Window, event: CongestionEvent) -> int:
            heard.add(event.cause)
            return super().on_congestion_event(window, event)

        def on_undo(self) -> None:
            heard.add("undo")

        def on_restart(self, now_ns: int, idle_ns: int) -> None:
            assert 0 < idle_ns <= now_ns
            heard.add("restart")

    traffic = """\
traffic:
  - request-response: {from: client, to: server, count: 2, interval: 5 s, request: 3 MB}
events:
  - {at: 900 ms, link: a, up: false}
  - {at: 900 ms, link: b, up: false}
  - {at: 2 s, link: a, up: true}
  - {at: 2 s, link: b, up: true}
"""
    made = with_overrides(
        load(two_paths(tmp_path, "all", traffic + MPTCP)),
        {
            "hosts.client.congestion_control": "mine",
            "links.a.queue": "20 packets",
            "links.b.jitter": "20 ms",
            "links.b.reordering": {"probability": "5 %", "by": "20 ms"},
        },
    )
    run(made, "mptcp", tmp_path / "out", congestion_controls={"mine": Listening})
    assert {"loss", "timeout", "undo", "restart", ("paths", 1), ("paths", 2)} <= heard


class Bad(Reno):
    """Sets, or answers, what a test wants."""

    def __init__(self, field: str | None, value: object) -> None:
        super().__init__()
        self.field, self.value = field, value

    def on_ack(self, window: Window, ack: Ack) -> None:
        if self.field is None:
            super().on_ack(window, ack)
        else:
            setattr(window, self.field, self.value)

    def on_congestion_event(self, *_: object) -> int:
        return self.value if self.field is None else 2  # type: ignore[return-value]


HOSTILE = [math.nan, math.inf, -1, 2**40 + 1, 2**5000, 3000.0, "3000", None, [1]]


@pytest.mark.parametrize("field", ["bytes", "slow_start_threshold_bytes"])
@pytest.mark.parametrize("value", [*HOSTILE, 0, 1, True], ids=lambda value: str(value)[:20])
def test_a_window_that_is_none_is_refused_where_it_is_set(
    field: str, value: object, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=rf"^window\.{field} is a whole number of bytes") as caught:
        run(
            scenario(tmp_path),
            "mptcp",
            tmp_path / "out",
            congestion_controls={"mine": lambda: Bad(field, value)},
        )
    place = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (place.name, place.line) == ("on_ack", "setattr(window, self.field, self.value)")
    assert len(str(caught.value)) < 200
    assert Recording.open(tmp_path / "out").manifest.status is Status.FAILED


@pytest.mark.parametrize("value", HOSTILE, ids=lambda value: str(value)[:20])
def test_a_threshold_that_is_none_is_refused(value: object, tmp_path: Path) -> None:
    with pytest.raises(
        ValueError,
        match=r"^on_congestion_event of the congestion control mine answered .*: it must be the "
        r"slow start threshold, a whole number of bytes from 0 to 1099511627776$",
    ):
        run(
            scenario(tmp_path),
            "mptcp",
            tmp_path / "out",
            congestion_controls={"mine": lambda: Bad(None, value)},
        )


def test_ctrl_c_in_it_ends_the_run(tmp_path: Path) -> None:
    class Interrupted(Reno):
        def on_congestion_event(self, *_: object) -> int:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(
            scenario(tmp_path), "mptcp", tmp_path / "out", congestion_controls={"mine": Interrupted}
        )
    assert Recording.open(tmp_path / "out").manifest.status is Status.FAILED


def test_what_it_raises_ends_the_run_with_its_place(tmp_path: Path) -> None:
    class Broken(Reno):
        def on_congestion_event(self, *_: object) -> int:
            raise ZeroDivisionError("by the control")

    with pytest.raises(ZeroDivisionError, match="by the control") as caught:
        run(scenario(tmp_path), "mptcp", tmp_path / "out", congestion_controls={"mine": Broken})
    place = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (place.filename, place.name) == (__file__, "on_congestion_event")
    recording = Recording.open(tmp_path / "out")
    assert recording.manifest.status is Status.FAILED
    assert "the congestion control raised ZeroDivisionError('by the control')" in (
        recording.manifest.warnings
    )


def answering() -> Any:
    class Answering(Reno):
        def on_ack(self, window: Window, _: Ack) -> None:
            return window.bytes + 1  # type: ignore[return-value]

    return Answering()


def shrinking() -> Any:
    class Shrinking(Reno):
        def on_congestion_event(self, window: Window, _: CongestionEvent) -> int:
            window.bytes //= 2
            return window.bytes

    return Shrinking()


def coupled() -> Any:
    class Coupled(Reno):
        coupled = "yes"

    return Coupled()


@pytest.mark.parametrize(
    ("made_by", "error", "words"),
    [
        (answering, TypeError, r"on_ack of the congestion control mine answered \d+: it sets"),
        (shrinking, AttributeError, "on_congestion_event cannot set the window: it answers"),
        (coupled, TypeError, "mine: coupled is True or False, not 'yes'"),
        (object, TypeError, "the congestion control mine has no method on_ack: <object object"),
        (lambda: 1 // 0, ZeroDivisionError, "division"),
        (5, TypeError, "the congestion control mine is no class and no function: 5"),
    ],
)
def test_another_mistake_is_named(
    made_by: Any, error: type[Exception], words: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=words):
        run(scenario(tmp_path), "mptcp", tmp_path / "out", congestion_controls={"mine": made_by})


def test_a_name_is_asked_for_and_new(tmp_path: Path) -> None:
    made = scenario(tmp_path)
    with pytest.raises(
        ValueError, match=r"^no host has `congestion_control: other` in same: they have mine$"
    ):
        run(made, "mptcp", tmp_path / "out", congestion_controls={"other": Reno})
    with pytest.raises(ValueError, match=r"^the simulator has a congestion control reno"):
        run(made, "mptcp", tmp_path / "out", congestion_controls={"reno": Reno})
    with pytest.raises(ScenarioError, match="the sim engine has no congestion control mine"):
        run(made, "mptcp", tmp_path / "out", engine="sim")
    assert not (tmp_path / "out").exists()


def test_the_kernel_takes_none(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^a congestion control of Python needs virtual time"):
        run(
            scenario(tmp_path),
            "mptcp",
            tmp_path / "out",
            engine="kernel",
            congestion_controls={"mine": Reno},
        )
