"""Traffic: bulk transfers, downloads, latency probes, cross traffic, commands."""

from __future__ import annotations

import shlex
from typing import Annotated, Literal

from pydantic import (
    AliasChoices,
    BeforeValidator,
    Field,
    StrictBool,
    StrictStr,
    WithJsonSchema,
    model_validator,
)

from mptcplab.scenario.drawn import Draw
from mptcplab.scenario.fields import (
    LONGEST_NS,
    Count,
    DifferentNames,
    DurationNs,
    Model,
    MomentNs,
    Name,
    OneOrMore,
    PositiveSizeBytes,
    PositiveTimeNs,
    RateBps,
    RefusalError,
    SizeBytes,
    TimeNs,
)

Protocol = Literal["tcp", "mptcp"]
Direction = Literal["up", "down", "both"]

OLDER_KEYS = {"way": "direction"}
"""Keys of traffic that go on being read, with those that took their place."""
MOST_FRAMES = 1_000_000
"""Of a stream."""
_DIRECTION = AliasChoices("direction", "way")


def _not_drawn(value: object) -> object:
    if isinstance(value, dict):
        raise ValueError("a draw among several clients is written {draw: permutation, seed: 1}")
    return value


Servers = Annotated[
    OneOrMore,
    BeforeValidator(_not_drawn),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string"},
                {"type": "array", "items": {"type": "string"}, "minItems": 1},
                Draw.model_json_schema(),
            ]
        }
    ),
]


class Item(Model):
    """Common settings of all kinds of traffic."""

    name: Name | None = Field(None, description="Unique; from the kind unless given")
    start: MomentNs = 0
    via: DifferentNames | None = Field(
        None, description="The client's interface to connect from, or several for TCP over all"
    )
    protocol: Protocol | None = Field(
        None, description="Fixes it: the variant's protocol and via then do not apply"
    )


class Between(Item):
    """Traffic between clients and a server."""

    clients: OneOrMore = Field(
        alias="from", description="A host, several that do the same, or a pattern such as h*"
    )
    servers: Servers = Field(
        alias="to", description="A host, one for each client, or drawn among the clients"
    )

    @model_validator(mode="after")
    def _each_has_one(self) -> Between:
        if len(self.servers) not in (1, len(self.clients)):
            text = f"has {len(self.servers)} servers for {len(self.clients)} clients: give one each"
            raise RefusalError("to", text)
        return self

    def server_of(self, client: str) -> str:
        """The host that a client speaks to."""
        return self.servers[self.clients.index(client) if len(self.servers) > 1 else 0]


class Connections(Between):
    """Traffic over connections whose applications may open subflows themselves."""

    dual_stack: StrictBool = Field(
        False,
        description="Sockets of IPv6 that take IPv4 too: subflows of both families may join",
    )
    subflows: OneOrMore | None = Field(
        None,
        description=(
            "Interfaces of the clients (`client.eth1`) from which the application opens a subflow "
            "as soon as it is connected; their path manager is `application`"
        ),
    )


class Bulk(Connections):
    """As much as the connection carries, for a time or up to an amount."""

    direction: Direction = Field(
        "down", validation_alias=_DIRECTION, description="up is from the client to the server"
    )
    duration: DurationNs | None = None
    size: PositiveSizeBytes | None = Field(None, description="Payload of each stream")
    streams: int = Field(1, ge=1, le=256, description="Parallel connections, each way")
    rate: RateBps | None = Field(
        None, description="The application offers no more payload than this, on each stream"
    )

    @model_validator(mode="after")
    def _end(self) -> Bulk:
        if self.duration is not None and self.size is not None:
            raise RefusalError("size", "a bulk transfer has a duration or a size, not both")
        if self.duration is None and self.size is None:
            raise RefusalError("", "needs `duration: 10 s` or `size: 10 MB`")
        return self


class Http(Connections):
    """Downloads over HTTP, a connection each, one after the other."""

    size: PositiveSizeBytes
    count: Count = 1


class Ftp(Between):
    """A file stored (up) or retrieved (down) over FTP."""

    direction: Literal["up", "down"] = Field("down", validation_alias=_DIRECTION)
    size: PositiveSizeBytes
    count: Count = 1


class Repeated(Between):
    """Something that is done again and again."""

    interval: TimeNs = Field(100_000_000, description="Between starts")
    count: Count = 10

    @model_validator(mode="after")
    def _within_a_week(self) -> Repeated:
        if self.interval * self.count > LONGEST_NS:
            raise RefusalError("count", "so many intervals last longer than a week")
        return self


class Ping(Repeated):
    """ICMP echo."""

    interval: PositiveTimeNs = Field(100_000_000, description="Between starts")
    payload: SizeBytes = Field(56, le=65_000)


