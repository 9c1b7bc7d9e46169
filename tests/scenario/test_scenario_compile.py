from pathlib import Path

import pytest
from tests.scenario.compiled import direction, plan

from mptcplab.engine.compile import Capture, compile_plan
from mptcplab.scenario import ScenarioError, load


def test_a_link_without_settings_is_a_perfect_wire() -> None:
    assert direction("") == {
        "rate": {"kind": "unlimited"},
        "burst_bytes": 0,
        "framing_bytes": 0,
        "delay_ns": 0,
        "jitter": {"kind": "none"},
        "loss": {"kind": "none"},
        "reordering": None,
        "duplication": 0.0,
        "queue": {
            "limit_packets": None,
            "limit_bytes": None,
            "discipline": {"kind": "drop_tail"},
        },
        "up": True,
    }


@pytest.mark.parametrize(
    ("setting", "key", "value"),
    [
        ("rate: 48 Mbit/s", "rate", {"kind": "fixed", "bits_per_second": 48_000_000}),
        ("rate: 48 Mbit/s, burst: 15 kB", "burst_bytes", 15_000),
        ("framing: 38 B", "framing_bytes", 38),
        ("delay: 1.5 ms", "delay_ns", 1_500_000),
        ("jitter: 1 ms", "jitter", {"kind": "uniform", "range_ns": 1_000_000}),
        ("jitter: {normal: 1 ms}", "jitter", {"kind": "normal", "sd_ns": 1_000_000}),
        ("loss: 0.5 %", "loss", {"kind": "random", "probability": 0.005}),
        (
            "loss: {gilbert-elliott: {p: 1 %, r: 25 %}}",
            "loss",
            {"kind": "gilbert_elliott", "p": 0.01, "r": 0.25, "loss_good": 0.0, "loss_bad": 1.0},
        ),
        (
            "reordering: {probability: 2 %, by: 3 ms}",
            "reordering",
            {"probability": 0.02, "extra_ns": 3_000_000},
        ),
        ("duplication: 1 %", "duplication", 0.01),
    ],
)
def test_each_setting_reaches_both_directions(setting: str, key: str, value: object) -> None:
    assert direction(setting, 0)[key] == value
    assert direction(setting, 1)[key] == value


@pytest.mark.parametrize(
    ("setting", "packets", "size_bytes"),
    [
        # 100 Mbit/s × (20 + 20) ms = 500 kB.
        ("rate: 100 Mbit/s, delay: 20 ms", None, 500_000),
        ("rate: 100 Mbit/s, delay: 20 ms, queue: 2 BDP", None, 1_000_000),
        ("rate: 100 Mbit/s, delay: 20 ms, queue: 0.5 BDP", None, 250_000),
        # The way back counts: 100 Mbit/s × (20 + 60) ms = 1 MB.
        ("rate: 100 Mbit/s, delay: 20 ms, down: {delay: 60 ms}", None, 1_000_000),
        # Below 16 packets of 1500 bytes: those.
        ("rate: 10 Mbit/s, delay: 1 ms", None, 24_000),
        ("rate: 10 Mbit/s, delay: 1 ms, queue: 50 packets", 50, None),
        ("rate: 10 Mbit/s, delay: 1 ms, queue: 9 kB", None, 9_000),
        ("rate: 10 Mbit/s, delay: 1 ms, queue: unlimited", None, None),
        ("delay: 20 ms", None, None),
    ],
)
def test_queues_hold_one_bdp_unless_said(
    setting: str, packets: int | None, size_bytes: int | None
) -> None:
    queue = direction(setting)["queue"]
    assert (queue["limit_packets"], queue["limit_bytes"]) == (packets, size_bytes)


def test_codel_has_the_parameters_of_its_rfc_unless_said() -> None:
    assert direction("rate: 1 Mbit/s, queue: {discipline: codel}")["queue"]["discipline"] == {
        "kind": "codel",
        "target_ns": 5_000_000,
        "interval_ns": 100_000_000,
    }
    made = direction("rate: 1 Mbit/s, queue: {discipline: codel, target: 1 ms, interval: 20 ms}")
    assert made["queue"]["discipline"]["target_ns"] == 1_000_000
    assert made["queue"]["discipline"]["interval_ns"] == 20_000_000


def test_up_is_from_the_first_end_to_the_second() -> None:
    setting = "rate: 10 Mbit/s, up: {rate: 1 Mbit/s}, down: {loss: 1 %}"
    up, down = direction(setting, 0), direction(setting, 1)
    assert up["rate"]["bits_per_second"] == 1_000_000
    assert down["rate"]["bits_per_second"] == 10_000_000
    assert (up["loss"]["kind"], down["loss"]["kind"]) == ("none", "random")
    (link, *_) = plan(setting)["links"]
    assert link["ends"] == [{"node": 0, "interface": 0}, {"node": 2, "interface": 0}]


def test_a_links_own_settings_win_over_its_profile() -> None:
    made = direction("profile: lte, rate: 3 Mbit/s")
    assert made["rate"]["bits_per_second"] == 3_000_000
    assert made["delay_ns"] == 25_000_000
    assert plan("profile: wifi-g")["links"][0]["config"]["duplex"] == "half"
    assert plan("profile: wifi-g, duplex: full")["links"][0]["config"]["duplex"] == "full"


def test_a_trace_is_replayed_as_the_rate(tmp_path: Path) -> None:
    (tmp_path / "t.mahi").write_text("0\n5\n5\n10\n")
    made = direction("trace: t.mahi, delay: 1 s", folder=tmp_path)
    assert made["rate"] == {"kind": "trace", "opportunities_ms": [0, 5, 5, 10]}
    # Four opportunities of 1504 bytes in 10 ms, over a round trip of 2 s.
    assert made["queue"]["limit_bytes"] == 4 * 1504 * 100 * 2
    # It takes the place of the profile's rate.
    assert direction("profile: 4g, trace: t.mahi", folder=tmp_path)["rate"]["kind"] == "trace"


def test_fast_links_take_large_segments() -> None:
    wifi, lan, eth = plan("rate: 499 Mbit/s")["links"]
    assert (wifi["offload"], lan["offload"], eth["offload"]) == (False, True, False)
    assert plan("rate: 1 Mbit/s, offload: true")["links"][0]["offload"] is True


def test_captures_are_of_all_interfaces_of_hosts_unless_named() -> None:
    scenario = load("lisbon/A1")
    folder = Path("/somewhere")
    every = compile_plan(scenario, "mptcp", 1, Capture(folder)).to_json()["capture"]
    assert [(end["node"], end["interface"]) for end in every["interfaces"]] == [
        (0, 0), (0, 1), (1, 0), (1, 1),
    ]  # fmt: skip
    one = compile_plan(scenario, "mptcp", 1, Capture(folder, ("ap.lan",), 96)).to_json()["capture"]
    assert one == {
        "folder": "/somewhere",
        "interfaces": [{"node": 2, "interface": 1}],
        "snap_length": 96,
    }


def test_a_variants_values_apply_to_it_alone() -> None:
    more = "variants: {a: {}, b: {set: {links.wifi.rate: 5 Mbit/s}}}"
    rates = [
        plan("rate: 8 Mbit/s", more=more, variant=name)["links"][0]["config"]["directions"][0][
            "rate"
        ]
        for name in "ab"
    ]
    assert [rate["bits_per_second"] for rate in rates] == [8_000_000, 5_000_000]


def test_an_unknown_variant_is_refused() -> None:
    with pytest.raises(ScenarioError, match='no variant "mtpcp": did you mean "mptcp"'):
        plan(variant="mtpcp")
