"""An explanation as data: accounts, causes, remedies, and the same as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

from mptcplab.metrics.statistics import Estimate


@dataclass(frozen=True)
class Change:
    """One change."""

    values: Mapping[str, Any]
    """Path in the scenario → value, as for `--set`."""
    settings: Sequence[str]
    """Commands for hosts, a comment behind each with the host's name."""
    stock_kernel: bool = True
    """Whether Linux can do it without further modules or patches."""


@dataclass(frozen=True)
class ConnectionAccount:
    """Where the time of a connection went."""

    traffic: str
    """The flow that it is of."""
    index: int
    """The transfer's number within the flow, from 0."""
    duration_s: float
    """From the connection's start to its end."""
    account_s: Mapping[str, float]
    """State → time; they sum to the duration, the longest first."""
    paths: Mapping[str, Mapping[str, float]]
    """The same of each path, by the client's interface."""

    @property
    def states(self) -> Sequence[str]:
        """The connection's, the longest first, and then those that its paths alone have."""
        beside = {state for times in self.paths.values() for state in times}
        return [*self.account_s, *sorted(beside - set(self.account_s))]


@dataclass(frozen=True)
class Cause:
    """A cause that costs something, or that was seen and could not be tried."""

    name: str
    """As in docs/json.md."""
    path: str | None
    """The client's interface that it is about; null where it is about none."""
    evidence: Sequence[str]
    """Figures of the recording, in words."""
    cost_mbps: float | None
    """By how much more goes without it; of others where they pay for it."""
    cost_s: float | None
    """Delay that it adds, where it costs no goodput."""
    factor: float
    """By how many times it makes goodput or delay worse, by which causes are ranked."""
    at_most_mbps: float | None = None
    """Where it could not be tried: the rates of the links that were not used for it, if known."""

    def to_json(self) -> dict[str, Any]:
        """As in `mptcplab explain --json`."""
        key, cost = ("cost_mbps", self.cost_mbps)
        if self.cost_s is not None:
            key, cost = "cost_s", self.cost_s
        elif self.cost_mbps is None and self.at_most_mbps is not None:
            key, cost = "cost_at_most_mbps", self.at_most_mbps
        return {
            "name": self.name,
            key: cost,
            "path": self.path,
            "evidence": list(self.evidence),
            "factor": self.factor if isfinite(self.factor) else None,
        }

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Cause:
        """Reads what `to_json` made."""
        factor = told["factor"]
        return cls(
            told["name"],
            told["path"],
            told["evidence"],
            told.get("cost_mbps"),
            told.get("cost_s"),
            inf if factor is None else factor,
            told.get("cost_at_most_mbps"),
        )


@dataclass(frozen=True)
class Remedy:
    """A change that was tried and helped."""

    change: Change
    goodput: Estimate
    """Of MPTCP with the change, Mbit/s."""
    gain: Estimate
    """Over the same scenario without it, seed by seed, Mbit/s."""
    gain_of_others: Estimate | None = None
    """Of the flows beside it, which may lose; null where there are none."""

    @property
    def without_mbps(self) -> float:
        """Mean goodput without the change, over the seeds that were tried with it."""
        return (self.goodput.mean or 0.0) - (self.gain.mean or 0.0)

    def to_json(self) -> dict[str, Any]:
        """As in `mptcplab explain --json`."""
        others = self.gain_of_others
        return {
            "change": dict(self.change.values),
            "settings": list(self.change.settings),
            "goodput_mbps": {"mean": self.goodput.mean, "ci95": _ends(self.goodput)},
            "gain": self.gain.mean,
            "gain_ci95": _ends(self.gain),
            "gain_of_others": None if others is None else others.mean,
            "stock_kernel": self.change.stock_kernel,
        }

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Remedy:
        """Reads what `to_json` made."""
        goodput, others = told["goodput_mbps"], told["gain_of_others"]
        return cls(
            Change(told["change"], told["settings"], told["stock_kernel"]),
            _estimate(**goodput),
            _estimate(told["gain"], told["gain_ci95"]),
            None if others is None else _estimate(others, None),
        )


