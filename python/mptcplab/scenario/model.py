"""The scenario as a whole: an experiment that an engine can run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    BeforeValidator,
    Field,
    PrivateAttr,
    StrictBool,
    StrictStr,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from mptcplab import lazy
from mptcplab.scenario.entries import DEFAULT_VARIANT
from mptcplab.scenario.expanded import Topology, expanded
from mptcplab.scenario.expectation import ExpectationError, parse
from mptcplab.scenario.fields import (
    Count,
    DifferentNames,
    Empty,
    Model,
    MomentNs,
    Name,
    PositiveTimeNs,
    RefusalError,
    TimeNs,
)
from mptcplab.scenario.host import Host, Router
from mptcplab.scenario.link import Link, LinkChange
from mptcplab.scenario.problem import quoted
from mptcplab.scenario.provenance import Provenance
from mptcplab.scenario.quantity import Quantity, parse_quantity
from mptcplab.scenario.sweep import Sweep
from mptcplab.scenario.switch import ControllerField, Switch
from mptcplab.scenario.traffic import Protocol, TrafficItem

_METRIC = re.compile(r"[a-z][a-z0-9_]*(\.[A-Za-z0-9_-]+)*")


class SubflowEnds(Model):
    """A subflow of the connections of a flow."""

    of: StrictStr = Field(description="Name of the flow")
    source: StrictStr = Field(alias="from", description="Interface of its client")
    target: StrictStr = Field(alias="to", description="Interface of its server")


class Event(Model):
    """A change at a time: of a link, its carrier, a host's interface, or a subflow."""

    at: MomentNs = Field(description="Since the start of the run")
    link: StrictStr | None = Field(None, description="Changes a link; the hosts see nothing of it")
    change: LinkChange | None = None
    carrier: StrictStr | None = Field(
        None, description="Pulls a link's cable or puts it back: both interfaces see it"
    )
    interface: StrictStr | None = Field(None, description="node.interface of a host")
    subflow: SubflowEnds | None = Field(
        None, description="Opens (up: true) or closes a subflow, as the application would"
    )
    up: StrictBool | None = None
    backup: StrictBool | None = Field(None, description="Makes the interface's subflows backups")

    @model_validator(mode="after")
    def _one_change(self) -> Event:
        subjects = {
            "link": ("change", "up"),
            "carrier": ("up",),
            "interface": ("up", "backup"),
            "subflow": ("up",),
        }
        given = [subject for subject in subjects if getattr(self, subject) is not None]
        if len(given) != 1:
            raise ValueError("an event has exactly one of link, carrier, interface and subflow")
        possible = subjects[given[0]]
        changes = [key for key in ("change", "up", "backup") if getattr(self, key) is not None]
        for key in changes:
            if key not in possible:
                raise RefusalError(key, f"an event of {given[0]} takes {' or '.join(possible)}")
        if len(changes) != 1:
            raise ValueError(f"an event of {given[0]} needs exactly one of {', '.join(possible)}")
        if self.change is not None and not self.change.model_fields_set:
            raise RefusalError("change", "changes nothing")
        return self


class Variant(Model):
    """One way to run the scenario, to be compared with the others."""

    title: StrictStr = ""
    protocol: Protocol = "mptcp"
    via: DifferentNames | None = Field(
        None, description="The clients' interface to connect from, or several for TCP over all"
    )
    set: dict[StrictStr, Any] = Field({}, description="Dotted path → value to use instead")


class Vary(Model):
    """Values that a repetition draws by its seed, so that repetitions differ."""

    start: TimeNs = Field(description="Traffic starts up to so much later, equally likely")


def _parse_metric(value: object) -> object:
    if isinstance(value, str) and _METRIC.fullmatch(value) is None:
        raise ValueError("a metric is written like goodput or goodput.wifi")
    return value


class Reference(Model):
    """A figure of the document that the scenario reproduces."""

    variant: StrictStr
    metric: Annotated[str, BeforeValidator(_parse_metric)]
    value: Annotated[
        Quantity,
        BeforeValidator(parse_quantity),
        WithJsonSchema({"type": ["string", "number"], "description": "such as 146 Mbit/s or 15 s"}),
    ]
    note: StrictStr = ""
    input: StrictBool = Field(
        False, description="The figure went into the scenario: a run that has it shows nothing"
    )


