"""From pydantic's findings to problems in a user's words."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from typing import Any

from pydantic import AliasChoices, BaseModel, ValidationError

from mptcplab.scenario.problem import Problem, did_you_mean, quoted
from mptcplab.scenario.provenance import Provenance
from mptcplab.scenario.units import format_size, format_time

_EXAMPLES = {
    "hosts": "hosts: {client: {interfaces: {eth: {}}}, server: …}",
    "interfaces": "interfaces: {eth: {}}",
    "links": "links: {eth: {between: [client.eth, server.eth]}}",
    "traffic": "traffic: [{bulk: {from: client, to: server, duration: 10 s}}]",
    "between": "between: [client.eth, server.eth]",
    "from": "from: client",
    "to": "to: server",
    "on": "on: client",
    "run": "run: iperf3 -c {server} -p {port}",
    "size": "size: 500 kB",
    "at": "at: 10 s",
    "probability": "probability: 1 %",
    "by": "by: 5 ms",
    "rate": "rate: 5 Mbit/s",
    "duration": "duration: 10 s",
    "frame": "frame: 20 kB",
    "deadline": "deadline: 150 ms",
    "burst": "burst: 500 ms",
    "pause": "pause: 500 ms",
    "inside": "inside: client.wifi",
    "sender": "sender: client.wifi",
    "options": "options: [mptcp]",
    "payload": "payload: 700 B",
    "of": "of: bulk",
    "name": "name: round-robin",
    "p": "p: 1 %",
    "r": "r: 30 %",
    "variant": "variant: mptcp",
    "metric": "metric: goodput",
    "value": "value: 146 Mbit/s",
    "finding": "finding: mptcp.jain >= 0.9",
}
_KINDS = {
    "string_type": "expected text",
    "bool_type": "expected true or false",
    "int_type": "expected a whole number",
    "float_type": "expected a number",
    "dict_type": "expected a mapping (`key: value`)",
    "model_type": "expected a mapping (`key: value`)",
    "model_attributes_type": "expected a mapping (`key: value`)",
    "list_type": "expected a list (`[a, b]`)",
}


def problems(
    error: ValidationError, root: type[BaseModel], source: Provenance
) -> Iterator[Problem]:
    """One problem for each of pydantic's errors."""
    for entry in error.errors(include_url=False):
        path = tuple(part for part in entry["loc"] if part != "[key]")
        context: dict[str, Any] = entry.get("ctx", {})
        kind, value = entry["type"], entry["input"]
        if kind == "missing":
            example = _EXAMPLES.get(str(path[-1]))
            text = f"missing: add `{example}`" if example else "missing"
            yield source.problem(path, text, missing=True)
        elif kind == "refused":
            key = tuple(int(part) if part.isdigit() else part for part in [context["key"]] if part)
            yield source.problem((*path, *key), context["text"])
        elif kind == "extra_forbidden":
            yield source.problem(path, _extra(root, path))
        elif kind == "value_error":
            plain = isinstance(value, str | int | float)
            text = f"{quoted(value)}: {context['error']}" if plain else str(context["error"])
            yield source.problem(path, text)
        elif kind == "literal_error":
            words = str(context["expected"]).replace(" or ", ", ").replace("'", "").split(", ")
            yield source.problem(path, f"{quoted(value)}: {did_you_mean(str(value), words)}")
        elif kind in _KINDS:
            what = "" if value is None else f"{quoted(value)}: "
            yield source.problem(path, f"{what}{_KINDS[kind]}")
        else:
            written = source.value(path, value)
            yield source.problem(path, _limit(kind, written, context) or entry["msg"])


def _limit(kind: str, written: object, context: dict[str, Any]) -> str | None:
    match kind:
        case "greater_than_equal":
            return f"{quoted(written)}: must be at least {_bound(context['ge'], written)}"
        case "less_than_equal":
            return f"{quoted(written)}: must be at most {_bound(context['le'], written)}"
        case "too_short":
            return f"needs at least {_entries(context['min_length'])}"
        case "too_long":
            return f"takes at most {_entries(context['max_length'])}"
    return None


def _bound(limit: int, written: object) -> str:
    """The limit in the kind of unit that the value has."""
    if not isinstance(written, str):
        return str(limit)
    return format_size(limit) if written.endswith("B") else format_time(limit)


def _entries(number: int) -> str:
    return f"{number} entr{'y' if number == 1 else 'ies'}"


def _extra(root: type[BaseModel], path: tuple[str | int, ...]) -> str:
    """Why the key at the path is not taken."""
    annotation: Any = root
    for part in path[:-1]:
        annotation = _step(annotation, part)
    model = _model(annotation)
    fields = {} if model is None else model.model_fields
    for name, info in fields.items():
        names = info.validation_alias
        if isinstance(names, AliasChoices) and path[-1] in names.choices:
            return f"is the same as `{name}`: give one of them"
    known = [info.alias or name for name, info in fields.items()]
    return f"unknown key: {did_you_mean(str(path[-1]), known)}"


def _step(annotation: Any, part: str | int) -> Any:
    model = _model(annotation)
    if model is not None:
        for name, info in model.model_fields.items():
            if part in (name, info.alias):
                return info.annotation
        return None
    for inner in _unwrapped(annotation):
        if typing.get_origin(inner) in (dict, list):
            return typing.get_args(inner)[-1]
    return None


def _model(annotation: Any) -> type[BaseModel] | None:
    for inner in _unwrapped(annotation):
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            return inner
    return None


def _unwrapped(annotation: Any) -> Iterator[Any]:
    """The annotation without Annotated, and the members of a union."""
    if hasattr(annotation, "__metadata__"):
        yield from _unwrapped(typing.get_args(annotation)[0])
    elif typing.get_origin(annotation) is typing.Union or type(annotation).__name__ == "UnionType":
        for member in typing.get_args(annotation):
            yield from _unwrapped(member)
    else:
        yield annotation
