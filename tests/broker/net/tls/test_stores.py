"""What is taken for a key and for certificates, in every form they come in, and what is refused with which sentence."""

import os
import ssl
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key

from broker.keystores.files import BadStore, certificates, private_key
from broker.net.tls.contexts import client_context, server_context
from broker.net.tls.settings import TlsSettings
from broker.net.tls.stores import own_certificate, trusted_certificates
from tests.certificates import Authority, inline

AUTHORITY = Authority()
SERVER = AUTHORITY.server()
PASSWORD = "very secret"
JKS = b"\xfe\xed\xfe\xed\0\0\0\2"


def shaken(server: ssl.SSLContext, client: ssl.SSLContext) -> ssl.SSLObject:
    """The server's side of a handshake in memory."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    served = server.wrap_bio(to_server, to_client, server_side=True)
    asking = client.wrap_bio(to_client, to_server, server_hostname="localhost")
    for _ in range(4):
        for side in (asking, served):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
    assert served.version()
    return served


def stored(directory: Path, name: str, content: str | bytes) -> str:
    path = directory / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def settings_of(directory: Path, form: str) -> TlsSettings:
    trust = {"truststore_certificates": AUTHORITY.pem}
    if form == "inline":
        return TlsSettings(keystore_key=SERVER.key_pem(), keystore_certificate_chain=SERVER.chain_pem, **trust)
    if form == "inline in one line":
        chain, key = inline(SERVER.chain_pem), inline(SERVER.key_pem(PASSWORD))
        return TlsSettings(keystore_key=key, keystore_certificate_chain=chain, key_password=PASSWORD, **trust)
    if form == "inline with blanks":
        chain, key = (text.replace("\n", " ") for text in (SERVER.chain_pem, SERVER.key_pem()))
        return TlsSettings(keystore_key=key, keystore_certificate_chain=chain, **trust)
    if form == "PEM":
        return TlsSettings(keystore_location=stored(directory, "own.pem", SERVER.pem()), **trust)
    if form == OF_OPENSSL:
        key = load_pem_private_key(SERVER.key_pem().encode(), None)
        own = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()).decode()
        assert "BEGIN EC PRIVATE KEY" in own
        return TlsSettings(keystore_location=stored(directory, "own.pem", own + SERVER.chain_pem), **trust)
    if form == "PEM, encrypted":
        path = stored(directory, "own.pem", SERVER.pem(PASSWORD))
        return TlsSettings(keystore_location=path, key_password=PASSWORD, **trust)
    return TlsSettings(
        keystore_location=stored(directory, "own.p12", SERVER.pkcs12(PASSWORD)),
        keystore_password=PASSWORD,
        truststore_location=stored(directory, "trust.p12", AUTHORITY.pkcs12_trust(PASSWORD)),
        truststore_password=PASSWORD,
    )


OF_OPENSSL = "PEM, as openssl ec writes it"
FORMS = ["inline", "inline in one line", "inline with blanks", "PEM", OF_OPENSSL, "PEM, encrypted", "PKCS12"]


@pytest.mark.parametrize("form", FORMS)
def test_a_context_serves_and_connects_from_every_form(form, tmp_path):
    settings = settings_of(tmp_path, form)
    assert shaken(server_context(settings), client_context(settings)).version() == "TLSv1.3"


@pytest.mark.parametrize("form", FORMS)
def test_nothing_is_left_on_disk_or_open(form, tmp_path):
    settings = settings_of(tmp_path, form)
    server_context(settings)
    before, files = len(os.listdir("/proc/self/fd")), sorted(os.listdir(tmp_path))
    for _ in range(5):
        server_context(settings)
    assert len(os.listdir("/proc/self/fd")) == before
    assert sorted(os.listdir(tmp_path)) == files


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"keystore_location": "/nowhere"}, "cannot be read: No such file"),
        ({"keystore_location": "jks"}, "keytool -importkeystore"),
        ({"keystore_location": "p12"}, "ssl.keystore.password is not given"),
        ({"keystore_location": "p12", "keystore_password": "wrong"}, "ssl.keystore.password does not open it"),
        ({"keystore_location": "encrypted"}, "ssl.key.password is not given"),
        ({"keystore_location": "encrypted", "key_password": "wrong"}, "ssl.key.password does not open the private key"),
        ({"keystore_location": "pem", "keystore_password": "x"}, "opened by ssl.key.password"),
        ({"keystore_location": "garbage"}, "neither PEM nor PKCS#12"),
        ({"keystore_location": "certificate only"}, "no private key"),
        ({"keystore_location": "key only"}, "no certificate"),
        ({"keystore_location": "another's key"}, "belongs to another certificate"),
        ({"keystore_location": "trust"}, "holds no private key"),
        ({"keystore_location": "pem", "keystore_key": "x"}, "leave out one"),
        ({"keystore_key": "x"}, "belong together"),
        ({}, "needs a certificate"),
    ],
)
def test_a_key_store_that_cannot_be_used_is_one_sentence(changes, sentence, tmp_path):
    content = {
        "jks": JKS,
        "p12": SERVER.pkcs12(PASSWORD),
        "encrypted": SERVER.pem(PASSWORD),
        "pem": SERVER.pem(),
        "garbage": b"\xff\xfe\xfd",
        "certificate only": SERVER.chain_pem,
        "key only": SERVER.key_pem(),
        "another's key": AUTHORITY.server().key_pem() + SERVER.chain_pem,
        "trust": AUTHORITY.pkcs12_trust(PASSWORD),
    }
    location = changes.get("keystore_location", "")
    if location in content:
        changes = changes | {"keystore_location": stored(tmp_path, "store", content[location])}
        if location == "trust":
            changes["keystore_password"] = PASSWORD
    with pytest.raises(BadStore) as refused:
        server_context(TlsSettings(**changes))
    assert sentence in str(refused.value)
    assert PASSWORD not in str(refused.value)
    assert "PRIVATE KEY--" not in str(refused.value)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"truststore_location": "/nowhere"}, "cannot be read"),
        ({"truststore_certificates": "nothing"}, "no certificate"),
        ({"truststore_certificates": AUTHORITY.pem, "truststore_location": "x"}, "leave out one"),
    ],
)
def test_a_trust_store_that_cannot_be_used_is_one_sentence(changes, sentence):
    with pytest.raises(BadStore, match=sentence):
        trusted_certificates(TlsSettings(**changes))


def test_who_asks_for_certificates_must_know_whom_to_believe():
    settings = TlsSettings(
        keystore_key=SERVER.key_pem(), keystore_certificate_chain=SERVER.chain_pem, client_auth="required"
    )
    with pytest.raises(BadStore, match=r"needs ssl\.truststore\.location"):
        server_context(settings)


def test_secrets_are_not_shown():
    settings = TlsSettings(keystore_key="k3y", keystore_password="p4ss", key_password="0ther", truststore_password="tr")
    for secret in ("k3y", "p4ss", "0ther"):
        assert secret not in repr(settings)
    own = own_certificate(TlsSettings(keystore_key=SERVER.key_pem(), keystore_certificate_chain=SERVER.chain_pem))
    assert "KEY" not in repr(own)


@pytest.mark.parametrize(
    ("suites", "version", "cipher"),
    [
        (("TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",), "TLSv1.2", "ECDHE-ECDSA-AES128-GCM-SHA256"),
        (("TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",), "TLSv1.2", "ECDHE-ECDSA-CHACHA20-POLY1305"),
        (("ECDHE-ECDSA-AES256-GCM-SHA384",), "TLSv1.2", "ECDHE-ECDSA-AES256-GCM-SHA384"),
        (("TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_128_GCM_SHA256"), "TLSv1.3", "TLS_AES"),
    ],
)
def test_ciphers_are_javas_or_openssls_names(suites, version, cipher, tmp_path):
    settings = TlsSettings(
        keystore_key=SERVER.key_pem(),
        keystore_certificate_chain=SERVER.chain_pem,
        truststore_certificates=AUTHORITY.pem,
        cipher_suites=suites,
    )
    served = shaken(server_context(settings), ssl.create_default_context(cadata=AUTHORITY.pem))
    assert served.version() == version
    assert served.cipher()[0].startswith(cipher)


@pytest.mark.parametrize("suites", [("TLS_AES_256_GCM_SHA384",), ("NO_SUCH",)])
def test_ciphers_that_cannot_be_heeded_are_refused(suites):
    with pytest.raises(BadStore, match="cipher"):
        server_context(
            TlsSettings(
                keystore_key=SERVER.key_pem(), keystore_certificate_chain=SERVER.chain_pem, cipher_suites=suites
            )
        )


@pytest.mark.parametrize(
    ("changes", "version"), [({"protocol": "TLSv1.2"}, "TLSv1.2"), ({"enabled_protocols": ("TLSv1.2",)}, "TLSv1.2")]
)
def test_the_newest_version_can_be_said(changes, version):
    settings = TlsSettings(keystore_key=SERVER.key_pem(), keystore_certificate_chain=SERVER.chain_pem, **changes)
    assert shaken(server_context(settings), ssl.create_default_context(cadata=AUTHORITY.pem)).version() == version


@pytest.mark.parametrize("kind", ["CERTIFICATE", "PRIVATE KEY"])
def test_beginnings_without_ends_are_read_once(kind):
    """A megabyte of them; reading each up to the text's end took the square of that."""
    text = f"-----BEGIN {kind}-----\nMIIB\n" * 40_000
    read = certificates if kind == "CERTIFICATE" else private_key
    with pytest.raises(BadStore, match="that is PEM"):
        read(text, "file")
    whole = f"{text}-----END {kind}-----\n"
    assert read(whole, "file").count(f"BEGIN {kind}") == 1


def test_dashes_within_a_key_do_not_end_it():
    key = "-----BEGIN RSA PRIVATE KEY-----\nDEK-Info: AES-256-CBC,--1\n\nMI--IB\n-----END RSA PRIVATE KEY-----"
    assert private_key(f"text\n{key}\ntext", "file") == f"{key}\n"


def test_a_certificate_that_is_signed_with_sha1_is_named_with_its_file_and_what_to_do():
    """As old stores have them that were converted from JKS; made with `openssl x509 -req -sha1` for a hundred years."""
    location = str(Path(__file__).parent / "signed_with_sha1.pem")
    with pytest.raises(BadStore) as refused:
        server_context(TlsSettings(keystore_type="PEM", keystore_location=location))
    assert str(refused.value) == (
        f"ssl.keystore.location={location}: it has a certificate that is signed with SHA-1 or MD5, which is not safe; "
        "have it signed with SHA-256"
    )
