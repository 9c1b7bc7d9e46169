"""The broker's policy: what is read from YAML, and what is refused with place and mend."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from mptcplab.broker.options import OPTIONS
from mptcplab.broker.policy import for_native, load_policy, own_policy, parse_policy
from mptcplab.scenario.problem import ScenarioError

EXAMPLE = Path(__file__).parents[2] / "packaging" / "broker.yaml"


def problems(text: str) -> list[str]:
    with pytest.raises(ScenarioError) as raised:
        parse_policy(text, "policy.yaml")
    return str(raised.value).splitlines()


def test_the_native_side_gets_numbers_and_the_place_of_each_rule() -> None:
    text = """\
rules:
  - users: [root, 1001]
    groups: root
    interfaces: [wlan*, wwan0]
    max_subflows: 2
    backup: no
    announce: any
    options: [TCP_CONGESTION, SO_MARK]
    congestion_controls: [cubic]
  - users: all
limits:
  opens: 7
"""
    native = for_native(*parse_policy(text, "policy.yaml"))
    first, second = native["policy"]["rules"]
    assert first == {
        "place": "policy.yaml:2",
        "users": {"these": [0, 1001]},
        "groups": {"these": [0]},
        "interfaces": ["wlan*", "wwan0"],
        "max_subflows": 2,
        "backup": False,
        "announce": "any",
        "options": [(socket.IPPROTO_TCP, 13), (socket.SOL_SOCKET, 36)],
        "congestion_controls": ["cubic"],
    }
    assert second["place"] == "policy.yaml:10"
    assert second["users"] == "all"
    assert second["groups"] == {"these": []}
    assert second["announce"] == "own"
    assert native["limits"]["opens"] == 7
    assert native["limits"]["sessions"] == 2048


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rules: [{}]", "policy.yaml:1: rules.0: names nobody: add `users: all`, say,"),
        (
            "rules:\n  - users: nobody-of-this-name",
            '"nobody-of-this-name": there is no user of this name',
        ),
        ("rules:\n  - {users: [-1]}", "policy.yaml:2: rules.0.users: -1: numbers of users go"),
        ("rules: [{users: [true]}]", "expected a user's name or number"),
        (
            "rules:\n  - users: all\n    interface: [eth0]",
            'policy.yaml:3: rules.0.interface: unknown key: did you mean "interfaces"?',
        ),
        (
            "rules: [{users: all, options: [TCP_CONGESTON]}]",
            'rules.0.options.0: "TCP_CONGESTON": did you mean "TCP_CONGESTION"?',
        ),
        (
            "rules: [{users: all, congestion_controls: [cubic]}]",
            "rules.0.congestion_controls: says nothing without `options: [TCP_CONGESTION]`",
        ),
        ("rules: [{users: all, max_subflows: 0}]", "0: must be at least 1"),
        ("rules: [{users: all, announce: sometimes}]", '"sometimes": known: no, own, any'),
        ("rules: [{users: all, backup: maybe}]", "expected true or false"),
        ("rules: [{users: all, interfaces: [a-name-of-sixteen]}]", "no name of an interface"),
        *(
            (
                f'rules:\n  - users: all\n    interfaces:\n      - eth0\n      - "{name}"',
                "policy.yaml:5: rules.0.interfaces.1: ",
            )
            for name in ["", ".", "..", "a b", "a\\nb", "a\\tb", "a/b", "a:1", "a%d", "\u00e0"]
        ),
        ("- users: all", "policy.yaml:1: a policy is a mapping"),
        ("limits: {}", "policy.yaml:1: rules: missing"),
        ("rules: []\nrules: []", "policy.yaml:2: rules: given twice (first in line 1)"),
    ],
)
def test_mistakes_are_named_with_place_and_mend(text: str, message: str) -> None:
    assert any(message in problem for problem in problems(text)), problems(text)


@pytest.mark.parametrize("name", ["wlp3s0", "eth0.100", "veth@1", "w*", "..*", "\u00e9th0"])
def test_names_that_an_interface_can_have_are_taken(name: str) -> None:
    policy, _ = parse_policy(f'rules: [{{users: all, interfaces: ["{name}"]}}]', "policy.yaml")
    assert policy.rules[0].interfaces == [name]


def test_a_policy_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"nowhere\.yaml: cannot be read"):
        load_policy(tmp_path / "nowhere.yaml")


def test_without_a_policy_the_own_user_may_do_everything() -> None:
    [rule] = for_native(*own_policy())["policy"]["rules"]
    assert rule["users"] == {"these": [os.getuid()]}
    assert rule["interfaces"] == ["*"]
    assert len(rule["options"]) == len(OPTIONS)


def test_the_shipped_example_is_in_order() -> None:
    policy, _ = load_policy(EXAMPLE)
    assert policy.rules


def test_options_have_the_numbers_of_this_machine() -> None:
    for name, (level, number) in OPTIONS.items():
        known = getattr(socket, name, number)
        assert (name, number) == (name, known)
        assert level in (socket.IPPROTO_IP, socket.IPPROTO_IPV6, 1, socket.IPPROTO_TCP)


def test_a_second_document_is_refused_as_one_of_a_policy() -> None:
    text = "rules: [{users: all}]\n---\nrules: []\n"
    assert problems(text) == ["policy.yaml:2: a second document: a file holds one policy"]
