"""The reference's examples are true."""

import re
from pathlib import Path
from typing import Any

import pytest

from mptcplab.scenario import load, loads, with_overrides
from mptcplab.scenario.draw import Distribution
from mptcplab.scenario.expectation import parse
from mptcplab.scenario.host import Host, Interface
from mptcplab.scenario.link import Link, Profile
from mptcplab.scenario.middlebox import (
    Chance,
    Coalesce,
    DropUnknownOptions,
    Middlebox,
    Nat,
    ProxyAck,
    Split,
    StripOptions,
)
from mptcplab.scenario.model import Event, Scenario, SubflowEnds, Variant
from mptcplab.scenario.profiles import profile_names
from mptcplab.scenario.scheduler import Scheduler
from mptcplab.scenario.sweep import Drawn, Sweep, Values
from mptcplab.scenario.switch import Controller, Switch
from mptcplab.scenario.traffic import (
    Bulk,
    Command,
    Datagrams,
    Ftp,
    Http,
    OnOff,
    Ping,
    RequestResponse,
)
from mptcplab.scenario.tree import parse_tree

DOCUMENT = (Path(__file__).parents[2] / "docs" / "scenario.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```yaml\n(.*?)```", DOCUMENT, re.DOTALL)
COMPLETE = BLOCKS[0]


def block(key: str, word: str = "") -> str:
    """The first block after the complete example that begins with this key and has this word."""
    return next(str(b) for b in BLOCKS[1:] if b.startswith(f"{key}:") and word in b)


def replaced(key: str, word: str = "") -> Any:
    """The complete example with one of its parts taken from another block."""
    tree = parse_tree(block(key, word), "docs/scenario.md").value
    return with_overrides(loads(COMPLETE), {key: tree[key]})


def test_the_complete_example_is_a_scenario() -> None:
    assert list(loads(COMPLETE).variants) == ["tcp-wifi", "mptcp"]


def test_the_kinds_of_traffic() -> None:
    kinds = [item.kind for item in replaced("traffic", "command:").traffic]
    assert kinds == [
        "bulk",
        "http",
        "ftp",
        "ping",
        "request-response",
        "stream",
        "datagrams",
        "command",
    ]


def test_the_kinds_of_middleboxes() -> None:
    link = replaced("links", "middleboxes:").links["wifi"]
    assert [box.field for box in link.middleboxes] == list(Middlebox.model_fields)


def test_the_kinds_of_events() -> None:
    assert len(replaced("events").events) == 6


def test_the_sweep() -> None:
    sweep = replaced("sweep").sweep
    assert [len(axis.rows) for axis in sweep.every_axis] == [3, 5, 2, 100]


def test_the_varying_rate() -> None:
    tree = parse_tree(block("links", "varying"), "docs/scenario.md").value
    link = Link.model_validate(tree["links"]["lte"])
    assert link.down is not None
    assert link.down.trace is not None
    assert link.down.trace.varying is not None
    assert link.down.trace.varying.seed == 4


def test_the_topology() -> None:
    scenario = loads(block("topology"))
    assert len(scenario.hosts) == 16
    assert scenario.traffic[0].body.servers[0] != "h0"


def test_the_expectations() -> None:
    tree = parse_tree(block("expect"), "docs/scenario.md").value
    texts = [one["finding"] if isinstance(one, dict) else one for one in tree["expect"]]
    assert [len(parse(text).comparisons) for text in texts] == [1, 2, 1, 1]


def test_the_python_example(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)
    exec(code, {"load": load, "with_overrides": with_overrides})
    assert capsys.readouterr().out == "50000000 mptcp\n"


def test_every_profile_is_listed() -> None:
    for name in profile_names():
        assert f"`{name}`" in DOCUMENT


@pytest.mark.parametrize(
    "model",
    [
        Scenario,
        Host,
        Interface,
        Link,
        Event,
        Variant,
        Bulk,
        Http,
        Ftp,
        Ping,
        RequestResponse,
        Datagrams,
        OnOff,
        Switch,
        Controller,
        Command,
        Scheduler,
        SubflowEnds,
        Nat,
        StripOptions,
        Split,
        Coalesce,
        ProxyAck,
        DropUnknownOptions,
        Chance,
        Sweep,
        Values,
        Drawn,
        Distribution,
    ],
)
def test_every_key_is_described(model: type[Any]) -> None:
    for name, field in model.model_fields.items():
        key = field.alias or name
        assert re.search(rf"[`.{{ ]{re.escape(key)}[`.:]", DOCUMENT), f"{model.__name__}.{key}"


def test_profiles_are_made_of_the_keys_of_links() -> None:
    assert set(Profile.model_fields) - set(Link.model_fields) == {"title", "source"}