class RequestResponse(Repeated, Connections):
    """A request and its response over one connection, one outstanding."""

    request: PositiveSizeBytes = Field(64, le=2**31)
    response: PositiveSizeBytes = Field(64, le=2**31)


class Stream(Connections):
    """Frames made at a constant rate, each of use until its deadline: a real-time stream."""

    direction: Literal["up", "down"] = Field("down", validation_alias=_DIRECTION)
    rate: RateBps = Field(description="Of the payload that is made")
    frame: PositiveSizeBytes = Field(description="Payload of each frame")
    deadline: PositiveTimeNs = Field(description="From a frame's making to its delivery")
    duration: DurationNs

    @model_validator(mode="after")
    def _not_too_many(self) -> Stream:
        if self.rate * self.duration > MOST_FRAMES * self.frame * 8 * 10**9:
            text = f"a stream has at most {MOST_FRAMES} frames: make them larger"
            raise RefusalError("frame", text)
        return self


class OnOff(Model):
    """Bursts and pauses of exponentially distributed length."""

    burst: PositiveTimeNs = Field(description="Mean length of a burst")
    pause: PositiveTimeNs = Field(description="Mean length of the pause after it")


class Datagrams(Between):
    """UDP datagrams at a constant rate: cross traffic."""

    direction: Direction = Field(
        "down", validation_alias=_DIRECTION, description="up is from the client to the server"
    )
    rate: RateBps = Field(description="Of IP packets, while it sends")
    packet: SizeBytes = Field(1500, ge=64, le=65_535, description="Size of each IP packet")
    duration: DurationNs
    on_off: OnOff | None = Field(None, description="Bursts and pauses; without, no pauses")


def _parse_run(value: object) -> object:
    if isinstance(value, list) and all(isinstance(word, str | int | float) for word in value):
        words = [str(word) for word in value if not isinstance(word, bool)]
    elif isinstance(value, str):
        try:
            words = shlex.split(value)
        except ValueError as error:
            raise ValueError(
                f"is no command line ({str(error).lower()}): check its quotes"
            ) from None
    else:
        raise ValueError("write the command line as text or as a list of words")
    if not words or not words[0]:
        raise ValueError("is empty")
    if any("\0" in word for word in words):
        raise ValueError("must not hold a zero byte")
    return words


COMMAND_LINE_SCHEMA = {
    "anyOf": [
        {"type": "string"},
        {"type": "array", "items": {"type": "string"}, "minItems": 1},
    ]
}

CommandLine = Annotated[list[str], BeforeValidator(_parse_run), WithJsonSchema(COMMAND_LINE_SCHEMA)]


class ServerCommand(Model):
    """The other side of a command, started before it and ended after it."""

    host: StrictStr = Field(alias="on")
    run: CommandLine


class Command(Item):
    """Any program, run inside a host; `{server}`, `{source}` and `{port}` are filled in."""

    clients: OneOrMore = Field(alias="on")
    run: CommandLine
    server_command: ServerCommand | None = Field(None, alias="server")
    duration: DurationNs | None = Field(None, description="Ends the command")

    @model_validator(mode="after")
    def _known_server(self) -> Command:
        if self.server_command is None and any("{server}" in word for word in self.run):
            raise RefusalError(
                "run", "{server} stands for the address of a server: add server: {on: HOST, run: …}"
            )
        return self

    @property
    def servers(self) -> list[str]:
        """The host that the command talks to, where it is known."""
        return [self.server_command.host] if self.server_command else []

    def server_of(self, client: str) -> str:
        """The host that the command talks to; its own where none is known."""
        return self.servers[0] if self.servers else client


class TrafficItem(Model):
    """One thing that is sent: exactly one of its kinds."""

    bulk: Bulk | None = None
    http: Http | None = None
    ftp: Ftp | None = None
    ping: Ping | None = None
    request_response: RequestResponse | None = Field(None, alias="request-response")
    stream: Stream | None = None
    datagrams: Datagrams | None = None
    command: Command | None = None

    @model_validator(mode="after")
    def _one(self) -> TrafficItem:
        if len(self.model_fields_set) != 1 or self._bodies == []:
            kinds = "bulk, http, ftp, ping, request-response, stream, datagrams, command"
            raise ValueError(f"a flow has exactly one of: {kinds}")
        return self

    @property
    def _bodies(self) -> list[Body]:
        every = (getattr(self, field) for field in type(self).model_fields)
        return [body for body in every if body is not None]

    @property
    def kind(self) -> str:
        """Its key in the file."""
        (key,) = self.model_fields_set
        return key.replace("_", "-")

    @property
    def body(self) -> Body:
        """The value of that key."""
        return self._bodies[0]


Body = Bulk | Http | Ftp | Ping | RequestResponse | Stream | Datagrams | Command
