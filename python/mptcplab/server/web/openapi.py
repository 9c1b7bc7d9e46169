"""The description of the API (OpenAPI 3.1), made from its operations and their models."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from mptcplab.server import protocol_version
from mptcplab.server.contact import Role
from mptcplab.server.web.call import Access, Operation

_REFERENCES = "#/components/schemas/{model}"
_ERRORS = {
    400: "The version of the protocol is not taken (`versions` are), or the body is no JSON",
    401: "The bearer's secret is unknown, used up, expired or revoked",
    403: "The bearer may not do this",
    404: "There is no such thing",
    408: "The body came too slowly",
    409: "There is another thing with this id",
    413: "The body is too large",
    422: "The body is not what is expected",
    429: "Too many requests; `Retry-After` has seconds",
    503: "The database takes nothing now; `Retry-After` has seconds",
}
_ERROR_SCHEMA = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {"type": "string"},
        "versions": {"type": "array", "items": {"type": "integer"}},
    },
}


def description(operations: Sequence[Operation]) -> dict[str, Any]:
    """The whole document."""
    models = list(dict.fromkeys(one.body for one in operations if one.body is not None))
    wanted: list[tuple[type[BaseModel], Literal["validation"]]] = [
        (model, "validation") for model in models
    ]
    _, schemas = models_json_schema(wanted, ref_template=_REFERENCES)
    paths: dict[str, dict[str, Any]] = {}
    for one in operations:
        paths.setdefault(one.path, {})[one.method.lower()] = _operation(one)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "mptcplab server",
            "version": "1",
            "description": "Every request of an agent has the header `Mptcplab-Protocol`, the "
            f"number of its version of the protocol. This server takes {protocol_version.OURS}: "
            "the current one and the one before, where there is one.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas.get("$defs", {}) | {"Error": _ERROR_SCHEMA},
            "securitySchemes": {
                name: {"type": "http", "scheme": "bearer", "description": meaning}
                for name, meaning in _BEARERS.items()
            },
        },
    }


_BEARERS = {
    Access.ENROLMENT: "The secret of an enrolment token",
    Access.AGENT: "The secret of an agent",
    **{
        role.value: f"A token with the role of {role.value}, or one of more rights" for role in Role
    },
}


def _operation(one: Operation) -> dict[str, Any]:
    told: dict[str, Any] = {
        "operationId": one.name,
        "summary": one.about,
        "parameters": [
            *(
                {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
                for name in re.findall(r"{(\w+)}", one.path)
            ),
            *({"name": name, "in": "query", "schema": {"type": "string"}} for name in one.query),
        ],
        "responses": {
            **{str(status): {"description": text} for status, text in one.answers.items()},
            **{
                str(status): {
                    "description": text,
                    "content": {
                        "application/json": {"schema": {"$ref": "#/components/schemas/Error"}}
                    },
                }
                for status, text in _ERRORS.items()
                if one.body is not None or status not in (408, 409, 413, 422)
            },
        },
        "security": [] if one.access is None else [{str(one.access): []}],
    }
    if one.body is not None:
        schema = {"$ref": _REFERENCES.format(model=one.body.__name__)}
        told["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": schema}},
        }
    return told
