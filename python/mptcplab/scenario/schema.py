"""The JSON Schema of scenarios, for editors.

    python -m mptcplab.scenario.schema > docs/scenario.schema.json

It knows keys, types and units; what must hold between parts (names, routes, times) it does not.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from mptcplab.scenario.model import Scenario


def schema() -> dict[str, Any]:
    """The schema as JSON's types."""
    made = Scenario.model_json_schema(by_alias=True)
    needed = [key for key in made["required"] if key not in ("hosts", "links")]
    made["required"] = needed
    made["anyOf"] = [{"required": ["hosts", "links"]}, {"required": ["topology"]}]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "mptcplab scenario",
        **{key: value for key, value in made.items() if key != "title"},
    }


def schema_text() -> str:
    """The schema as it is published."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
