from functools import cache
from pathlib import Path

import pytest

from mptcplab.engine.compile import compile_plan
from mptcplab.plan.traffic import Traffic
from mptcplab.scenario import Entry, catalogue, load, profiles
from mptcplab.scenario.profiles import profile, profile_names
from mptcplab.scenario.tree import parse_tree

FAMILIES = {"A": 8, "B": 7, "C": 8, "D": 8, "E": 6, "F": 9, "G": 3}
"""Families of the Lisbon testbed, and how many scenarios each has."""
WANTED = {
    *(
        f"lisbon/{family}{number}"
        for family, last in FAMILIES.items()
        for number in range(1, last + 1)
    ),
    "birzeit/long-equal",
    "birzeit/long-unequal",
    "birzeit/controller",
    "birzeit/controller-sizes",
    "birzeit/short-equal",
    "birzeit/short-unequal",
    "birzeit/unequal-links",
    *(f"torino/{name}" for name in ("A1", "A2", "B", "C", "D", "E")),
    *(f"torino/{letter}-{part}" for letter in "BCDE" for part in ("latency", "utilisation", "ftp")),
    *(f"torino/{letter}-schedulers" for letter in "BCD"),
    "data-centre/controller",
    "data-centre/permutation",
    "data-centre/random",
    "carfi/netcat-topology",
    "carfi/application",
    "carfi/drive",
    "carfi/equal-paths",
    "louvain/agents",
    "louvain/causes",
    "louvain/coupled",
    "louvain/experiments",
    "louvain/shared",
    "louvain/unequal",
    "lisbon/A4-overlap",
    "lisbon/E2-coupled",
    "beyond/controller-failure",
    "beyond/controller-shared",
    "beyond/controller-strangled",
    "beyond/controller-stream",
    "beyond/middleboxes",
    "beyond/schedulers",
    "beyond/schedulers-answers",
    "beyond/stream",
    "birzeit/real-time",
}
ENTRIES = catalogue()
SHORT = ("-10k", "-50k", "-100k", "-200k", "-500k", "-short")
"""Ends of the names of variants whose transfers are over before a subflow need have joined."""
BY_EVENTS = {"application"}
"""Variants whose subflows are opened by events, of which nothing is expected beforehand."""
ALONE = {"alone-eth", "alone-wifi", "lia-1"}
"""MPTCP that is kept to one of its interfaces, or to one subflow."""
BY_CONTROLLER = {
    "data-centre/controller",
    "birzeit/controller",
    "birzeit/controller-sizes",
    *(f"beyond/controller-{name}" for name in ("failure", "shared", "strangled", "stream")),
}
"""A controller of switches decides which subflows there are."""
ONE_RADIO = {"lisbon/F1", "lisbon/F2", "lisbon/F3"}
"""MPTCP with a single interface."""


def test_the_documents_experiments_are_there() -> None:
    assert {entry.name for entry in ENTRIES} >= WANTED


def test_entries_are_found_by_pattern_and_by_part_of_their_name() -> None:
    assert [entry.name for entry in catalogue("lisbon/B*")] == [
        f"lisbon/B{number}" for number in range(1, 8)
    ]
    assert [entry.name for entry in catalogue("netcat")] == ["carfi/netcat-topology"]
    assert catalogue("nowhere") == []


@cache
def _traffic(name: str, variant: str) -> tuple[Traffic, ...]:
    """The traffic of a plan, without the networks, which are large."""
    return compile_plan(load(name), variant, seed=1).traffic


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_each_entry_says_what_it_is_and_compiles(entry: Entry) -> None:
    scenario = load(entry.name)
    assert scenario.name == entry.name
    assert scenario.title == entry.title
    assert scenario.source
    assert scenario.description
    assert scenario.expect
    for variant in scenario.variants:
        assert _traffic(entry.name, variant)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_mptcp_variants_expect_more_than_one_path(entry: Entry) -> None:
    scenario = load(entry.name)
    for name, variant in scenario.variants.items():
        joins = max(item.expected_joins for item in _traffic(entry.name, name))
        short = name.endswith(SHORT) or name in BY_EVENTS | ALONE
        several = not short and entry.name not in ONE_RADIO | BY_CONTROLLER
        assert (joins > 0) == (variant.protocol == "mptcp" and several)


def test_profiles_say_where_their_figures_come_from() -> None:
    assert {"ethernet-100", "wifi-g", "wifi-campus", "lte", "4g", "dsl"} <= set(profile_names())
    for one in map(profile, profile_names()):
        assert one.title
        assert len(one.source) > 40


def test_each_profile_is_what_the_whole_file_says() -> None:
    file = Path(profiles.__file__).with_suffix(".yaml")
    whole = parse_tree(file.read_text(encoding="utf-8"), file.name).value
    assert {name: profiles.written(name) for name in profile_names()} == whole


def half_duplex_payload_mbps(name: str) -> float:
    """TCP payload with an acknowledgement for every two segments on the shared channel."""
    found = profile(name)
    framing = found.framing or 0
    assert isinstance(found.rate, int)
    share = 2 * 1448 / (2 * (1500 + framing) + 52 + framing)
    return found.rate / 1e6 * share


def full_duplex_payload_mbps(name: str) -> float:
    found = profile(name)
    assert isinstance(found.rate, int)
    return found.rate / 1e6 * 1448 / (1500 + (found.framing or 0))


@pytest.mark.parametrize(
    ("name", "payload_mbps"), [("wifi-g", 43.8), ("wifi-n", 88.0), ("wifi-campus", 7.8)]
)
def test_wifi_carries_what_the_document_measured(name: str, payload_mbps: float) -> None:
    assert profile(name).duplex == "half"
    assert round(half_duplex_payload_mbps(name), 1) == payload_mbps


@pytest.mark.parametrize(
    ("name", "payload_mbps"), [("ethernet-100", 94.1), ("ethernet-1000", 941.5), ("4g", 8.6)]
)
def test_links_carry_what_the_document_measured(name: str, payload_mbps: float) -> None:
    assert round(full_duplex_payload_mbps(name), 1) == payload_mbps
