"""The script and the style of a page, and the policy that lets this script run and no other."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

ASSETS = (
    "data.js",
    "paths.js",
    "tables.js",
    "charts.js",
    "choosing.js",
    "packets.js",
    "network.js",
    "figures.js",
)
"""In the order in which they stand in the script."""
STYLES = ("colours.css", "text.css", "tables.css", "charts.css", "media.css")
LIVE = "live.js"
"""One more, for pages of runs that go on: asks their server for what is new."""
CONTROLLER, CONTROLLER_STYLES = "controller.js", ("colours.css", "tables.css", "charts.css")
"""The same for the page that a controller of switches serves, and the styles that it needs."""
_PLOTTER, _FILE = "youplot", "vendor/uplot.iife.min.js"
"""The package that brings µPlot, unchanged, and its place there."""
_LICENCE = """\
/*! The plotting library below: Copyright (c) 2022 Leon Sorokin. MIT License.

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
associated documentation files (the "Software"), to deal in the Software without restriction,
including without limitation the rights to use, copy, modify, merge, publish, distribute,
sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial
portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT
NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES
OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN
CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE. */
"""


@cache
def script(*more: str) -> str:
    """The text of the page's one script: the plotting library, and what is ours."""
    ours = "\n".join(_asset(name) for name in (*ASSETS, *more))
    return f'{_LICENCE}{_plotter()}\n(() => {{\n"use strict";\n{ours}}})();\n'


@cache
def style_sheet(names: tuple[str, ...] = STYLES) -> str:
    """The text of the page's style, or of these parts of it."""
    return "\n".join(_asset(name) for name in names)


@cache
def policy(*more: str) -> str:
    """The content security policy: this script alone, and nothing from elsewhere."""
    digest = base64.b64encode(hashlib.sha256(script(*more).encode()).digest()).decode()
    own = f"script-src 'sha256-{digest}'; style-src 'unsafe-inline'"
    if LIVE in more:
        own += "; connect-src 'self'"
    return f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"


def _asset(name: str) -> str:
    return files("mptcplab.page").joinpath("assets", name).read_text(encoding="utf-8")


def _plotter() -> str:
    """The library's script, without an import of the package that holds it."""
    found = find_spec(_PLOTTER)
    folders = found.submodule_search_locations if found else None
    if not folders:
        raise ModuleNotFoundError(f"{_PLOTTER} is not installed: pip install {_PLOTTER}")
    return Path(folders[0], _FILE).read_text(encoding="utf-8")
