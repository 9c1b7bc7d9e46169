"""Arguments that callers give and values that they are given, without any connection."""

import inspect
import re
import socket
from ipaddress import ip_address
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mptcplab.subflow import Address, SubflowError, errors
from mptcplab.subflow.arguments import address, from_option, to_option

ROOT = Path(__file__).parents[2]


@given(st.ip_addresses(), st.integers(0, 0xFFFF))
def test_addresses_are_taken_in_every_form(ip: object, port: int) -> None:
    plain = ip_address(str(ip))
    assert address(str(plain)) == address(plain) == (plain, 0)
    assert address((str(plain), port)) == address((plain, port)) == (plain, port)
    assert address((str(plain), port, 0, 0)) == (plain, port)
    text = f"[{plain}]:{port}" if plain.version == 6 else f"{plain}:{port}"
    assert Address.parse(text) == (str(plain), port)
    assert Address.parse(text).ip == plain


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("localhost", "does not appear to be an IPv4 or IPv6 address"),
        (("10.0.0.1", 65536), "65536 is no port: it must be 0 to 65535"),
        (("10.0.0.1", -1), "-1 is no port: it must be 0 to 65535"),
        ("fe80::1%eth0", "fe80::1%eth0: give fe80::1, and interface='eth0'"),
    ],
)
def test_what_is_no_address_is_refused(given: str, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        address(given)


@pytest.mark.parametrize(
    ("option", "value"),
    [(socket.SO_RCVBUF, 5000), (socket.SO_KEEPALIVE, 1), (socket.SO_LINGER, b"\1\0\0\0\2\0\0\0")],
)
def test_values_of_options_are_those_of_the_socket_module(option: int, value: int | bytes) -> None:
    with socket.socket() as theirs, socket.socket() as ours:
        theirs.setsockopt(socket.SOL_SOCKET, option, value)
        ours.setsockopt(socket.SOL_SOCKET, option, to_option(value))
        told = ours.getsockopt(socket.SOL_SOCKET, option, 64)
        for length in (0, 1, 4, 64):
            expected = theirs.getsockopt(socket.SOL_SOCKET, option, length)
            assert from_option(told, length) == expected


def test_the_text_of_an_option_is_its_bytes() -> None:
    assert to_option("cubic") == to_option(b"cubic") == to_option(bytearray(b"cubic")) == b"cubic"


def test_every_error_of_the_crate_has_a_class() -> None:
    source = (ROOT / "crates/host/subflow/src/error.rs").read_text(encoding="utf-8")
    variants = source.partition("pub enum Error {")[2].partition("\n}\n")[0]
    names = set(re.findall(r"^    (\w+)(?:,| \{)$", variants, re.MULTILINE))
    assert len(names) > 20
    classes = SubflowError.__subclasses__()
    assert {each.__name__ for each in classes} == names
    for each in classes:
        assert each.kind == re.sub(r"(?<!^)(?=[A-Z])", "_", each.__name__).lower()
        fields = variants.partition(f"    {each.__name__} {{\n")[2].partition("    },")[0]
        told = set(re.findall(r"^        (\w+):", fields, re.MULTILINE)) - {"timeout_ms"}
        declared = set(inspect.get_annotations(each)) - {"timeout"}
        assert told == declared, each


def test_an_error_that_is_not_known_is_still_a_subflow_error() -> None:
    error = errors.typed("what", '{"kind": "of_the_future", "reason": "unknown"}')
    assert type(error) is SubflowError
    assert str(error) == "what"
