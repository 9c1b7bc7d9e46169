"""`controller`: the options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mptcplab.cli.commands.common import path


def controller(
    listen: Annotated[
        str,
        typer.Option(metavar="ADDRESS:PORT", help="Where switches connect: [::]:6653, say."),
    ] = "127.0.0.1:6653",
    policy: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Of paths: shortest, disjoint, mpsshetn, ecmp, least-used, earliest-completion, "
            "or one in Python, FILE.py:FUNCTION.",
        ),
    ] = "earliest-completion",
    network: Annotated[
        Path | None,
        typer.Option(
            parser=path,
            metavar="FILE",
            help="Rates of links that are not their ports' speeds, and sizes of transfers (YAML).",
        ),
    ] = None,
    learn_sizes: Annotated[
        bool,
        typer.Option("--learn-sizes", help="Learn the sizes of transfers from finished ones."),
    ] = False,
    tcp_fallback: Annotated[
        bool,
        typer.Option(
            "--tcp-fallback",
            help="Take MPTCP from connections of told size for which earliest-completion finds TCP "
            "faster: their SYN goes on without MP_CAPABLE.",
        ),
    ] = False,
    link_probe: Annotated[
        str,
        typer.Option(
            metavar="TIME",
            help="Between two frames by which links are found; one that misses three is gone.",
        ),
    ] = "1 s",
    tls_ca: Annotated[
        Path | None,
        typer.Option(parser=path, metavar="FILE", help="Authority of the switches' certificates."),
    ] = None,
    tls_cert: Annotated[
        Path | None,
        typer.Option(parser=path, metavar="FILE", help="Certificate to show to switches."),
    ] = None,
    tls_key: Annotated[
        Path | None,
        typer.Option(parser=path, metavar="FILE", help="Its key, where that is another file."),
    ] = None,
    plain_tcp: Annotated[
        bool,
        typer.Option(
            "--plain-tcp", help="Without TLS beyond the loopback, too: anybody may be a switch."
        ),
    ] = False,
    http: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS:PORT",
            help="Where a page and an API to read the state are served: 127.0.0.1:8080, say.",
        ),
    ] = None,
    http_cert: Annotated[
        Path | None,
        typer.Option(parser=path, metavar="FILE", help="Certificate to show to their readers."),
    ] = None,
    http_key: Annotated[
        Path | None,
        typer.Option(parser=path, metavar="FILE", help="Its key."),
    ] = None,
    http_token: Annotated[
        Path | None,
        typer.Option(parser=path, metavar="FILE", help="A file with the token of their readers."),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print each event as one line of JSON.")
    ] = False,
) -> None:
    """Give the subflows that cross OpenFlow switches their paths, until Ctrl-C."""
    from mptcplab.cli.controller import Options, serve

    serve(
        Options(
            listen=listen,
            policy=policy,
            network=network,
            learn_sizes=learn_sizes,
            tcp_fallback=tcp_fallback,
            link_probe=link_probe,
            tls=(tls_ca, tls_cert, tls_key),
            plain_tcp=plain_tcp,
            http=http,
            http_tls=(http_cert, http_key),
            http_token=http_token,
        ),
        as_json=json,
    )
