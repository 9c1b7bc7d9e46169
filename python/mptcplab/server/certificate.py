"""The server's certificate: its own, made at its first start, or one from files."""

from __future__ import annotations

import hashlib
import ipaddress
import os
import ssl
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.x509 import GeneralName

_VALID = timedelta(days=3650)
NAME = "mptcplab-server"


class CertificateError(Exception):
    """A certificate that cannot be used; the text names the file."""


def make_own(certificate: Path, key: Path, host: str) -> None:
    """Writes a certificate for a host that is signed by its own key (P-256), and the key.

    Agents know it by its fingerprint; its names are for browsers.

    Raises:
        CertificateError: the files cannot be written.

    """
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    own = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(own.public_key())
        .serial_number(x509.random_serial_number())
        # Clocks of agents and browsers may be behind.
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + _VALID)
        .add_extension(x509.SubjectAlternativeName(_names(host)), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(own, hashes.SHA256())
    )
    encoded = own.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    try:
        # The key first: a certificate that is there has its key.
        _write_own(key, encoded)
        _write_own(certificate, made.public_bytes(serialization.Encoding.PEM))
    except OSError as error:
        raise CertificateError(f"{error.filename or key}: {error.strerror}") from None


def fingerprint(certificate: Path) -> str:
    """SHA-256 of the first certificate of a file (PEM), in hexadecimal digits.

    Raises:
        CertificateError: there is none.

    """
    try:
        text = certificate.read_text(encoding="ascii")
        begin, end = text.index(ssl.PEM_HEADER), text.index(ssl.PEM_FOOTER)
        der = ssl.PEM_cert_to_DER_cert(text[begin : end + len(ssl.PEM_FOOTER)])
    except OSError as error:
        raise CertificateError(f"{certificate}: {error.strerror}") from None
    except ValueError:
        raise CertificateError(f"{certificate}: holds no certificate (PEM)") from None
    return hashlib.sha256(der).hexdigest()


def context(certificate: Path, key: Path) -> ssl.SSLContext:
    """TLS 1.3 with a certificate and its key.

    Raises:
        CertificateError: they cannot be read, or do not belong together.

    """
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.minimum_version = ssl.TLSVersion.TLSv1_3
    made.set_alpn_protocols(["http/1.1"])
    try:
        made.load_cert_chain(certificate, key, password=_no_password)
    except ssl.SSLError as error:
        reason = (error.reason or "is no PEM").lower().replace("_", " ")
        raise CertificateError(f"{certificate}, {key}: {reason}") from None
    except OSError as error:
        raise CertificateError(f"{certificate}, {key}: {error.strerror}") from None
    except ValueError:
        raise CertificateError(f"{key}: takes a password: decrypt it first") from None
    return made


def _no_password() -> str:
    raise ValueError


def _names(host: str) -> list[GeneralName]:
    from cryptography import x509

    names: list[GeneralName] = []
    for name in dict.fromkeys((host, "localhost", "127.0.0.1", "::1")):
        try:
            names.append(x509.IPAddress(ipaddress.ip_address(name)))
        except ValueError:
            # A name beyond ASCII is left out.
            with suppress(ValueError):
                names.append(x509.DNSName(name))
    return names


def _write_own(path: Path, content: bytes) -> None:
    """Writes a file that its owner alone reads, at once or not at all."""
    temporary = path.with_suffix(".new")
    temporary.unlink(missing_ok=True)
    file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(file, content)
        os.fsync(file)
    finally:
        os.close(file)
    temporary.rename(path)
