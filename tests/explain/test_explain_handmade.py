"""Accounts, causes and changes of small recordings and scenarios that are written by hand."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from tests.explain.handmade import MS, busy, recording, two_paths

from mptcplab.explanation.account import (
    CONGESTION_WINDOW,
    NOT_JOINED,
    UNKNOWN,
    Account,
    account,
)
from mptcplab.explanation.candidates import Candidate, candidates
from mptcplab.explanation.changes import Changes, changed, in_full, together
from mptcplab.explanation.observed import Observed
from mptcplab.explanation.told import Change
from mptcplab.explanation.trials import Figures, Trial, Trials
from mptcplab.explanation.verdict import Weighed, causes_of, is_undecided
from mptcplab.explanation.ways import links_between
from mptcplab.recording import Recording, RecordingError
from mptcplab.recording.memory import MemoryRecording
from mptcplab.scenario import loads
from mptcplab.scenario.expanded import expanded
from mptcplab.scenario.network import End

WHOLE_MS = 1000


def of(made: Recording) -> Account:
    observed = Observed(made)
    return account(observed, observed.connections[0])


def ms(times: Mapping[str, int]) -> dict[str, int]:
    return {state: round(ns / MS) for state, ns in times.items()}


def test_an_interface_that_is_not_used_does_not_hide_the_account() -> None:
    told = of(recording(two_paths(), busy("a", 100, 1000)))
    assert ms(told.times_ns) == {CONGESTION_WINDOW: WHOLE_MS}
    assert ms(told.paths_ns["b"]) == {NOT_JOINED: WHOLE_MS}


def test_a_connection_without_a_path_has_not_joined_yet() -> None:
    told = of(recording(two_paths(), busy("a", 500, 1000)))
    assert ms(told.times_ns) == {NOT_JOINED: 400, CONGESTION_WINDOW: 600}


def test_the_busiest_of_the_subflows_of_a_path_counts() -> None:
    idle = busy("a", 100, 1000, share=0)
    told = of(recording(two_paths(), idle + busy("a", 100, 1000, port=40001)))
    assert ms(told.times_ns) == {CONGESTION_WINDOW: WHOLE_MS}


def test_a_path_goes_on_with_the_subflow_that_is_left() -> None:
    first = busy("a", 100, 400)
    told = of(recording(two_paths(), first + busy("a", 100, 1000, port=40001)))
    assert ms(told.paths_ns["a"]) == {CONGESTION_WINDOW: WHOLE_MS}


def test_a_subflow_that_ended_is_not_joined_and_one_that_was_lost_sight_of_is_unknown() -> None:
    ended = busy("b", 100, 400)
    seen = recording(two_paths(), busy("a", 100, 1000) + ended)
    assert ms(of(seen).paths_ns["b"]) == {CONGESTION_WINDOW: 400, UNKNOWN: 600}
    ended[-1]["final"] = True
    told = of(recording(two_paths(), busy("a", 100, 1000) + ended))
    assert ms(told.paths_ns["b"]) == {CONGESTION_WINDOW: 400, NOT_JOINED: 600}
    assert ms(told.times_ns) == {CONGESTION_WINDOW: WHOLE_MS}


def test_a_final_sample_of_another_subflow_moves_no_time() -> None:
    half = busy("a", 100, 1000, share=0.5)
    alone = of(recording(two_paths(), half))
    ended = busy("b", 100, 300)
    ended.append({**ended[-1], "at_ms": 350, "final": True})
    beside = of(recording(two_paths(), half + ended))
    assert ms(beside.paths_ns["a"]) == ms(alone.paths_ns["a"])
    assert ms(beside.paths_ns["a"])[CONGESTION_WINDOW] == WHOLE_MS // 2


def test_a_recording_without_a_plan_is_refused_in_one_line() -> None:
    whole = recording(two_paths(), ())
    made = MemoryRecording(whole.folder, whole.manifest.model_copy(update={"plan": {}}), {})
    with pytest.raises(RecordingError, match=r"manifest\.json: has no plan") as refused:
        Observed(made)
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize("column", ["traffic", "client", "server"])
def test_a_transfer_that_the_plan_does_not_know_is_refused_in_one_line(column: str) -> None:
    made = recording(two_paths(), (), {column: "other"})
    with pytest.raises(RecordingError, match=f"has no {column} 'other'") as refused:
        Observed(made)
    assert len(str(refused.value).splitlines()) == 1


def causes(made: Recording) -> list[tuple[str, Any]]:
    """Causes where only the scenario as it is was tried: their names and figures."""
    scenario = two_paths()
    observed = Observed(made)
    told = account(observed, observed.connections[0])
    changes = Changes(scenario, "mptcp", observed.plan, told.connection)
    found = candidates(observed, told, changes)
    base = Trial(None, [Figures(10.0, 0.0)] * 2)
    return [
        (one.name, one.at_most_mbps)
        for one in causes_of(base, [Weighed(one, None) for one in found])
    ]


def test_a_fallback_without_a_known_middlebox_is_told() -> None:
    made = recording(two_paths(), busy("a", 100, 1000), {"fallback": True})
    assert causes(made)[0] == ("fallback", 10.0)


def test_a_late_subflow_without_a_known_reason_is_told() -> None:
    made = recording(two_paths(), busy("a", 100, 1000) + busy("b", 700, 1000))
    assert ("late_subflow", pytest.approx(6.0)) in causes(made)


def test_causes_without_a_trial_stand_last_but_for_a_single_path() -> None:
    base = Trial(None, [Figures(10.0, 0.0)] * 2)
    change = Change({"links.a.loss": "0 %"}, ())
    found = [
        Candidate("late_subflow", "b", ["late"], None, unused_mbps=3.0),
        Candidate("loss", "a", ["lost"], change),
        Candidate("fallback", "a", ["fell back"], None),
    ]
    better = Trial(change, [Figures(12.0, 0.0)] * 2)
    told = causes_of(base, [Weighed(one, better if one.without else None) for one in found])
    assert [one.name for one in told] == ["fallback", "loss", "late_subflow"]
    costs = [one.to_json() for one in told]
    assert costs[0]["cost_mbps"] is None
    assert costs[1]["cost_mbps"] == pytest.approx(2.0)
    assert costs[2]["cost_at_most_mbps"] == pytest.approx(3.0)


def test_the_hosts_and_links_of_a_fat_tree_can_be_changed() -> None:
    tree: dict[str, Any] = {
        "topology": {"fat-tree": {"k": 2, "link": {"rate": "10 Mbit/s", "delay": "1 ms"}}},
        "variants": {"mptcp": {"protocol": "mptcp"}},
    }
    hosts = list(expanded(tree)["hosts"])
    tree["traffic"] = [{"bulk": {"from": hosts[0], "to": hosts[1], "duration": "1 s"}}]
    full = in_full(loads(json.dumps(tree)))
    link = next(iter(full.provenance.tree["links"]))
    change = Change({f"links.{link}.queue": "1 BDP", f"hosts.{hosts[0]}.sysctls": {}}, ())
    assert changed(full, "mptcp", change).variants["mptcp"].set == change.values
    other = Change({"links.nowhere.queue": "1 BDP"}, ())
    trials = Trials(full, "mptcp", 1)
    assert [trials.add(one) for one in (change, other)] == [1, None]
    assert trials[1].change is change
    (only,) = trials.refused
    assert only.change is other
    assert "nowhere" in only.reason
    assert len(only.reason.splitlines()) == 1


def test_a_short_queue_replaces_those_of_both_directions() -> None:
    scenario = two_paths({"up": {"queue": "20 BDP"}, "down": {"queue": "30 BDP", "loss": "1 %"}})
    observed = Observed(recording(scenario, busy("a", 100, 1000)))
    changes = Changes(scenario, "mptcp", observed.plan, observed.connections[0])
    short = {f"links.b.{key}": "1 BDP" for key in ("queue", "up.queue", "down.queue")}
    assert changes.short_queue("b").values == short
    assert changes.without_loss("b").values == {"links.b.loss": "0 %", "links.b.down.loss": "0 %"}
    changed(scenario, "mptcp", changes.short_queue("b"))


def shared_trunk(**more: Any) -> str:
    """Two paths of a client, over a router and one link to the server."""
    ends = {"a": ["client.a", "r.a"], "b": ["client.b", "r.b"], "trunk": ["r.lan", "server.lan"]}
    tree = {
        "hosts": {
            "client": {"interfaces": {"a": {}, "b": {}}},
            "server": {"interfaces": {"lan": {}}},
        },
        "routers": {"r": more},
        "links": {name: {"between": pair, "rate": "10 Mbit/s"} for name, pair in ends.items()},
        "traffic": [{"bulk": {"from": "client", "to": "server", "duration": "1 s"}}],
        "variants": {"mptcp": {"protocol": "mptcp"}},
    }
    return json.dumps(tree)


def test_the_links_of_a_path_are_those_of_the_routes() -> None:
    ends = End("client", "a"), End("server", "lan")
    assert links_between(loads(shared_trunk()), *ends) == {"a", "trunk"}
    assert links_between(two_paths(), End("client", "a"), End("server", "b")) is None
    assert links_between(loads(shared_trunk(ecmp=True)), *ends) is None


def test_a_gain_that_would_count_and_may_be_chance_is_undecided() -> None:
    base = Trial(None, [Figures(10.0, 10.0)] * 3)
    chance = Trial(Change({"a": 1}, ()), [Figures(own, 10.0) for own in (8.0, 10.0, 15.0)])
    certain = Trial(Change({"a": 2}, ()), [Figures(11.0, 10.0)] * 3)
    small = Trial(Change({"a": 3}, ()), [Figures(own, 10.0) for own in (9.9, 10.0, 10.2)])
    assert [is_undecided(base, one) for one in (chance, certain, small)] == [True, False, False]
    of_others = Trial(Change({"a": 4}, ()), [Figures(9.0, other) for other in (9.0, 10.0, 14.0)])
    assert not is_undecided(base, of_others)
    assert is_undecided(base, of_others, of_others=True)


def test_causes_that_hide_each_other_are_told_by_putting_each_back() -> None:
    def trial(own_mbps: float) -> Trial:
        return Trial(None, [Figures(own_mbps, 0.0)] * 2)

    change = Change({"links.a.loss": "0 %"}, ())
    names = ("send_buffer_too_small", "receive_buffer_too_small")
    found = [Candidate(name, None, ["small"], change) for name in names]
    base, clean = trial(10.0), trial(20.0)
    weighed = [
        Weighed(found[0], trial(10.0), put_back=trial(12.0)),
        Weighed(found[1], trial(10.1), put_back=trial(19.9)),
    ]
    (told,) = causes_of(base, weighed, clean)
    assert told.name == names[0]
    assert told.cost_mbps == pytest.approx(8.0)
    assert causes_of(base, weighed) == []


def test_changes_at_once_keep_what_each_sets() -> None:
    key = "hosts.client.sysctls"
    small, large = Change({key: {"a": 1}}, ["x"]), Change({key: {"b": 2}}, ["y"], False)
    assert together([small, large]) == Change({key: {"a": 1, "b": 2}}, ["x", "y"], False)


def test_gains_are_of_the_seeds_that_both_ran_with() -> None:
    base = Trial(None, [Figures(10.0, 0.0), Figures(20.0, 0.0)])
    short = Trial(Change({"a": 1}, ()), [Figures(11.0, 0.0)])
    assert short.gain_over(base).samples == (1.0,)
