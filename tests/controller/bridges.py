"""A controller and bridges of Open vSwitch: the network of docs/controller.md, with two hosts.

The switches, in user space, and the hosts are in namespaces of their own.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.docs.pages import ROOT, blocks
from tests.engine.system import mptcp_missing, namespaces_refused
from tests.openflow.open_vswitch import missing as open_vswitch_missing

_PAGE = ROOT / "docs" / "controller.md"
_PATIENCE_S = 180
_IN_NAMESPACES = (
    "unshare", "--user", "--map-root-user", "--net", "--mount", "--pid", "--fork", "--mount-proc",
    "--kill-child", "bash",
)  # fmt: skip
_WAIT = """
count() { grep -c "$1" events || true; }
await() { until test $(count "$1") -ge $2; do sleep 0.1; kill -0 $serving; done; }
"""


def missing() -> str | None:
    """Says what the network needs and this system lacks; None where all is there."""
    absent = [one for one in ("ethtool", "openssl") if shutil.which(one) is None]
    absent_text = f"there is no {', '.join(absent)}" if absent else None
    return open_vswitch_missing() or namespaces_refused() or mptcp_missing() or absent_text


def played(folder: Path, script: str) -> tuple[list[str], list[dict[str, Any]]]:
    """The output of a script in the network of the page, and the controller's events.

    The script starts the controller, with its events as JSON to the file `events`.
    """
    (network,) = [block.body for block in blocks(_PAGE) if block.title == "network.sh"]
    (folder / "network.sh").write_text(network)
    (folder / "script.sh").write_text(f". ./network.sh\n{_WAIT}{script}")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    ended = subprocess.run(
        [*_IN_NAMESPACES, "script.sh"],
        cwd=folder,
        env=os.environ | {"PATH": path, "PYTHON": sys.executable, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=_PATIENCE_S,
        check=False,
    )
    events = (folder / "events").read_text()
    assert ended.returncode == 0, f"{ended.stderr}\n{events}"
    return ended.stdout.splitlines(), [json.loads(line) for line in events.splitlines()]
