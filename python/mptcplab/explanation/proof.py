"""Remedies run on the kernel engine, where it can run them."""

from __future__ import annotations

from dataclasses import replace

from mptcplab.engine.choice import KERNEL, refusals
from mptcplab.explanation.changes import in_full
from mptcplab.explanation.told import Explanation, Proof
from mptcplab.explanation.trials import Follow, Trials
from mptcplab.recording import Recording
from mptcplab.scenario import Scenario, ScenarioError

MOST = 2
"""Remedies that are run: each takes as long as the traffic, several times."""
RUNS = 5
"""Of each, and of the scenario as it is."""


def proven(
    told: Explanation,
    recording: Recording,
    scenario: Scenario | None,
    follow: Follow | None = None,
) -> Explanation:
    """The explanation of a recording with its best remedies run on the kernel, in turn.

    Those that no stock kernel can do are passed over.

    Raises:
        EngineError: a run failed.

    """
    stock = [one.change for one in told.remedies if one.change.stock_kernel][:MOST]
    if scenario is None or not stock:
        return replace(told, unproven="no single change of a stock kernel helps")
    try:
        full = in_full(scenario)
        reasons = refusals(KERNEL, full, [told.variant])
        if reasons:
            return replace(told, unproven=reasons[0].reason)
        trials = Trials(full, told.variant, recording.manifest.seed, follow=follow, engine=KERNEL)
        places = [place for one in stock if (place := trials.add(one)) is not None]
        trials.reach(dict.fromkeys((0, *places), RUNS))
    except ScenarioError as error:
        return replace(told, unproven=str(error.problems[0]))
    if not places:
        return replace(told, unproven=trials.refused[0].reason)
    base = trials[0]
    proofs = [
        Proof(change, base.goodput, trial.goodput, trial.gain_over(base))
        for trial in (trials[place] for place in places)
        if (change := trial.change) is not None
    ]
    return replace(told, proofs=proofs)
