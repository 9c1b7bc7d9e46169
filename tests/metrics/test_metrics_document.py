"""docs/metrics.md holds the definitions word for word."""

from pathlib import Path

from mptcplab.metrics import DEFINITIONS, Definition

DOCUMENT = Path(__file__).parents[2] / "docs" / "metrics.md"


def row(definition: Definition) -> str:
    cells = [
        f"`{definition.name}`",
        definition.unit,
        definition.meaning,
        definition.formula,
        definition.parts,
        definition.source,
    ]
    return "| " + " | ".join(cells) + " |"


def test_the_document_lists_every_definition_in_order() -> None:
    listed = [line for line in DOCUMENT.read_text().splitlines() if line.startswith("| `")]
    assert listed == [row(definition) for definition in DEFINITIONS.values()]
