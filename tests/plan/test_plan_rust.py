"""The plan as Python writes it, and as Rust reads it."""

import types
import typing
from collections.abc import Iterator
from functools import reduce
from ipaddress import IPv4Address, IPv6Address
from operator import or_
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from tests.plan.rust import Enum, Struct, read

from mptcplab._native import simulate
from mptcplab.engine.compile import Capture, compile_plan
from mptcplab.plan import Plan
from mptcplab.plan.link import FixedRate, LinkChange, UnlimitedRate
from mptcplab.plan.model import InterfaceRef
from mptcplab.plan.node import EndpointFlags
from mptcplab.scenario import Entry, catalogue, load

CRATES = Path(__file__).parents[2] / "crates" / "lab"
RUST = read(CRATES / "plan" / "src", CRATES / "link" / "src")
WHOLE_NUMBERS = {"u8", "u16", "u32", "u64", "usize", "Nanos"}
PLAIN = {"String": str, "PathBuf": str, "bool": bool, "f64": float} | dict.fromkeys(
    WHOLE_NUMBERS, int
)


def differences(place: str, rust: str, python: Any) -> list[str]:
    """Differences between a type of Rust and one of Python, and those of all below."""
    ours = typing.get_args(python)
    told = [f"{place}: {rust} in Rust, {python} in Python"]
    if typing.get_origin(python) is typing.Annotated:
        return differences(place, rust, ours[0])
    if rust in PLAIN:
        return [] if python is PLAIN[rust] else told
    if rust == "IpAddr":
        return [] if set(ours) == {IPv4Address, IPv6Address} else told
    if rust == "BTreeMap<String, String>":
        return [] if python == dict[str, str] else told
    if rust.startswith("Vec<"):
        if typing.get_origin(python) is not tuple or ours[1:] != (...,):
            return told
        return differences(f"{place}[]", rust[4:-1], ours[0])
    if rust.startswith("["):
        inner, _, length = rust[1:-1].partition("; ")
        if typing.get_origin(python) is not tuple or ours != (ours[0],) * int(length):
            return told
        return differences(f"{place}[]", inner, ours[0])
    if rust.startswith("Option<"):
        if types.NoneType not in ours:
            return told
        some = reduce(or_, (one for one in ours if one is not types.NoneType))
        return differences(place, rust[7:-1], some)
    match RUST[rust]:
        case Struct() as struct if isinstance(python, type) and issubclass(python, BaseModel):
            return fields(place, struct, python)
        case Enum(is_tagged=True) as enum:
            classes = {one.model_fields["kind"].default: one for one in ours}
            if classes.keys() != enum.variants.keys():
                return [f"{place}: {sorted(enum.variants)} in Rust, {sorted(classes)} in Python"]
            return [
                line
                for kind, struct in enum.variants.items()
                for line in fields(f"{place}.{kind}", struct, classes[kind])
            ]
        case Enum() as enum if typing.get_origin(python) is typing.Literal:
            return [] if set(ours) == enum.variants.keys() else told
    return told


def fields(place: str, struct: Struct, model: type[BaseModel]) -> list[str]:
    hints = typing.get_type_hints(model, include_extras=True)
    names = {name for name in model.model_fields if name != "kind"}
    if names != struct.fields.keys():
        return [f"{place}: fields {sorted(names ^ struct.fields.keys())} are on one side only"]
    return [
        line
        for name, rust in struct.fields.items()
        for line in differences(f"{place}.{name}", rust, hints[name])
    ]


def test_both_sides_have_the_same_fields_of_the_same_types() -> None:
    root = RUST["Plan"]
    assert isinstance(root, Struct)
    found = fields("plan", root, Plan)
    assert not found, (
        "mptcplab.plan and crates/lab/{plan,link} must say the same; change one of them:\n"
        + "\n".join(found)
    )


@pytest.mark.parametrize(
    ("rust", "python"),
    [
        ("u32", str),
        ("Vec<u64>", tuple[str, ...]),
        ("[InterfaceRef; 2]", tuple[InterfaceRef, ...]),
        ("Option<u64>", int),
        ("u64", int | None),
        ("IpAddr", str),
        ("Duplex", typing.Literal["full"]),
        ("Rate", FixedRate | UnlimitedRate),
        ("Prefix", InterfaceRef),
    ],
)
def test_a_difference_is_seen(rust: str, python: Any) -> None:
    assert len(differences("here", rust, python)) == 1


@pytest.mark.parametrize("entry", catalogue(), ids=lambda entry: entry.name)
def test_rust_reads_what_is_compiled_and_all_of_it_is_written(entry: Entry, tmp_path: Path) -> None:
    scenario = load(entry.name)
    for variant in scenario.variants:
        plan = compile_plan(scenario, variant, 1, Capture(tmp_path))
        assert list(unset("plan", plan)) == []
        assert Plan.model_validate_json(plan.model_dump_json()) == plan
        simulate(plan.model_copy(update={"time_limit_ns": 0}).model_dump_json(), lambda _: False)


def unset(place: str, value: object) -> Iterator[str]:
    """The fields left to their defaults, but for models that leave these out of JSON."""
    if isinstance(value, tuple):
        for index, one in enumerate(value):
            yield from unset(f"{place}[{index}]", one)
    if not isinstance(value, BaseModel) or isinstance(value, EndpointFlags | LinkChange):
        return
    for name in type(value).model_fields:
        if name != "kind" and name not in value.model_fields_set:
            yield f"{place}.{name}"
        yield from unset(f"{place}.{name}", getattr(value, name))
