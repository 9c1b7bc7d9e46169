"""`server` and its commands: the options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mptcplab.cli.commands.common import Json, path

_CONTEXT = {"help_option_names": ["-h", "--help"]}
server = typer.Typer(
    help="Give agents their plans and keep their results, until Ctrl-C.",
    context_settings=_CONTEXT,
    rich_markup_mode=None,
)
plan = typer.Typer(help="Plans of experiments.", no_args_is_help=True, rich_markup_mode=None)
token = typer.Typer(
    help="Tokens of people and programs.", no_args_is_help=True, rich_markup_mode=None
)
server.add_typer(plan, name="plan")
server.add_typer(token, name="token")

State = Annotated[
    Path | None,
    typer.Option(
        parser=path,
        metavar="DIR",
        help="The server's folder: /var/lib/mptcplab-server unless given, of an ordinary user "
        "~/.local/state/mptcplab-server.",
    ),
]


@server.callback(invoke_without_command=True)
def run(
    context: typer.Context,
    state: State = None,
    database: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Keep all but the certificate in PostgreSQL: postgresql://USER@HOST/DATABASE. The "
            "folder remembers it; without it everything is in a file there (SQLite).",
        ),
    ] = None,
    listen: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS:PORT", help="Where it listens; [::]:4430 unless given."),
    ] = None,
    url: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="Under which agents reach it; the host's name unless given."
        ),
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(
            parser=path,
            metavar="FILE",
            help="Show this certificate (PEM), not an own. Agents know the server by it alone: "
            "with another one they have to be enrolled anew.",
        ),
    ] = None,
    key: Annotated[
        Path | None, typer.Option(parser=path, metavar="FILE", help="Its key (PEM).")
    ] = None,
    public_certificate: Annotated[
        bool,
        typer.Option(
            "--public-certificate",
            help="Let agents take the certificate by their systems' root certificates, and not by "
            "its fingerprint: it may be renewed.",
        ),
    ] = False,
    behind_proxy: Annotated[
        bool,
        typer.Option(
            "--behind-proxy",
            help="Speak plain HTTP to a proxy of this host, which shows --certificate.",
        ),
    ] = False,
    keep: Annotated[
        str | None,
        typer.Option(metavar="PERIOD", help="Forget results that are older: 400d, say."),
    ] = None,
    per_address: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            max=100_000,
            help="Requests a second that an address may make; connections, four times as many.",
        ),
    ] = 50,
    webhook: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Tell this address of agents that are silent, whose last experiment has failed, "
            "or whose benefit is low: JSON by POST.",
        ),
    ] = None,
    webhook_secret: Annotated[
        Path | None,
        typer.Option(
            parser=path, metavar="FILE", help="Its first line signs what is told (HMAC-SHA256)."
        ),
    ] = None,
    webhook_silent: Annotated[
        str, typer.Option(metavar="PERIOD", help="Time without any sign of an agent.")
    ] = "15 min",
    webhook_benefit: Annotated[
        float | None,
        typer.Option(metavar="NUMBER", help="Tell of delay benefits below it: 0, say."),
    ] = None,
    demo: Annotated[
        bool,
        typer.Option(
            "--demo",
            help="Show it at work: with a target and three agents in an emulated network, without "
            "root. Keeps nothing; takes --listen, 127.0.0.1:0 unless given, and --json.",
        ),
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print one line of JSON when it is ready.")
    ] = False,
) -> None:
    """Give agents their plans and keep their results, until Ctrl-C."""
    given = {
        name
        for name in context.params
        if str(context.get_parameter_source(name)).endswith("COMMANDLINE")
    }
    if context.invoked_subcommand is not None:
        if given:
            raise typer.BadParameter(f"write options after `{context.invoked_subcommand}`")
        return
    if demo:
        if given - {"demo", "listen", "json"}:
            raise typer.BadParameter("--demo takes no other option than --listen and --json")
        from mptcplab.cli.server_demo import serve_demo

        serve_demo(listen, as_json=json)
        return
    from mptcplab.cli.server import Options, serve
    from mptcplab.cli.server_webhook import WebhookOptions

    serve(
        Options(
            state=state,
            database=database,
            listen=listen,
            url=url,
            certificate=certificate,
            key=key,
            public_certificate=public_certificate,
            behind_proxy=behind_proxy,
            keep=keep,
            per_address=per_address,
            webhook=WebhookOptions(webhook, webhook_secret, webhook_silent, webhook_benefit),
        ),
        as_json=json,
    )


@server.command()
def enrol(
    state: State = None,
    agents: Annotated[
        int, typer.Option(metavar="N", min=1, max=10_000, help="Agents that may use it.")
    ] = 1,
    expires: Annotated[
        str, typer.Option(metavar="PERIOD", help="Time after which it is good for none: 1 h, 7d.")
    ] = "7d",
    url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Of the server; as it was started unless given."),
    ] = None,
    json: Json = False,
) -> None:
    """Print a token for `mptcplab-host agent --enrol-file`."""
    from mptcplab.cli.server_manage import enrol

    enrol(state, agents, expires, url, as_json=json)


@server.command()
def agents(state: State = None, json: Json = False) -> None:
    """List the agents, their state and their results."""
    from mptcplab.cli.server_manage import list_agents

    list_agents(state, as_json=json)


@server.command()
def revoke(
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="Its id, or its name.")],
    state: State = None,
) -> None:
    """Take nothing from an agent any more; its results stay."""
    from mptcplab.cli.server_manage import revoke_agent

    revoke_agent(state, agent)


@server.command()
def export(
    folder: Annotated[
        Path, typer.Argument(parser=path, metavar="DIR", help="Folder to write into.")
    ],
    state: State = None,
    table: Annotated[
        str | None,
        typer.Option(metavar="csv|parquet", help="Kind of the table of figures; csv unless given."),
    ] = None,
    recording: Annotated[
        bool,
        typer.Option(
            "--recording",
            help="Write a results folder as that of `run`, for `report`, `compare` and notebooks: "
            "of one agent, one plan and one congestion control, as chosen by the options below.",
        ),
    ] = False,
    agent: Annotated[
        str | None,
        typer.Option(metavar="AGENT", help="Results of this agent alone: its id, or its name."),
    ] = None,
    plan: Annotated[
        str | None,
        typer.Option(
            metavar="PLAN", help="Of this plan alone: lines, or lines@2 for one of its versions."
        ),
    ] = None,
    congestion_control: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Of those with this congestion control alone: cubic."),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help='Of experiments that began at this time or later: "2027-01-31 12:00" (UTC).',
        ),
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="TIME", help="Of those that began before this time.")
    ] = None,
    without_addresses: Annotated[
        bool,
        typer.Option("--without-addresses", help="Write numbers in the place of addresses."),
    ] = False,
) -> None:
    """Write each result as `probe --json` prints it and a table of all figures, or recordings."""
    from mptcplab.cli.server_files import Chosen, export_as_recordings, export_results

    chosen = Chosen(agent, plan, congestion_control, since, until)
    addresses = not without_addresses
    if recording:
        if table is not None:
            raise typer.BadParameter("--table is of figures: leave it out with --recording")
        export_as_recordings(state, folder, chosen, addresses=addresses)
        return
    export_results(state, folder, table or "csv", chosen, addresses=addresses)


@server.command()
def explain(
    result: Annotated[
        str, typer.Argument(metavar="RESULT", help="The result's identifier, as on its page.")
    ],
    state: State = None,
    json: Json = False,
) -> None:
    """Say why MPTCP was as slow as it was in a result, and what to change, on its page as well."""
    from mptcplab.cli.server_explain import explain_result

    explain_result(state, result, as_json=json)


@server.command()
def backup(
    file: Annotated[
        Path, typer.Argument(parser=path, metavar="FILE", help="The file; it must not be there.")
    ],
    state: State = None,
) -> None:
    """Write the database as it is now to a file, while the server goes on."""
    from mptcplab.cli.server_files import back_up_database

    back_up_database(state, file)


@server.command()
def restore(
    file: Annotated[Path, typer.Argument(parser=path, metavar="FILE", help="Of `backup`.")],
    state: State = None,
) -> None:
    """Replace the database by that of a file; the server must not run."""
    from mptcplab.cli.server_files import restore_database

    restore_database(state, file)


@plan.command("add")
def plan_add(
    file: Annotated[Path, typer.Argument(parser=path, metavar="FILE", help="The plan (YAML).")],
    state: State = None,
    json: Json = False,
) -> None:
    """Add the plan of a file, or change the one of its name."""
    from mptcplab.cli.server_manage import add_plan

    add_plan(state, file, as_json=json)


@plan.command("list")
def plan_list(state: State = None, json: Json = False) -> None:
    """List the plans."""
    from mptcplab.cli.server_manage import list_plans

    list_plans(state, as_json=json)


@plan.command("remove")
def plan_remove(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of the plan.")],
    state: State = None,
) -> None:
    """Let no agent carry a plan out any more; its results stay."""
    from mptcplab.cli.server_manage import remove_plan

    remove_plan(state, name)


@token.command("add")
def token_add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of the person or the program.")],
    state: State = None,
    role: Annotated[
        str, typer.Option(metavar="viewer|operator|admin", help="The rights of its holder.")
    ] = "viewer",
    json: Json = False,
) -> None:
    """Print a new token for the API."""
    from mptcplab.cli.commands.common import one_of
    from mptcplab.cli.server_manage import add_token
    from mptcplab.server.contact import Role

    add_token(state, name, one_of(Role)(role), as_json=json)


@token.command("list")
def token_list(state: State = None, json: Json = False) -> None:
    """List the tokens, without their secrets."""
    from mptcplab.cli.server_manage import list_tokens

    list_tokens(state, as_json=json)


@token.command("revoke")
def token_revoke(
    token: Annotated[str, typer.Argument(metavar="TOKEN", help="Its id, as `list` has it.")],
    state: State = None,
) -> None:
    """Take a token no more."""
    from mptcplab.cli.server_manage import revoke_token

    revoke_token(state, token)
