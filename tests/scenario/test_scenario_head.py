"""The head of a scenario is read without a parser where it is plain."""

import pytest

from mptcplab.scenario.head import plain_head

PLAIN = """\
# A comment: with a colon.
name: x/y
title: Two paths, of 10 Mbit/s each
source: A document, table 6.1

hosts:
  client: {interfaces: {a: {}}}
variants:
  # Of TCP.
  tcp-a: {protocol: tcp, via: a}
  mptcp:
    set:
      hosts.client.congestion_control: lia
  last:
repetitions: 3
"""


def test_plain_text_and_names_are_read() -> None:
    assert plain_head(PLAIN) == {
        "title": "Two paths, of 10 Mbit/s each",
        "source": "A document, table 6.1",
        "variants": {"tcp-a": None, "mptcp": None, "last": None},
    }


def test_what_is_not_given_is_not_there() -> None:
    assert plain_head("hosts: {}\n") == {}


@pytest.mark.parametrize(
    "text",
    [
        "title: 'Two paths'",
        "title: Two paths # one more",
        "title: Two paths: a comparison",
        "title: Two paths:",
        "title: Two",
        "title: >-\n  Two paths",
        "title: Two\n  paths",
        "title: Two paths\n  of a kind",
        "title: &two Two paths",
        "title: *two",
        "title: a b\ntitle: c d",
        "title: Two \x1b paths",
        "variants: {tcp: {}}",
        "variants:\n  'tcp': {}",
        "variants:\n  tcp: {}\n  tcp: {}",
        "variants:\n  <<: *others",
        "variants:\n    tcp: {}\n  mptcp: {}",
        "variants:\n  tcp:{}",
        "'title': Two paths",
        "title:Two paths",
        "--- !x",
    ],
)
def test_anything_else_is_left_to_the_parser(text: str) -> None:
    assert plain_head(text) is None
