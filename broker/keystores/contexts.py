"""What stores hold, given to OpenSSL, which reads certificates of its own from files only."""

import os
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from broker.keystores.files import BadStore, OwnCertificate


def trust(context: ssl.SSLContext, trusted: str) -> None:
    """Trust these certificates in PEM. Raises BadStore."""
    try:
        context.load_verify_locations(cadata=trusted)
    except ssl.SSLError as error:
        raise BadStore(f"the truststore has a certificate that cannot be read: {error.reason}") from None


def show(context: ssl.SSLContext, own: OwnCertificate) -> None:
    """Show the certificate of a key store to peers that ask for one. Raises BadStore."""
    with _as_file(own.chain) as chain, _as_file(own.key) as key:
        try:
            # Without a function OpenSSL would ask on the terminal.
            context.load_cert_chain(chain, key, lambda: own.password)
        except ssl.SSLError as error:
            raise BadStore(_why(error, own)) from None


def _why(error: ssl.SSLError, own: OwnCertificate) -> str:
    if error.reason == "KEY_VALUES_MISMATCH":
        return "the private key of the keystore belongs to another certificate"
    if error.reason in ("CA_MD_TOO_WEAK", "EE_MD_TOO_WEAK"):
        return "it has a certificate that is signed with SHA-1 or MD5, which is not safe; have it signed with SHA-256"
    if "ENCRYPTED" in own.key:
        reason = "does not open the private key" if own.password else "is not given, and the private key needs it"
        return f"ssl.key.password {reason}"
    return f"the keystore has a key or a certificate that cannot be read: {error.reason or 'it is no PEM'}"


@contextmanager
def _as_file(text: str) -> Iterator[str]:
    """Yield a path at which OpenSSL reads the text: in memory where the system can, else a file of mode 600 that is
    removed at once.
    """
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("tls", os.MFD_CLOEXEC)
        try:
            os.write(descriptor, text.encode())
            yield f"/proc/self/fd/{descriptor}"
        finally:
            os.close(descriptor)
    else:
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(text)
            file.flush()
            yield file.name
