"""OpenFlow switches, and the controller that tells them where packets go."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field, WithJsonSchema

from mptcplab.scenario.fields import RATE_SCHEMA, TIME_SCHEMA, Model, TimeNs
from mptcplab.scenario.link import RateLimit
from mptcplab.scenario.problem import did_you_mean, quoted

Policy = Literal["shortest", "disjoint", "mpsshetn", "ecmp", "earliest-completion"]
POLICIES: tuple[str, ...] = get_args(Policy)
"""Those of `crates/lab/controller`."""


class Switch(Model):
    """An OpenFlow 1.3 switch; its ports follow from the links that name it, numbered from 1."""


class Controller(Model):
    """The controller of all switches, and the channels to them."""

    policy: Policy = Field(description="Which path each subflow takes")
    delay: TimeNs = Field(0, description="One way of the channel between a switch and it")
    rate: RateLimit = Field("unlimited", description="Of each such channel, each way")
    sizes: Literal["told", "learned", "unknown"] = Field(
        "told",
        description="Whether it is told what each server sends, or learns it from finished flows",
    )


def _parse_controller(value: object) -> object:
    if isinstance(value, str):
        if value not in POLICIES:
            raise ValueError(f"unknown policy {quoted(value)}: {did_you_mean(value, POLICIES)}")
        return {"policy": value}
    return value


def _schema() -> dict[str, Any]:
    return {
        "anyOf": [
            {"enum": list(POLICIES)},
            {
                "type": "object",
                "properties": {
                    "policy": {"enum": list(POLICIES)},
                    "delay": TIME_SCHEMA,
                    "rate": {"anyOf": [RATE_SCHEMA, {"const": "unlimited"}]},
                    "sizes": {"enum": ["told", "learned", "unknown"]},
                },
                "required": ["policy"],
                "additionalProperties": False,
            },
        ],
        "description": "The controller of the switches, or its policy alone",
    }


ControllerField = Annotated[
    Controller, BeforeValidator(_parse_controller), WithJsonSchema(_schema())
]
