"""A document as data: its tables, figures and listings, and what stands in their cells."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator


class Model(BaseModel):
    """An object whose keys are all known and whose values never change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Statistic(StrEnum):
    """A figure that stands for all repetitions."""

    MEAN = "mean"
    POPULATION_DEVIATION = "population-deviation"
    SAMPLE_DEVIATION = "sample-deviation"


class Measured(Model):
    """A cell with a figure: the document's, and ours beside it."""

    scenario: str = ""
    """Of the document's folder of the catalogue; that of the item where empty."""
    here: str
    """The measured figure: `variant.metric`, or arithmetic of several, as findings have it."""
    document: str | float | None = None
    """The document's figure, where the scenario has no reference for it."""
    at_most: bool = False
    """The document says that it is less than this."""
    statistic: Statistic = Statistic.MEAN
    repetition: int | None = Field(None, ge=1)
    """Shows one repetition alone."""
    incomparable: str = ""
    """Why the two cannot be compared, though both are shown."""
    note: str = ""
    """Why ours differs, where the scenario has no reference for it."""
    input: bool = False
    """The document's figure went into the scenario, where that has no reference for it."""

    @property
    def name(self) -> str:
        """One line that names it: a figure of one name is one."""
        parts = [self.here]
        parts += [] if self.statistic is Statistic.MEAN else [self.statistic]
        parts += [f"repetition {self.repetition}"] if self.repetition else []
        return ", ".join(parts)


def _kind(cell: object) -> str:
    return "measured" if isinstance(cell, dict | Measured) else "text"


Cell = Annotated[
    Annotated[str | float, Tag("text")] | Annotated[Measured, Tag("measured")],
    Discriminator(_kind),
]
"""Text of the document's own table, or a figure."""


class Statement(Model):
    """A sentence of the document, and the finding that tests it."""

    text: str
    """In words of ours."""
    scenario: str = ""
    finding: str = ""
    """As in a scenario's `expect`; empty where nothing here can test it."""
    note: str = ""
    """Why the finding does not hold, or why there is none."""
    input: bool = False
    """The scenario was made so that it holds."""

    @model_validator(mode="after")
    def _says_why(self) -> Statement:
        if not self.finding and not self.note:
            raise ValueError("a statement has a finding, or a note that says why it has none")
        return self


class PlotKind(StrEnum):
    """A kind of picture."""

    THROUGHPUT = "throughput"
    """Throughput over time, a panel a variant."""
    SHARES = "shares"
    """Share of the payload by path, a bar a variant."""
    BARS = "bars"
    """The figures of the cells, the document's beside ours."""
    BOXES = "boxes"
    """Distribution of completion times, a box a variant."""
    CUMULATIVE = "cumulative"
    """Payload acknowledged over time, a line a subflow."""
    ROUND_TRIPS = "round-trips"
    """Round-trip times by the payload that was acknowledged, a line a subflow."""
    EXCHANGE = "exchange"
    """The protocol's events in words; of a capture."""
    ADDRESSES = "addresses"
    """How many packets each address sent, and how often; of a capture."""
    SUBFLOWS = "subflows"
    """The subflows of a host as a listing."""


CAPTURED = (PlotKind.EXCHANGE, PlotKind.ADDRESSES)
"""Kinds that are of a capture."""


class Plot(Model):
    """Our picture in the place of the document's."""

    kind: PlotKind
    scenario: str = ""
    variants: tuple[str, ...] = ()
    node: str = ""
    """The host whose subflows are listed."""
    size: str = "1 MB"
    """Of the bulk transfer of a captured run, which holds every packet."""
    events: tuple[str, ...] = ()
    """The kinds of events that an exchange tells of; all where empty."""
    words: tuple[str, ...] = ()
    """Every one is in each of its lines: an option, such as `MP_CAPABLE`, or `subflow 1`."""


class Item(Model):
    """A table, a figure, a listing or a finding of the document."""

    table: str | None = None
    figure: str | None = None
    listing: str | None = None
    finding: str | None = None
    """One of the four: its number; a finding is one of ours where the text has none."""
    section: str
    """Section of the document."""
    caption: str
    """In words of ours."""
    scenario: str = ""
    """Of cells, statements and the plot that name none."""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    says: tuple[Statement, ...] = ()
    plots: tuple[Plot, ...] = ()
    note: str = ""
    """A remark that a reader needs, or why nothing here stands beside it."""

    @model_validator(mode="after")
    def _is_one_and_even(self) -> Item:
        kinds = (self.table, self.figure, self.listing, self.finding)
        if sum(one is not None for one in kinds) != 1:
            raise ValueError("an item has one of table, figure, listing and finding")
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError("each row has a cell for each column")
        if not self.rows and not self.says and not self.plots and not self.note:
            raise ValueError("an item without rows, statements and plots has a note that says why")
        return self

    @property
    def kind(self) -> Literal["table", "figure", "listing", "finding"]:
        """Its kind."""
        if self.table or self.figure:
            return "table" if self.table else "figure"
        return "listing" if self.listing else "finding"

    @property
    def number(self) -> str:
        """Its number in the document."""
        return self.table or self.figure or self.listing or self.finding or ""

    @property
    def name(self) -> str:
        """`table 6.4`."""
        return f"{self.kind} {self.number}"

    def measured(self) -> Iterator[Measured]:
        """The cells that have figures."""
        for row in self.rows:
            yield from (cell for cell in row if isinstance(cell, Measured))


class Document(Model):
    """A document: what it is, and its tables, figures and listings in its order."""

    name: str
    """Of its folder in the catalogue."""
    title: str
    about: str
    """The testbed or simulation that it built, and its measurements."""
    quick: str
    """Longest duration of bulk transfers in a quick run."""
    items: tuple[Item, ...]
