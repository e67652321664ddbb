"""A client's trust and key store, as its properties name them, as PEM in memory."""

from collections.abc import Iterator
from contextlib import contextmanager

from broker.client.security.errors import ClientConfigError
from broker.client.security.properties import KeyStore, TrustStore
from broker.client.security.secret import Secret
from broker.keystores import files
from broker.keystores.files import BadStore, OwnCertificate, StoreFile


@contextmanager
def as_config_errors() -> Iterator[None]:
    try:
        yield
    except BadStore as error:
        raise ClientConfigError(str(error)) from None


def trusted_certificates(store: TrustStore) -> str:
    """Return the certificates as PEM. Raises ClientConfigError."""
    with as_config_errors():
        if store.certificates:
            return files.certificates(store.certificates, "ssl.truststore.certificates")
        return files.authorities(_file(store, "ssl.truststore.location"))


def own_certificate(store: KeyStore) -> OwnCertificate:
    """Raises ClientConfigError."""
    with as_config_errors():
        password = _revealed(store.key_password)
        if store.chain and store.key:
            chain = files.certificates(store.chain, "ssl.keystore.certificate.chain")
            return OwnCertificate(chain, store.key.reveal(), password)
        return files.own_certificate(_file(store, "ssl.keystore.location"), password, store.key_location)


def _file(store: TrustStore | KeyStore, name: str) -> StoreFile:
    return StoreFile(store.location, name, _revealed(store.password))


def _revealed(secret: Secret | None) -> str:
    return secret.reveal() if secret else ""
