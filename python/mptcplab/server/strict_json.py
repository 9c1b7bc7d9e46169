"""JSON from the network: bounds before it is parsed, and mistakes in one sentence."""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel, ValidationError

M = TypeVar("M", bound=BaseModel)

MOST_CONTAINERS = 100_000
MOST_VALUES = 1_000_000
"""More of them take many times the memory of their text."""


class BodyError(Exception):
    """A body that is not taken; the text is a sentence without its stop."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        """400: it is no JSON; 422: it is not what is expected."""


def parse(model: type[M], body: bytes) -> M:
    """The model that a body holds.

    Nesting is bounded by the parser (200 levels), lengths by the fields of the model.

    Raises:
        BodyError: it holds none.

    """
    # Also those in strings, which makes the bound smaller and never larger.
    if body.count(b"[") + body.count(b"{") > MOST_CONTAINERS or body.count(b",") > MOST_VALUES:
        raise BodyError(400, "The body has more values than are taken")
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        # Without the input, which may be long or secret.
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        if first["type"] == "json_invalid":
            raise BodyError(400, f"The body is no JSON: {_shortened(first['msg'])}") from None
        place = ".".join(map(str, first["loc"]))
        told = f"{place}: {first['msg']}" if place else first["msg"]
        raise BodyError(422, _shortened(told)) from None


def _shortened(text: str) -> str:
    plain = " ".join(text.split()).removesuffix(".")
    return plain if len(plain) <= 300 else plain[:297] + "..."
