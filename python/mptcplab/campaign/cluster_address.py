"""The address of a Dask scheduler, and how it is connected to.

Clients, schedulers and workers of Dask exchange pickled objects: a peer can run anything as their
user. Beyond the loopback they must therefore know each other by certificates.
"""

from __future__ import annotations

import re
import ssl
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

from mptcplab.engine.job import EngineError

if TYPE_CHECKING:
    from distributed import Security

_ADDRESS = re.compile(r"(?P<scheme>\w+)://(?P<host>\[[^]]+\]|[^][:/]+):\d{1,5}")
_PAGE = "docs/howto/cluster.md"


@dataclass(frozen=True)
class Cluster:
    """Where the scheduler is, and the files of the certificates, null as Dask is configured."""

    address: str
    tls_ca: Path | None = None
    tls_cert: Path | None = None
    tls_key: Path | None = None

    def __post_init__(self) -> None:
        """Looks at the address alone.

        Raises:
            EngineError: it is none, or one that only TLS may reach.

        """
        found = _ADDRESS.fullmatch(self.address)
        if found is None or found["scheme"] not in ("tcp", "tls"):
            raise EngineError(
                f"--cluster '{self.address}': write tcp://127.0.0.1:8786, or tls://HOST:8786"
            )
        if found["scheme"] == "tls":
            return
        if not is_loopback(found["host"]):
            raise EngineError(
                f"--cluster {self.address}: beyond the loopback only TLS with client certificates: "
                f"start the scheduler and its workers with certificates ({_PAGE}), and give "
                f"tls{self.address.removeprefix('tcp')} with --tls-ca, --tls-cert and --tls-key"
            )
        if self.tls_ca or self.tls_cert or self.tls_key:
            raise EngineError(f"--cluster {self.address}: certificates go with a tls:// address")

    @property
    def is_encrypted(self) -> bool:
        """Whether it is reached by TLS."""
        return self.address.startswith("tls")

    def security(self) -> Security | None:
        """Certificates for the connection; null without TLS.

        Raises:
            EngineError: a certificate is missing, or cannot be read.

        """
        from distributed import Security

        if not self.is_encrypted:
            return None
        files = {
            "tls_ca_file": self.tls_ca,
            "tls_client_cert": self.tls_cert,
            "tls_client_key": self.tls_key,
        }
        given = {name: str(path) for name, path in files.items() if path is not None}
        made = Security(require_encryption=True, **given)
        if not (made.tls_ca_file and made.tls_client_cert):
            raise EngineError(
                f"--cluster {self.address}: wants a client certificate: give --tls-ca, --tls-cert "
                "and --tls-key, or set distributed.comm.tls in Dask's configuration"
            )
        try:
            made.get_connection_args("client")
        except (OSError, ssl.SSLError) as error:
            told = ", ".join(
                map(str, (made.tls_ca_file, made.tls_client_cert, made.tls_client_key))
            )
            raise EngineError(
                f"--cluster {self.address}: the certificates cannot be used ({told}): {error}"
            ) from error
        return made


def is_loopback(host: str) -> bool:
    """Whether a host, as addresses have it, is this one."""
    try:
        return host == "localhost" or ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check_place(process: str, address: str) -> None:
    """Looks at where a process of the cluster listens.

    Raises:
        EngineError: it can be reached from elsewhere, without TLS.

    """
    found = _ADDRESS.fullmatch(address)
    if found is None or (found["scheme"] != "tls" and not is_loopback(found["host"])):
        raise EngineError(
            f"the {process} {address} is beyond the loopback without TLS: start the scheduler and "
            f"its workers with certificates, or all with --host 127.0.0.1 ({_PAGE})"
        )
