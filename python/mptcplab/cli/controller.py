"""`controller`: OpenFlow switches of a real network, served until Ctrl-C."""

from __future__ import annotations

import json
import os
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mptcplab import _native
from mptcplab.cli.address import address
from mptcplab.cli.controller_network import no_network, read_network
from mptcplab.cli.errors import UserError
from mptcplab.cli.output import ReaderGoneError
from mptcplab.policy.source import PolicyError, PolicyName, read_policy
from mptcplab.scenario.problem import ScenarioError
from mptcplab.scenario.switch import FALLS_BACK, POLICIES, check_link_probe, no_such_policy
from mptcplab.scenario.units import parse_time

_DESCRIPTORS = 4096
"""Enough for every switch that the server takes, where the system grants them."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_EXAMPLES = {"--listen": 6653, "--http": 8080}
"""A port for each option that is an address."""


@dataclass(frozen=True)
class Options:
    """The options of `controller`."""

    listen: str
    policy: str
    network: Path | None
    learn_sizes: bool
    tcp_fallback: bool
    link_probe: str
    tls: tuple[Path | None, Path | None, Path | None]
    """Authority, certificate and key."""
    plain_tcp: bool
    http: str | None
    http_tls: tuple[Path | None, Path | None]
    """Certificate and key."""
    http_token: Path | None


def serve(options: Options, *, as_json: bool) -> None:
    """Serves switches, and prints what happens.

    Raises:
        UserError: the options contradict each other, or cannot be carried out here.

    """
    config = json.dumps(_config(options))
    choose = _function(options.policy)
    _allow_descriptors()
    with _stop_descriptor() as stop:
        try:
            _native.serve_controller(config, stop, as_json, choose)
        except (_native.ControllerError, PolicyError) as error:
            raise UserError(str(error)) from None
        except BrokenPipeError:
            raise ReaderGoneError from None
        except OSError as error:
            raise UserError(f"standard output: cannot be written: {error.strerror}") from None


def _config(options: Options) -> dict[str, Any]:
    """The configuration of `crates/lab/controller-server`."""
    try:
        known = no_network() if options.network is None else read_network(options.network)
    except ScenarioError as error:
        raise UserError(str(error)) from None
    return {
        "listen": _address("--listen", options.listen),
        "policy": options.policy,
        "learn_sizes": options.learn_sizes,
        "tcp_fallback": _tcp_fallback(options, knows_sizes=bool(known["sizes"])),
        "link_probe_ns": _link_probe(options.link_probe),
        "plain_tcp": options.plain_tcp,
        "tls": _tls(*options.tls),
        "http": _http(options),
        **known,
    }


def _function(policy: str) -> Callable[..., int] | None:
    """The function of a policy in Python; None of the controller's own."""
    if policy in POLICIES:
        return None
    try:
        name = PolicyName.parse(policy)
        if name is None:
            raise UserError(f"--policy {policy}: {no_such_policy(policy)}")
        from mptcplab.policy.function import PolicyFunction

        return PolicyFunction(name, read_policy(name, Path()))
    except PolicyError as error:
        raise UserError(f"--policy {policy}: {error}") from None


def _address(option: str, text: str) -> str:
    address(option, text, _EXAMPLES[option])
    return text


def _link_probe(text: str) -> int:
    try:
        return check_link_probe(parse_time(text))
    except ValueError as error:
        raise UserError(f"--link-probe {text}: {error}") from None


def _tcp_fallback(options: Options, *, knows_sizes: bool) -> bool:
    if options.tcp_fallback and options.policy != FALLS_BACK:
        raise UserError(f"--tcp-fallback: is of the policy {FALLS_BACK} alone")
    if options.tcp_fallback and not knows_sizes and options.http_token is None:
        raise UserError(
            "--tcp-fallback: needs sizes that are told: in the file of --network, or by HTTP with "
            "--http-token"
        )
    return options.tcp_fallback


def _http(options: Options) -> dict[str, Any] | None:
    cert, key = options.http_tls
    if options.http is None:
        if any((cert, key, options.http_token)):
            raise UserError("--http-cert, --http-key and --http-token: they belong to --http")
        return None
    if (cert is None) != (key is None):
        raise UserError("--http-cert and --http-key: give both")
    return {
        "listen": _address("--http", options.http),
        "tls": None if cert is None else {"cert": str(cert), "key": str(key)},
        "token": None if options.http_token is None else str(options.http_token),
        "charts": _charts(),
    }


def _charts() -> dict[str, str] | None:
    """The charts of the page; None without the package that has the plotting library."""
    from mptcplab.page.script import CONTROLLER, CONTROLLER_STYLES, script, style_sheet

    try:
        return {"script": script(CONTROLLER), "style": style_sheet(CONTROLLER_STYLES)}
    except ModuleNotFoundError:
        return None


def _tls(ca: Path | None, cert: Path | None, key: Path | None) -> dict[str, Any] | None:
    if ca is None and cert is None and key is None:
        return None
    if ca is None or cert is None:
        raise UserError("--tls-ca and --tls-cert: give both, as each end shows a certificate")
    return {"ca": str(ca), "cert": str(cert), "key": None if key is None else str(key)}


def _allow_descriptors() -> None:
    """Raises the number of files that may be open, where the system allows it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _DESCRIPTORS if hard == resource.RLIM_INFINITY else min(_DESCRIPTORS, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


@contextmanager
def _stop_descriptor() -> Iterator[int]:
    """A descriptor that becomes readable with Ctrl-C or SIGTERM, which do nothing else then."""
    readable, written = os.pipe()
    os.set_blocking(written, False)
    previous = {number: signal.signal(number, lambda *_: None) for number in _SIGNALS}
    before = signal.set_wakeup_fd(written, warn_on_full_buffer=False)
    try:
        yield readable
    finally:
        signal.set_wakeup_fd(before)
        for number, handler in previous.items():
            signal.signal(number, handler)
        os.close(readable)
        os.close(written)