@dataclass(frozen=True)
class Proof:
    """A remedy that was run on the kernel engine, in turn with the scenario as it is."""

    change: Change
    before: Estimate
    """Goodput of MPTCP as it is, Mbit/s."""
    after: Estimate
    """With the change."""
    gain: Estimate
    """Run by run, Mbit/s; with an interval across zero nothing is proven."""

    def to_json(self) -> dict[str, Any]:
        """As in `mptcplab explain --json`."""
        return {
            "change": dict(self.change.values),
            "settings": list(self.change.settings),
            "before_mbps": {"mean": self.before.mean, "ci95": _ends(self.before)},
            "after_mbps": {"mean": self.after.mean, "ci95": _ends(self.after)},
            "gain": self.gain.mean,
            "gain_ci95": _ends(self.gain),
        }

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Proof:
        """Reads what `to_json` made."""
        return cls(
            Change(told["change"], told["settings"]),
            _estimate(**told["before_mbps"]),
            _estimate(**told["after_mbps"]),
            _estimate(told["gain"], told["gain_ci95"]),
        )


@dataclass(frozen=True)
class Refused:
    """A change that could not be tried."""

    change: Change
    reason: str
    """One line."""

    def to_json(self) -> dict[str, Any]:
        """As in `mptcplab explain --json`."""
        return {"change": dict(self.change.values), "reason": self.reason}


@dataclass(frozen=True)
class Explanation:
    """Why a run's MPTCP was as slow as it was, and what helps."""

    variant: str
    repetition: int
    goodput_mbps: float | None
    """Of the recording."""
    connections: Sequence[ConnectionAccount]
    """Of each transfer over MPTCP."""
    causes: Sequence[Cause] = ()
    """Those that cost most come first; but for a single path, those not tried come last."""
    remedies: Sequence[Remedy] = ()
    """Those that gain most come first."""
    simulated_mbps: float | None = None
    """In the simulator, as it is; null where nothing was tried."""
    untried: str | None = None
    """Why nothing was tried."""
    refused: Sequence[Refused] = ()
    """Changes that could not be tried."""
    were_remedies_tried: bool = False
    """Whether remedies were looked for at all."""
    proofs: Sequence[Proof] = ()
    """Remedies that were run on the kernel engine."""
    unproven: str | None = None
    """Why none was, where that was asked for."""

    def to_json(self) -> dict[str, Any]:
        """As in `mptcplab explain --json`."""
        return {
            "variant": self.variant,
            "repetition": self.repetition,
            "goodput_mbps": self.goodput_mbps,
            "connections": [
                {
                    "traffic": one.traffic,
                    "index": one.index,
                    "duration_s": one.duration_s,
                    "account_s": dict(one.account_s),
                    "paths": {path: dict(times) for path, times in one.paths.items()},
                }
                for one in self.connections
            ],
            "causes": [one.to_json() for one in self.causes],
            "remedies": [one.to_json() for one in self.remedies],
            "remedies_tried": self.were_remedies_tried,
            "simulated_mbps": self.simulated_mbps,
            "untried": self.untried,
            "proofs": [one.to_json() for one in self.proofs],
            "unproven": self.unproven,
            "refused": [one.to_json() for one in self.refused],
        }

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Explanation:
        """Reads what `to_json` made."""
        return cls(
            told["variant"],
            told["repetition"],
            told["goodput_mbps"],
            [ConnectionAccount(**one) for one in told["connections"]],
            [Cause.from_json(one) for one in told["causes"]],
            [Remedy.from_json(one) for one in told["remedies"]],
            told["simulated_mbps"],
            told["untried"],
            [Refused(Change(one["change"], ()), one["reason"]) for one in told["refused"]],
            told["remedies_tried"],
            [Proof.from_json(one) for one in told["proofs"]],
            told["unproven"],
        )


def _estimate(mean: float | None, ci95: Sequence[float] | None) -> Estimate:
    return Estimate((), mean, None if ci95 is None else (ci95[0], ci95[1]))


def _ends(of: Estimate) -> list[float] | None:
    return None if of.ci95 is None else list(of.ci95)
