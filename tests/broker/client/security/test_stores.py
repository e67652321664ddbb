"""Stores of every kind come to the same PEM, and what cannot be read is one sentence."""

import pytest

from broker.client.security.errors import ClientConfigError
from broker.client.security.properties import ClientTlsSettings, KeyStore, TrustStore
from broker.client.security.secret import Secret
from broker.client.security.stores import own_certificate, trusted_certificates
from broker.client.security.tls import client_context
from tests.secure_broker import written

_HOLLOW = "-----BEGIN CERTIFICATE-----\nxx\n-----END CERTIFICATE-----\n"


def test_trust_stores_of_every_kind_name_the_same_authority(tmp_path, authority):
    (tmp_path / "ca.pem").write_text("a comment\n" + authority.pem)
    (tmp_path / "ca.p12").write_bytes(authority.pkcs12_trust("changeit"))
    for store in (
        TrustStore("PEM", certificates=authority.pem),
        TrustStore("PEM", str(tmp_path / "ca.pem")),
        TrustStore("JKS", str(tmp_path / "ca.pem")),
        TrustStore("PKCS12", str(tmp_path / "ca.p12"), password=Secret("changeit")),
        TrustStore("JKS", str(tmp_path / "ca.p12"), password=Secret("changeit")),
    ):
        assert authority.pem.strip() in trusted_certificates(store)
        (trusted,) = client_context(ClientTlsSettings(truststore=store)).get_ca_certs()
        assert dict(item[0] for item in trusted["subject"])["commonName"] == "Barnabas tests"


def test_key_stores_of_every_kind_hold_the_whole_chain(tmp_path, authority):
    ann = authority.client("ann")
    path = written(tmp_path / "ann.pem", ann.pem())
    locked = written(tmp_path / "locked.pem", ann.pem("opened"))
    (tmp_path / "ann.p12").write_bytes(ann.pkcs12("changeit"))
    (tmp_path / "chain.pem").write_text(ann.chain_pem)
    (tmp_path / "key.pem").write_text(ann.key_pem())
    for store in (
        KeyStore("PEM", path),
        KeyStore("PEM", locked, key_password=Secret("opened")),
        KeyStore("PEM", str(tmp_path / "chain.pem"), key_location=str(tmp_path / "key.pem")),
        KeyStore("PEM", chain=ann.chain_pem, key=Secret(ann.key_pem())),
        KeyStore("PEM", chain=ann.chain_pem, key=Secret(ann.key_pem("opened")), key_password=Secret("opened")),
        KeyStore("PKCS12", str(tmp_path / "ann.p12"), password=Secret("changeit")),
    ):
        assert own_certificate(store).chain.count("BEGIN CERTIFICATE") == 2
        client_context(ClientTlsSettings(keystore=store))
        assert "PRIVATE" not in repr(own_certificate(store))


@pytest.mark.parametrize(
    ("store", "sentence"),
    [
        (KeyStore("PEM", "{}/none.pem"), r"ssl\.keystore\.location=.*none\.pem cannot be read: No such file"),
        (KeyStore("JKS", "{}/java.jks"), "in Java's own format, .* keytool"),
        (KeyStore("PKCS12", "{}/ann.p12", password=Secret("wrong")), r"ssl\.keystore\.password does not open"),
        (KeyStore("PKCS12", "{}/ann.p12"), r"ssl\.keystore\.password is not given"),
        (KeyStore("PEM", "{}/chain.pem"), "has no private key"),
        (KeyStore("PEM", "{}/noise"), "neither PEM nor PKCS#12"),
        (KeyStore("PEM", "{}/locked.pem"), r"ssl\.key\.password is not given"),
        (KeyStore("PEM", "{}/locked.pem", key_password=Secret("wrong")), r"ssl\.key\.password does not open"),
        (KeyStore("PEM", "{}/chain.pem", key_location="{}/other.pem"), "belongs to another certificate"),
        (KeyStore("PEM", chain="-----BEGIN CERTIFICATE-----", key=Secret("x")), "no certificate in it that is PEM"),
        (KeyStore("PEM", chain=_HOLLOW, key=Secret("x")), "cannot be read"),
    ],
)
def test_a_key_store_that_cannot_serve_is_one_sentence(tmp_path, authority, store, sentence):
    ann = authority.client("ann")
    (tmp_path / "ann.p12").write_bytes(ann.pkcs12("changeit"))
    (tmp_path / "chain.pem").write_text(ann.chain_pem)
    (tmp_path / "java.jks").write_bytes(b"\xfe\xed\xfe\xed\0\0\0\2")
    (tmp_path / "noise").write_bytes(b"\xff\xff")
    written(tmp_path / "locked.pem", ann.pem("opened"))
    written(tmp_path / "other.pem", authority.client("ben").pem())
    here = {"location": store.location.format(tmp_path), "key_location": store.key_location.format(tmp_path)}
    with pytest.raises(ClientConfigError, match=sentence) as refused:
        client_context(ClientTlsSettings(keystore=KeyStore(**{**vars(store), **here})))
    assert "\n" not in str(refused.value)


def test_a_trust_store_without_certificates_is_refused(tmp_path):
    with pytest.raises(ClientConfigError, match="no certificate in it that is PEM"):
        client_context(ClientTlsSettings(truststore=TrustStore("PEM", certificates="hello")))
    with pytest.raises(ClientConfigError, match="cannot be read"):
        client_context(ClientTlsSettings(truststore=TrustStore("PEM", certificates=_HOLLOW)))
