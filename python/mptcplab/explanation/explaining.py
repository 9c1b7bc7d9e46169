"""A recording explained: where the time of its connections went, why, and what helps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from statistics import fmean

from mptcplab.explanation.account import Account, account
from mptcplab.explanation.candidates import candidates
from mptcplab.explanation.changes import Changes, in_full
from mptcplab.explanation.observed import Observed
from mptcplab.explanation.told import ConnectionAccount, Explanation
from mptcplab.explanation.trials import Follow, Trials, why_not
from mptcplab.explanation.verdict import SEEDS, judged
from mptcplab.metrics import measure
from mptcplab.recording import Recording
from mptcplab.scenario import Scenario, ScenarioError

_NS_PER_S = 1e9


def explain_recording(
    recording: Recording,
    scenario: Scenario | None,
    *,
    workers: int | None = None,
    remedies: bool = True,
    trials: bool = True,
    follow: Follow | None = None,
) -> Explanation:
    """Explains a recording; `scenario` is that of its result, null where it is not known.

    Causes are those of the longest connection. Without `trials` there is the account alone.
    `follow` makes the progress of each round of trials.

    Raises:
        RecordingError: a table is missing or damaged, or there is no plan.
        EngineError: a trial failed.

    """
    observed = Observed(recording)
    accounts = [account(observed, one) for one in observed.connections]
    manifest = recording.manifest
    told = Explanation(
        manifest.variant,
        manifest.repetition,
        measure(recording).metrics.get("goodput"),
        [_in_seconds(one) for one in accounts],
    )
    if not accounts:
        return replace(told, untried="the recording has no transfer over MPTCP")
    if scenario is None:
        untried = "its scenario is not known: explain the result's folder"
        return replace(told, untried=untried)
    if not trials:
        return replace(told, untried="only the account was asked for")
    reason = why_not(scenario, manifest.variant)
    if reason is not None:
        return replace(told, untried=reason)
    # Connections of one flow are alike: the longest tells most.
    longest = max(accounts, key=lambda one: one.duration_ns)
    try:
        full = in_full(scenario)
        changes = Changes(full, manifest.variant, observed.plan, longest.connection)
        found = candidates(observed, longest, changes)
        tries = Trials(full, manifest.variant, manifest.seed, workers, follow)
        causes, helping = judged(tries, found, list(changes.remedies()) if remedies else ())
    except ScenarioError as error:
        return replace(told, untried=str(error.problems[0]))
    return replace(
        told,
        causes=causes,
        remedies=helping,
        # By the seeds of most trials: where some got more, the base got them too.
        simulated_mbps=fmean(run.own_mbps for run in tries[0].runs[:SEEDS]),
        refused=tries.refused,
        were_remedies_tried=remedies,
    )


def _in_seconds(of: Account) -> ConnectionAccount:
    transfer = of.connection.transfer
    return ConnectionAccount(
        transfer["traffic"],
        transfer["index"],
        of.duration_ns / _NS_PER_S,
        _seconds(of.times_ns),
        {path: _seconds(times) for path, times in of.paths_ns.items()},
    )


def _seconds(times_ns: Mapping[str, int]) -> dict[str, float]:
    longest_first = sorted(times_ns.items(), key=lambda item: -item[1])
    return {state: ns / _NS_PER_S for state, ns in longest_first}
