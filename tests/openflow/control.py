"""Orders to a daemon of Open vSwitch over its control socket: JSON-RPC, as by `ovs-appctl`."""

import json
import socket
from pathlib import Path


class Control:
    """A connection to a daemon."""

    def __init__(self, path: Path, patience_s: float) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(patience_s)
        self._socket.connect(str(path))

    def close(self) -> None:
        self._socket.close()

    def order(self, method: str, *arguments: str) -> None:
        """Gives an order; returns when it is carried out."""
        request = {"id": 0, "method": method, "params": arguments}
        self._socket.sendall(json.dumps(request).encode())
        answer = b""
        while not answer.endswith(b"}"):
            piece = self._socket.recv(1 << 16)
            if not piece:
                raise RuntimeError(f"Open vSwitch ended at {method}")
            answer += piece
        error = json.loads(answer)["error"]
        if error is not None:
            raise RuntimeError(f"Open vSwitch refuses {method}: {error}")
