"""Which connections a filter chooses: its fields, and how they are compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address, ip_network

import polars as pl

from mptcplab.scenario.problem import did_you_mean
from mptcplab.scenario.units import UnitError, parse_rate, parse_size, parse_time
from mptcplab.trace.figures import ENDS, with_rates
from mptcplab.trace.filter import Comparison, FilterError, Node, Not, Several, Word, parse
from mptcplab.trace.trace import Trace

_SIGNS: dict[str, Callable[[pl.Expr, int | str], pl.Expr]] = {
    "==": lambda column, value: column == value,
    "!=": lambda column, value: column != value,
    "<": lambda column, value: column < value,
    "<=": lambda column, value: column <= value,
    ">": lambda column, value: column > value,
    ">=": lambda column, value: column >= value,
}


@dataclass(frozen=True)
class Field:
    """Something that a filter can ask for."""

    column: str
    """Column of the facts; a list where a connection has several, of which one has to match."""
    kind: str
    """`number`, `size`, `time`, `rate`, `word`, `address` or `key`, a number of 64 bits."""
    meaning: str


FIELDS: dict[str, Field] = {
    "address": Field("address", "address", "an address of any subflow, or a network (10.0.0.0/8)"),
    "client.address": Field("client.address", "address", "an address of the client"),
    "server.address": Field("server.address", "address", "an address of the server"),
    "port": Field("port", "number", "a port of any subflow"),
    "client.port": Field("client.port", "number", "a port of the client"),
    "server.port": Field("server.port", "number", "a port of the server"),
    "connection": Field("connection", "number", "number of the connection"),
    "protocol": Field("protocol", "word", "`mptcp` or `tcp`"),
    "version": Field("version", "number", "version of MPTCP, 0 or 1"),
    "subflows": Field("subflows", "number", "how many subflows it had"),
    "packets": Field("packets", "number", "packets of all subflows"),
    "bytes": Field("bytes", "size", "distinct data of both directions"),
    "client.bytes": Field("client_bytes", "size", "distinct data that the client sent"),
    "server.bytes": Field("server_bytes", "size", "distinct data that the server sent"),
    "goodput": Field("goodput", "rate", "goodput of the direction that has more"),
    "start": Field("start", "time", "first packet, after the first one of the capture"),
    "duration": Field("duration_ns", "time", "time from its first to its last packet"),
    "silence": Field("silence", "time", "longest time between new data, of either direction"),
    "recovery": Field(
        "recovery", "time", "longest part of a silence with data unacknowledged, of either end"
    ),
    "rtt": Field("rtt", "time", "least round trip of any subflow"),
    "rtt.mean": Field("rtt_mean", "time", "mean round trip of a subflow and end"),
    "rtt.max": Field("rtt_max", "time", "longest round trip of any subflow"),
    "data_rtt": Field("data_rtt", "time", "least data-level round trip of either end"),
    "data_rtt.max": Field("data_rtt_max", "time", "longest data-level round trip of either end"),
    "handshake": Field("handshake", "time", "round trip of a subflow's handshake"),
    "retransmissions": Field("retransmissions", "number", "retransmissions of all subflows"),
    "retransmissions.fast": Field(
        "fast_retransmissions", "number", "of these, as the receiver reported later data"
    ),
    "retransmissions.timeout": Field(
        "timeout_retransmissions", "number", "of these, as time ran out"
    ),
    "retransmissions.spurious": Field(
        "spurious_retransmissions", "number", "of these, not needed as D-SACK tells"
    ),
    "retransmitted": Field("retransmitted", "size", "payload sent again on the same subflow"),
    "reinjected": Field("reinjected", "size", "reinjected payload of both directions"),
    "end": Field("end", "word", "`data_fin`, `fin`, `fast_close`, `reset` or `open`"),
    "fallback": Field("fallback", "word", "reason of the fallback to TCP"),
    "token": Field("token", "number", "token of either end"),
    "key": Field("key", "key", "key of either end, such as 0x0123456789abcdef"),
    "id": Field("id", "number", "address identifier of a subflow, of either end"),
    "client.id": Field("client.id", "number", "address identifier of the client's end"),
    "server.id": Field("server.id", "number", "address identifier of the server's end"),
    "hmac": Field(
        "hmac", "word", "HMACs of a join: `valid`, `wrong`, or `unknown` (not seen or no keys)"
    ),
}
"""Every field, in the order of ``docs/trace.md``."""

WORDS: dict[str, tuple[pl.Expr, str]] = {
    "mptcp": (pl.col("protocol") == "mptcp", "`protocol == mptcp`"),
    "tcp": (pl.col("protocol") == "tcp", "`protocol == tcp`"),
    "fallback": (pl.col("fallback").is_not_null(), "it fell back to TCP"),
    "inferred": (pl.col("inferred"), "its handshake was not captured"),
    "reinjected": (pl.col("reinjected") > 0, "something was reinjected"),
    "moved": (pl.col("moved"), "its traffic moved from one subflow to another"),
    "checksums": (pl.col("checksums"), "data checksums were agreed on"),
    "recovery": (pl.col("recovery").is_not_null(), "a silence with data unacknowledged was long"),
    "retransmissions": (pl.col("retransmissions") > 0, "something was sent again"),
    "joined": (pl.col("joined"), "a join was tried"),
}
"""Columns that can stand alone."""


def matches(trace: Trace, text: str) -> list[int]:
    """Numbers of the connections that a filter chooses.

    Raises:
        FilterError: the filter cannot be read; its text shows where.

    """
    tree = parse(text)
    table = facts(trace)
    chosen = _expression(tree, text, table)
    return table.filter(chosen.fill_null(value=False))["connection"].to_list()


def check(text: str) -> None:
    """Finds the mistakes of a filter without a trace.

    Raises:
        FilterError: the filter cannot be read, or asks for what there is not.

    """
    _expression(parse(text), text, _NOTHING)


def facts(trace: Trace) -> pl.DataFrame:
    """Returns a row for each connection with all that filters can ask for."""
    subflows = trace.subflows.group_by("connection").agg(
        *(
            pl.col(f"{end}_{what}").unique().alias(f"{end}.{what}")
            for end in ENDS
            for what in ("address", "port")
        ),
        pl.sum_horizontal(pl.col(f"{end}_retransmissions").sum() for end in ENDS).alias(
            "retransmissions"
        ),
        *(
            pl.sum_horizontal(pl.col(f"{end}_{what}").sum() for end in ENDS).alias(name)
            for what, name in _SUMS.items()
        ),
        pl.min_horizontal(pl.col(f"{end}_rtt_min_ns").min() for end in ENDS).alias("rtt"),
        pl.max_horizontal(pl.col(f"{end}_rtt_max_ns").max() for end in ENDS).alias("rtt_max"),
        _all(*(pl.col(f"{end}_rtt_mean_ns") for end in ENDS)).alias("rtt_mean"),
        _all(pl.col("handshake_rtt_ns")).alias("handshake"),
        *(_all(pl.col(f"{end}_address_id")).alias(f"{end}.id") for end in ENDS),
        _all(*(pl.col(f"{end}_address_id") for end in ENDS)).alias("id"),
        _HMAC.filter(_JOINED).alias("hmac"),
        _JOINED.any().alias("joined"),
    )
    moved = trace.events.filter(kind="traffic_moved")["connection"].unique()
    return (
        with_rates(trace.connections)
        .join(subflows, on="connection", how="left")
        .with_columns(
            pl.concat_list("client.address", "server.address").alias("address"),
            pl.concat_list("client.port", "server.port").alias("port"),
            pl.concat_list("client_token", "server_token").alias("token"),
            pl.concat_list(pl.col("client_key", "server_key").cast(pl.String)).alias("key"),
            (pl.col("client_bytes") + pl.col("server_bytes")).alias("bytes"),
            pl.max_horizontal(f"{end}_goodput_mbps" for end in ENDS).mul(1e6).alias("goodput"),
            (pl.col("start_ns") - trace.capture.first_ns).alias("start"),
            pl.max_horizontal(f"{end}_silence_ns" for end in ENDS).alias("silence"),
            pl.max_horizontal(f"{end}_recovery_ns" for end in ENDS).alias("recovery"),
            pl.min_horizontal(f"{end}_data_rtt_min_ns" for end in ENDS).alias("data_rtt"),
            pl.max_horizontal(f"{end}_data_rtt_max_ns" for end in ENDS).alias("data_rtt_max"),
            pl.sum_horizontal(f"{end}_reinjected_bytes" for end in ENDS).alias("reinjected"),
            pl.col("connection").is_in(moved.to_list()).alias("moved"),
        )
    )


_SUMS = {
    "fast_retransmissions": "fast_retransmissions",
    "timeout_retransmissions": "timeout_retransmissions",
    "spurious_retransmissions": "spurious_retransmissions",
    "retransmitted_bytes": "retransmitted",
}
"""Columns of each end of a subflow, and the names of their sums."""
_JOINED = pl.col("origin") == "join"
_HMAC = (
    pl.when(pl.col("hmac_valid").is_null())
    .then(pl.lit("unknown"))
    .when(pl.col("hmac_valid"))
    .then(pl.lit("valid"))
    .otherwise(pl.lit("wrong"))
)


def _all(*columns: pl.Expr) -> pl.Expr:
    """Returns the known values of all subflows of a connection as a list."""
    first, *others = (column.drop_nulls().cast(pl.Int64) for column in columns)
    for other in others:
        first = first.append(other)
    return first.implode()


_LISTS = {
    "address",
    "client.address",
    "server.address",
    "port",
    "client.port",
    "server.port",
    "token",
    "key",
    "id",
    "client.id",
    "server.id",
    "hmac",
    "handshake",
    "rtt.mean",
}
_NOTHING = pl.DataFrame(
    schema={
        field.column: pl.List(pl.Int64 if field.kind in ("number", "time") else pl.String)
        if name in _LISTS
        else pl.Int64()
        for name, field in FIELDS.items()
    }
)


def _expression(node: Node, text: str, table: pl.DataFrame) -> pl.Expr:
    match node:
        case Not(of):
            return ~_expression(of, text, table).fill_null(value=False)
        case Several(joint, parts):
            inner = [_expression(part, text, table).fill_null(value=False) for part in parts]
            return pl.all_horizontal(inner) if joint == "and" else pl.any_horizontal(inner)
        case Word(name, place):
            if name not in WORDS:
                if name in FIELDS:
                    message = f"'{name}' needs a comparison, such as {name} == …"
                    raise FilterError(message, text, place)
                hint = did_you_mean(name, [*WORDS, *FIELDS])
                raise FilterError(f"'{name}' is nothing to ask for: {hint}", text, place)
            return WORDS[name][0]
        case Comparison():
            return _comparison(node, text, table)


def _comparison(node: Comparison, text: str, table: pl.DataFrame) -> pl.Expr:
    field = FIELDS.get(node.name)
    if field is None:
        hint = did_you_mean(node.name, FIELDS)
        raise FilterError(f"'{node.name}' is nothing to ask for: {hint}", text, node.place)
    if field.kind in ("word", "address", "key") and node.sign not in ("==", "!="):
        raise FilterError(f"'{node.name}' goes with == and != only", text, node.sign_place)
    if field.kind == "address":
        return _address(field, node, text, table)
    value = _value(field, node, text)
    column = pl.col(field.column)
    compare = _SIGNS[node.sign]
    if not isinstance(table.schema[field.column], pl.List):
        return compare(column, value)
    if node.sign == "!=":
        return ~column.list.contains(value)
    return column.list.eval(compare(pl.element(), value)).list.any()


def _value(field: Field, node: Comparison, text: str) -> int | str:
    try:
        match field.kind:
            case "size":
                return int(node.value) if node.value.isdecimal() else parse_size(node.value)
            case "time":
                return parse_time(node.value)
            case "rate":
                return parse_rate(node.value)
            case "number":
                return int(node.value, 0)
            case "key":
                return str(int(node.value, 0))
    except UnitError as error:
        raise FilterError(str(error), text, node.value_place) from error
    except ValueError as error:
        message = f"'{node.name}' is a whole number, such as 2"
        raise FilterError(message, text, node.value_place) from error
    return node.value.lower()


def _address(field: Field, node: Comparison, text: str, table: pl.DataFrame) -> pl.Expr:
    try:
        network = ip_network(node.value.strip("[]"), strict=False)
    except ValueError as error:
        message = f"'{node.value}' is no address and no network, such as 10.0.1.2 or 10.0.0.0/8"
        raise FilterError(message, text, node.value_place) from error
    known = table[field.column].explode().drop_nulls().unique().to_list()
    inside = [address for address in known if ip_address(address) in network]
    found = (
        pl.col(field.column).list.set_intersection(pl.lit(inside, pl.List(pl.String))).list.len()
    )
    return found > 0 if node.sign == "==" else found == 0
