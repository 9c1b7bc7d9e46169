"""The cases by which explanations are judged, and the changes that remedies are held against."""

import json

import pytest
from benches.explain_cases import KINDS, Case, cases
from benches.explain_changes import every_change

from mptcplab.engine.choice import SIM, refusals
from mptcplab.explanation.changes import changed
from mptcplab.explanation.told import Change
from mptcplab.scenario import ScenarioError, loads

CASES = cases(1, 3 * KINDS)


def test_there_are_at_least_sixty_and_each_kind_is_drawn_anew() -> None:
    assert len(CASES) >= 60
    assert len({case.text for case in CASES}) == len(CASES)
    assert [case.text for case in cases(1, KINDS)] == [case.text for case in CASES[:KINDS]]
    assert cases(2, 1)[0].text != CASES[0].text


@pytest.mark.parametrize("case", CASES[:KINDS], ids=lambda case: case.name)
def test_a_case_can_be_simulated_and_most_changes_be_made(case: Case) -> None:
    scenario = loads(case.text, case.name)
    assert refusals(SIM, scenario, ["mptcp"]) == []
    paths = json.loads(case.text)["hosts"]["client"]["interfaces"]
    assert {path for _, path in case.causes if path is not None} <= set(paths)
    refused = []
    every = list(every_change(json.loads(case.text)))
    for values in every:
        try:
            changed(scenario, "mptcp", Change(values, ()))
        except ScenarioError:
            refused.append(values)
    assert len(every) > 30
    # Some path managers take no backups, and a path that leads nowhere cannot be begun on.
    assert len(refused) <= 6
