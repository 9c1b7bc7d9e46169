"""CITATION.cff is of this version, and has what its format demands."""

import tomllib

from tests.docs.pages import ROOT

from mptcplab.scenario.tree import parse_tree


def test_the_citation_is_of_this_version() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    citation = parse_tree(text, "CITATION.cff").value
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert isinstance(citation, dict)
    assert citation["version"] == project["version"]
    assert citation["license"] == project["license"]
    # The keys that version 1.2.0 of the format demands.
    assert citation["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= citation.keys()
