"""Flows have tables of their own, and a client beside others is judged by its own goodput."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from tests.metrics.plans import carrier, node, two_paths
from tests.recording.handmade import SECOND, Protocol, description, manifest, record, result
from tests.recording.handmade import transfer as row

from mptcplab.engine import run
from mptcplab.recording import Result
from mptcplab.recording.manifest import Json
from mptcplab.report import report, to_html, to_terminal
from mptcplab.scenario import loads


def printed(made: Result, width: int = 120) -> list[str]:
    console = Console(file=StringIO(), width=width, color_system=None)
    to_terminal([report(made)], console)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    return [" ".join(line.split()) for line in text.splitlines()]


def plan(protocol: Protocol, *flows: tuple[str, int]) -> Json:
    """Flows with their client's node: 0 is the client, whose protocol it is, 2 has TCP."""
    made: Any = two_paths()
    [own] = made["traffic"]
    made["nodes"].append(node("others"))
    made["traffic"] = [
        own | {"name": name, "client": client, "protocol": "tcp" if client else protocol}
        for name, client in flows
    ]
    json: Json = made
    return json


def write(made: Result, variant: str, protocol: Protocol, flows: dict[str, int]) -> None:
    """A recording in which each flow carried so many megabytes in 10 s."""
    clients = {"background": ("others", 2)}
    rows = [
        row(
            traffic=name,
            client=clients.get(name, ("client", 0))[0],
            protocol="tcp" if name in clients else protocol,
            end_ns=10 * SECOND,
            bytes=megabytes * 10**6,
        )
        for name, megabytes in flows.items()
    ]
    ends = [(name, clients.get(name, ("client", 0))[1]) for name in flows]
    header = manifest(variant, protocol, plan=plan(protocol, *ends))
    record(made.recording_folder(variant, 1), {"transfers": rows}, header)


VARIANTS: list[tuple[str, Protocol]] = [("tcp-eth", "tcp"), ("mptcp", "mptcp")]


def test_flows_have_a_table_of_their_goodput(tmp_path: Path) -> None:
    made = result(tmp_path / "out", description(VARIANTS))
    write(made, "tcp-eth", "tcp", {"first": 10, "second": 20})
    write(made, "mptcp", "mptcp", {"first": 30, "second": 40})
    lines = printed(made)
    place = lines.index("goodput by flow, Mbit/s")
    assert lines[place + 2 : place + 6 : 2] == ["flow tcp-eth mptcp", "first 8.00 24.0"]
    assert lines[place + 5] == "second 16.0 32.0"
    page = to_html([report(made)])
    assert ">Flows</h2>" in page
    assert '<td>second</td><td class="figure">16.0</td><td class="figure">32.0</td>' in page


def test_one_flow_needs_no_table(tmp_path: Path) -> None:
    made = result(tmp_path / "out", description(VARIANTS))
    write(made, "tcp-eth", "tcp", {"first": 10})
    write(made, "mptcp", "mptcp", {"first": 30})
    assert report(made).flows == ()
    assert ">Flows</h2>" not in to_html([report(made)])


def test_a_client_beside_others_is_compared_by_its_own_goodput(tmp_path: Path) -> None:
    made = result(tmp_path / "out", description(VARIANTS))
    write(made, "tcp-eth", "tcp", {"first": 10, "background": 500})
    write(made, "mptcp", "mptcp", {"first": 20, "background": 480})
    told = report(made)
    assert told.answer[0] == (
        "For client, mptcp was faster than tcp-eth: 16.0 Mbit/s, 2.00 times 8.00 Mbit/s."
    )


def test_clients_with_a_flow_each_have_one_table(tmp_path: Path) -> None:
    text = """
        name: x
        hosts: {a: {interfaces: {a: {}}}, b: {interfaces: {b: {}}}, s: {interfaces: {a: {}, b: {}}}}
        links: {a: {between: [a.a, s.a]}, b: {between: [b.b, s.b]}}
        traffic:
          - bulk: {name: first, from: a, to: s, direction: up, size: 50 kB}
          - bulk: {name: second, from: b, to: s, direction: up, size: 50 kB}
    """
    run(loads(text), "mptcp", tmp_path / "x", engine="sim")
    told = report(Result.open(tmp_path / "x"))
    assert told.clients == ("a", "b")
    assert [table.title for table in told.flows] == ["completion time by flow, s"]


def test_a_table_across_more_variants_than_fit_is_divided(tmp_path: Path) -> None:
    names: list[tuple[str, Protocol]] = [(f"a-long-name-{number}", "mptcp") for number in range(9)]
    made = result(tmp_path / "out", description(names))
    for name, _ in names:
        write(made, name, "mptcp", {"first": 10, "second": 20})
    lines = printed(made, width=80)
    assert not any("…" in line for line in lines)
    assert sum(line.startswith("flow ") for line in lines) > 1


def test_a_variant_of_tcp_with_other_failures_is_not_what_mptcp_is_compared_with(
    tmp_path: Path,
) -> None:
    variants: list[tuple[str, Protocol]] = [("idle", "tcp"), ("fails", "tcp"), ("mptcp", "mptcp")]
    made = result(tmp_path / "out", description(variants))
    failure = carrier(8 * SECOND, "eth fails", 1, up=False)
    for (name, protocol), megabytes in zip(variants, (100, 40, 50), strict=True):
        events = () if name == "idle" else (failure,)
        rows = [row(protocol=protocol, end_ns=10 * SECOND, bytes=megabytes * 10**6)]
        header = manifest(name, protocol, plan=two_paths(*events))
        record(made.recording_folder(name, 1), {"transfers": rows}, header)
    assert report(made).answer[0] == (
        "mptcp was faster than fails: 40.0 Mbit/s, 1.25 times 32.0 Mbit/s."
    )


@pytest.mark.parametrize(
    ("expect", "columns"),
    [((), ()), (("mptcp.joins == 2",), ("joins",)), (("mptcp.joins ==",), ())],
)
def test_what_a_finding_is_about_has_a_column(
    tmp_path: Path, expect: tuple[str, ...], columns: tuple[str, ...]
) -> None:
    made = result(tmp_path / "out", description([("mptcp", "mptcp")], expect=expect))
    write(made, "mptcp", "mptcp", {"first": 10})
    assert report(made).columns == ("goodput", *columns)