def _in_a_mapping(value: object) -> object:
    return value if isinstance(value, dict) else {"finding": value}


class Expectation(Model):
    """A finding to check; the finding alone is the short form."""

    finding: StrictStr
    note: StrictStr = ""
    """Why it does not hold, where it does not."""


class Scenario(Model):
    """An experiment: hosts, how they are joined, what is sent, what happens, what to compare.

    Made by `load` or `loads`, never changed afterwards.
    """

    name: StrictStr = Field("", description="Name in the catalogue; the file's stem unless given")
    title: StrictStr = ""
    source: StrictStr = Field("", description="Where the experiment comes from")
    description: StrictStr = ""
    topology: Topology | None = Field(
        None, description="A network that is made by a rule; hosts and links may add to it"
    )
    hosts: dict[Name, Host] = Field(min_length=1)
    routers: dict[Name, Annotated[Router, Empty()]] = Field({})
    switches: dict[Name, Annotated[Switch, Empty()]] = Field({})
    controller: ControllerField | None = None
    links: dict[Name, Link] = Field(min_length=1)
    traffic: list[TrafficItem] = Field(min_length=1)
    events: list[Event] = Field([])
    variants: dict[Name, Annotated[Variant, Empty()]] = Field(
        {DEFAULT_VARIANT: Variant()}, min_length=1
    )
    repetitions: Annotated[Count, Field(le=1000)] = 3
    vary: Vary | None = Field(None, description="What each repetition draws by its seed")
    sweep: Sweep | None = Field(None, description="What `mptcplab sweep` runs; `run` ignores it")
    sample_interval: PositiveTimeNs = Field(100_000_000, ge=1_000_000)
    reference: list[Reference] = Field([])
    expect: list[
        Annotated[
            Expectation,
            BeforeValidator(_in_a_mapping),
            WithJsonSchema(
                {
                    "anyOf": [
                        {"type": "string"},
                        {
                            "type": "object",
                            "properties": {
                                "finding": {"type": "string"},
                                "note": {"type": "string"},
                            },
                            "required": ["finding"],
                            "additionalProperties": False,
                        },
                    ]
                }
            ),
        ]
    ] = Field([], description="Findings to check, such as mptcp.jain >= 0.9")

    _provenance: Provenance = PrivateAttr()

    @model_validator(mode="before")
    @classmethod
    def _in_full(cls, tree: Any) -> Any:
        return expanded(tree)

    @field_validator("name")
    @classmethod
    def _plain_name(cls, value: str) -> str:
        if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_./ -]{0,79}", value) is None or ".." in value:
            # Where the scenario has no such key, its name is that of the file.
            raise ValueError(
                "a scenario's name has letters (a to z), digits, spaces and . / - _ only: rename "
                "the file, or give a `name:`"
            )
        return value

    @field_validator("expect")
    @classmethod
    def _parse_expectations(cls, value: list[Expectation]) -> list[Expectation]:
        for index, entry in enumerate(value):
            try:
                parse(entry.finding)
            except ExpectationError as error:
                raise RefusalError(str(index), f"{quoted(entry.finding)}: {error}") from None
        return value

    def model_post_init(self, context: Any, /) -> None:
        """Keeps where the scenario came from."""
        self._provenance = context["provenance"] if context else Provenance(origin="scenario")

    def __repr__(self) -> str:
        return f"<Scenario {self.name}: {', '.join(self.variants)}>"

    def __str__(self) -> str:
        return repr(self)

    def _repr_html_(self) -> str:
        shown: str = lazy.call("mptcplab.report.notebook.of_scenario", self)
        return shown

    @property
    def origin(self) -> str:
        """The file as the user named it."""
        return self._provenance.origin

    @property
    def text(self) -> str:
        """The scenario in YAML: the file's text, or with overrides what it amounts to."""
        return self._provenance.text()

    @property
    def folder(self) -> Path:
        """Where relative paths (traces) start."""
        return self._provenance.folder

    @property
    def overrides(self) -> Mapping[str, Any]:
        """Dotted path → value of what was changed after reading, for the record."""
        return self._provenance.overrides

    @property
    def provenance(self) -> Provenance:
        """Where each key stands, for messages."""
        return self._provenance
