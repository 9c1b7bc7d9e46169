"""Base of all objects of a plan."""

from ipaddress import IPv4Address, IPv6Address
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Index = Annotated[int, Field(ge=0)]
IpAddress = IPv4Address | IPv6Address


class Model(BaseModel):
    """An object of the plan. Keys of later versions are ignored when it is read."""

    model_config = ConfigDict(frozen=True, defer_build=True)


class InterfaceRef(Model):
    """An interface of a node, by indices into the plan."""

    node: Index
    interface: Index
