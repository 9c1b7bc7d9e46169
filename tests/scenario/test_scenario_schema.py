import json
from pathlib import Path

import jsonschema
import pytest

from mptcplab.scenario import Entry, catalogue
from mptcplab.scenario.schema import schema, schema_text
from mptcplab.scenario.tree import parse_tree

GOOD = Path(__file__).with_name("good.yaml").read_text(encoding="utf-8")
PUBLISHED = Path(__file__).parents[2] / "docs" / "scenario.schema.json"


def accepts(text: str) -> bool:
    return jsonschema.Draft202012Validator(schema()).is_valid(parse_tree(text, "x.yaml").value)


def test_the_published_schema_is_current() -> None:
    assert PUBLISHED.read_text(encoding="utf-8") == schema_text(), (
        "run: python -m mptcplab.scenario.schema > docs/scenario.schema.json"
    )


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(schema_text()))


@pytest.mark.parametrize("entry", catalogue(), ids=lambda entry: entry.name)
def test_the_catalogue_conforms(entry: Entry) -> None:
    assert accepts(entry.path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("ap: {}", "ap:"),
        ("delay: 1 ms", "jitter: 1 ms"),
        ("delay: 1 ms", "jitter: {normal: 1 ms}"),
        ("delay: 1 ms", "loss: 0.01"),
        ("delay: 1 ms", "queue: 2 BDP"),
        ("path_manager: fullmesh", "path_manager: {ndiffports: 3}"),
        ("from: client", "from: [client]"),
        ("duration: 10 s", "duration: 10 s, direction: up"),
        ("duration: 10 s", "duration: 10 s, way: up"),
        ("- mptcp.goodput > tcp-wifi.goodput", "- {finding: mptcp.goodput > 5, note: why}"),
    ],
)
def test_each_way_to_write_a_value_conforms(old: str, new: str) -> None:
    assert accepts(GOOD.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("48 Mbit/s", "48 Mb"),
        ("delay: 1 ms", "dealy: 1 ms"),
        ("delay: 1 ms", "loss: 2"),
        ("path_manager: fullmesh", "path_manager: {ndiffports: 9}"),
        ("path_manager: fullmesh", "path_manager: mesh"),
        ("protocol: tcp", "protocol: udp"),
        ("from: client, ", ""),
        ("duration: 10 s", "duration: 10 s, direction: up, way: up"),
        ("duration: 10 s", "duration: 10 s, way: sideways"),
    ],
)
def test_mistakes_do_not_conform(old: str, new: str) -> None:
    assert accepts(GOOD)
    assert not accepts(GOOD.replace(old, new, 1))
