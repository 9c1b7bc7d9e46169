"""`nc`: standard input and output at the ends of a connection whose subflows one can steer."""

from __future__ import annotations

import ipaddress
import json
import socket
from dataclasses import dataclass
from pathlib import Path

import typer

from mptcplab.cli.errors import UserError
from mptcplab.cli.netcat_paths import PathOptions, wishes

MOST_PORTS = 65536
"""Ports of one scan at most: every one there is."""
MOST_SECONDS = 1e9
"""Of a time that is given; nobody waits longer."""


@dataclass(frozen=True)
class NetcatOptions:
    """The command's options."""

    words: tuple[str, ...]
    listen: bool
    port: str | None
    ipv4: bool
    ipv6: bool
    tcp: bool
    udp: bool
    keep: bool
    scan: bool
    wait: float | None
    verbose: bool
    half_close: bool
    quit_after: float | None
    no_input: bool
    numeric: bool
    source: str | None
    paths: PathOptions
    as_json: bool
    json_file: Path | None


def netcat(options: NetcatOptions) -> None:
    """Checks the options, and ends with netcat's exit status."""
    request = native_options(options)
    from mptcplab import _native

    status = _native.netcat(json.dumps(request))
    if status:
        raise typer.Exit(status)


def native_options(options: NetcatOptions) -> dict[str, object]:
    """The options as `_native.netcat` takes them.

    Raises:
        UserError: they contradict each other, or one of them means nothing.

    """
    _check_together(options)
    host, ports, source_port = _ends(options)
    if options.numeric and host is not None:
        _address(host, "-n, and the host is a name")
    quit_after_ms = _quit_after_ms(options.quit_after)
    return {
        "protocol": "udp" if options.udp else "tcp" if options.tcp else "mptcp",
        "host": host,
        "ports": ports,
        "listen": options.listen,
        "keep": options.keep,
        "scan": options.scan,
        "family": "4" if options.ipv4 else "6" if options.ipv6 else None,
        "source": None if options.listen or options.source is None else _source(options.source),
        "source_port": source_port,
        "timeout_ms": _timeout_ms(options.wait),
        "verbose": options.verbose,
        "reads_input": not options.no_input,
        # As the netcat of Debian: who gives the peer a time tells it of the end.
        "half_close": options.half_close or quit_after_ms is not None,
        "quit_after_ms": quit_after_ms,
        "subflows": wishes(options.paths),
        "json": options.as_json,
        "json_file": None if options.json_file is None else str(options.json_file),
    }


def _check_together(options: NetcatOptions) -> None:
    contradictions = (
        (options.ipv4 and options.ipv6, "-4 and -6: one of them"),
        (options.tcp and options.udp, "--tcp and -u: one of them"),
        (options.listen and options.scan, "-l and -z: one of them"),
        (options.paths.given and options.listen, "-l: the client opens the subflows"),
        (options.paths.given and (options.tcp or options.udp), "subflows: MPTCP only"),
        (options.paths.given and options.scan, "subflows: not of a scan"),
        (options.keep and not options.listen, "-k: it needs -l"),
    )
    for contradicted, text in contradictions:
        if contradicted:
            raise UserError(text)


def _ends(options: NetcatOptions) -> tuple[str | None, list[int], int | None]:
    """The host, its ports, and the port to connect from."""
    words = list(options.words)
    if options.listen:
        if options.source is not None:
            words.insert(0, _source(options.source))
        if options.port is not None:
            words.append(options.port)
        if len(words) not in (1, 2):
            raise UserError("-l: write nc -l PORT, or nc -l ADDRESS PORT")
        host = words[0] if len(words) == 2 else None
        return host, [_port(words[-1], options)], None
    if len(words) < 2:
        raise UserError("write nc HOST PORT, or nc -l PORT to listen; nc --help tells more")
    ports = [port for word in words[1:] for port in _ports(word, options)]
    if len(ports) > 1 and not options.scan:
        raise UserError(f"{len(ports)} ports: only -z takes more than one")
    if len(ports) > MOST_PORTS:
        raise UserError(f"{len(ports)} ports: {MOST_PORTS} at most")
    return words[0], ports, None if options.port is None else _port(options.port, options)


def _ports(word: str, options: NetcatOptions) -> list[int]:
    """A port, its service's name, or a range such as 20-30."""
    first, dash, last = word.partition("-")
    if not (dash and _is_number(first) and _is_number(last)):
        return [_port(word, options)]
    low, high = _port(first, options), _port(last, options)
    if low > high:
        raise UserError(f"ports {word}: write the smaller one first")
    return list(range(low, high + 1))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _port(word: str, options: NetcatOptions) -> int:
    if _is_number(word) and len(word) < 6 and 0 < int(word) < 65536:
        return int(word)
    if not _is_number(word):
        try:
            return socket.getservbyname(word, "udp" if options.udp else "tcp")
        except (OSError, ValueError):
            pass
    raise UserError(f"port {word}: a number from 1 to 65535, or a service of /etc/services")


def _source(text: str) -> str:
    return _address(text, f"-s {text}")


def _address(text: str, what: str) -> str:
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        raise UserError(f"{what}: an address is wanted, such as 10.0.1.6") from None


def _quit_after_ms(seconds: float | None) -> int | None:
    """None for ever, as a negative time says."""
    if seconds is None or seconds < 0:
        return None
    if not seconds <= MOST_SECONDS:
        raise UserError(f"-q {seconds:g}: seconds, or -1 for no end")
    return round(seconds * 1000)


def _timeout_ms(seconds: float | None) -> int | None:
    if seconds is None:
        return None
    if not 0 < seconds <= MOST_SECONDS:
        raise UserError(f"-w {seconds:g}: seconds, more than 0")
    return max(1, round(seconds * 1000))
