"""What properties come to, and what they may not be, in tables."""

import pickle

import pytest

from broker.client.security.errors import ClientConfigError
from broker.client.security.properties import (
    PLAINTEXT,
    BearerSettings,
    ClientSecurity,
    ClientTlsSettings,
    KeyStore,
    SaslSettings,
    TrustStore,
    is_secret,
    read_security,
)
from broker.client.security.secret import Secret

_PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
_SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule required"
_BEARER = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"
_TOKENS = "sasl.oauthbearer.token.endpoint.url"


def tls(**properties: str) -> ClientTlsSettings | None:
    named = {f"ssl.{name.replace('_', '.')}": text for name, text in properties.items()}
    return read_security({"security.protocol": "SSL"} | named).tls


def sasl(mechanism: str, **properties: str) -> SaslSettings | None:
    named = {f"sasl.{name.replace('_', '.')}": text for name, text in properties.items()}
    return read_security({"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": mechanism} | named).sasl


def test_without_a_protocol_nothing_is_read():
    assert read_security({}) == PLAINTEXT
    assert read_security({"security.protocol": "plaintext", "sasl.mechanism": "NONSENSE"}) == PLAINTEXT


def test_a_protocol_has_what_its_name_says():
    login = {"sasl.mechanism": "PLAIN", "sasl.username": "u", "sasl.password": "p"}
    for protocol, parts in (("SSL", (True, False)), ("SASL_PLAINTEXT", (False, True)), ("sasl_ssl", (True, True))):
        security = read_security({"security.protocol": protocol, **login})
        assert (security.tls is not None, security.sasl is not None) == parts
        assert security.protocol == protocol.upper()


@pytest.mark.parametrize(
    ("properties", "store"),
    [
        ({}, None),
        ({"truststore_location": "t.jks"}, TrustStore("JKS", "t.jks")),
        (
            {"truststore_location": "t.p12", "truststore_type": "pkcs12", "truststore_password": "p"},
            TrustStore("PKCS12", "t.p12", password=Secret("p")),
        ),
        ({"truststore_certificates": "a\\nb", "truststore_type": "PEM"}, TrustStore("PEM", certificates="a\nb")),
        ({"ca_location": "ca.pem"}, TrustStore("PEM", "ca.pem")),
        ({"ca_pem": "x"}, TrustStore("PEM", certificates="x")),
    ],
)
def test_a_trust_store_is_a_file_or_text(properties, store):
    assert tls(**properties).truststore == store


@pytest.mark.parametrize(
    ("properties", "store"),
    [
        ({}, None),
        (
            {"keystore_location": "k.p12", "keystore_password": "p", "key_password": "q"},
            KeyStore("JKS", "k.p12", password=Secret("p"), key_password=Secret("q")),
        ),
        ({"keystore_location": "k.pem", "keystore_type": "PEM"}, KeyStore("PEM", "k.pem")),
        (
            {"keystore_certificate_chain": "c", "keystore_key": "k", "key_password": "q"},
            KeyStore("PEM", chain="c", key=Secret("k"), key_password=Secret("q")),
        ),
        (
            {"certificate_location": "c.pem", "key_location": "k.pem"},
            KeyStore("PEM", "c.pem", key_location="k.pem"),
        ),
        ({"certificate_pem": "c", "key_pem": "k"}, KeyStore("PEM", chain="c", key=Secret("k"))),
    ],
)
def test_a_key_store_is_a_file_two_files_or_text(properties, store):
    assert tls(**properties).keystore == store


def test_hosts_are_checked_unless_said_otherwise():
    for text, checks in (("https", True), ("HTTPS", True), ("", False), ("none", False)):
        assert tls(endpoint_identification_algorithm=text).checks_host is checks
    assert tls().checks_host


def test_versions_before_1_2_are_never_spoken():
    assert tls().versions == ("TLSv1.2", "TLSv1.3")
    assert tls(enabled_protocols="TLSv1.3").versions == ("TLSv1.3",)
    assert tls(enabled_protocols="TLSv1.1, TLSv1.2").versions == ("TLSv1.2",)


@pytest.mark.parametrize(
    ("mechanism", "properties", "settings"),
    [
        (
            "PLAIN",
            {"jaas_config": f'{_PLAIN} username="u" password="p";'},
            SaslSettings("PLAIN", "u", Secret("p")),
        ),
        (
            "scram-sha-512",
            {"jaas_config": f'{_SCRAM} username="u" password="p";'},
            SaslSettings("SCRAM-SHA-512", "u", Secret("p")),
        ),
        ("SCRAM-SHA-256", {"username": "u", "password": "p"}, SaslSettings("SCRAM-SHA-256", "u", Secret("p"))),
        (
            "SCRAM-SHA-256",
            {"jaas_config": f'{_SCRAM} username="id" password="hmac" tokenauth="true";'},
            SaslSettings("SCRAM-SHA-256", "id", Secret("hmac"), is_delegation_token=True),
        ),
        (
            "OAUTHBEARER",
            {"oauthbearer_token_endpoint_url": "file:///t"},
            SaslSettings("OAUTHBEARER", bearer=BearerSettings("file:///t")),
        ),
        (
            "OAUTHBEARER",
            {
                "oauthbearer_token_endpoint_url": "https://idp/token",
                "jaas_config": f'{_BEARER} clientId="c" clientSecret="s" scope="x" extension_pool="7";',
            },
            SaslSettings(
                "OAUTHBEARER",
                bearer=BearerSettings("https://idp/token", "c", Secret("s"), "x", (("pool", "7"),)),
            ),
        ),
        (
            "OAUTHBEARER",
            {
                "oauthbearer_token_endpoint_url": "http://idp/token",
                "oauthbearer_client_id": "c",
                "oauthbearer_client_secret": "s",
            },
            SaslSettings("OAUTHBEARER", bearer=BearerSettings("http://idp/token", "c", Secret("s"))),
        ),
    ],
)
def test_a_login_is_what_its_mechanism_needs(mechanism, properties, settings):
    assert sasl(mechanism, **properties) == settings


@pytest.mark.parametrize(
    ("properties", "sentence"),
    [
        ({"security.protocol": "TLS"}, r"security\.protocol=TLS must be one of PLAINTEXT, SSL"),
        ({"security.protocol": "SSL", "ssl.truststore.type": "BKS"}, "must be PEM or PKCS12"),
        ({"security.protocol": "SSL", "ssl.enabled.protocols": "TLSv1"}, "older ones are not safe"),
        ({"security.protocol": "SSL", "ssl.endpoint.identification.algorithm": "LDAPS"}, "must be https"),
        ({"security.protocol": "SSL", "ssl.cipher.suites": "A"}, "not heeded"),
        ({"security.protocol": "SSL", "ssl.crl.location": "A"}, "not heeded"),
        ({"security.protocol": "SSL", "enable.ssl.certificate.verification": "false"}, "would trust any certificate"),
        ({"security.protocol": "SSL", "ssl.truststore.certificates": "a", "ssl.truststore.location": "b"}, "exclude"),
        ({"security.protocol": "SSL", "ssl.keystore.certificate.chain": "a"}, r"without ssl\.keystore\.key"),
        ({"security.protocol": "SSL", "ssl.certificate.location": "a"}, "belong together"),
        (
            {
                "security.protocol": "SSL",
                "ssl.keystore.type": "PEM",
                "ssl.keystore.location": "a",
                "ssl.keystore.password": "sesame",
            },
            r"ssl\.key\.password",
        ),
        ({"security.protocol": "SASL_SSL"}, "GSSAPI, which is Kafka's default, is not spoken here"),
        ({"security.protocol": "SASL_SSL", "sasl.mechanism": "CRAM"}, r"sasl\.mechanism=CRAM is not spoken"),
        ({"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN"}, "must name username"),
        (
            {
                "security.protocol": "SASL_SSL",
                "sasl.mechanism": "PLAIN",
                "sasl.jaas.config": f'{_SCRAM} username="u" password="sesame";',
            },
            "names ScramLoginModule; with sasl.mechanism=PLAIN it is PlainLoginModule",
        ),
        (
            {
                "security.protocol": "SASL_SSL",
                "sasl.mechanism": "PLAIN",
                "sasl.username": "u",
                "sasl.password": "sesame\0",
            },
            "no NUL",
        ),
        ({"security.protocol": "SASL_SSL", "sasl.mechanism": "OAUTHBEARER"}, "where tokens come from"),
        (
            {"security.protocol": "SASL_SSL", "sasl.mechanism": "OAUTHBEARER", _TOKENS: "https://a"},
            "must name clientId",
        ),
        (
            {"security.protocol": "SASL_SSL", "sasl.mechanism": "OAUTHBEARER", _TOKENS: "https://a:sesame@b/c"},
            "has a password in it",
        ),
    ],
)
def test_what_cannot_be_right_is_one_sentence_without_a_secret(properties, sentence):
    with pytest.raises(ClientConfigError, match=sentence) as refused:
        read_security(properties)
    assert "sesame" not in str(refused.value)
    assert "\n" not in str(refused.value)


def _with_every_secret() -> ClientSecurity:
    keys = read_security(
        {
            "security.protocol": "SASL_SSL",
            "ssl.truststore.location": "t",
            "ssl.truststore.password": "sesame",
            "ssl.keystore.certificate.chain": "c",
            "ssl.keystore.key": "sesame",
            "ssl.key.password": "sesame",
            "sasl.mechanism": "OAUTHBEARER",
            _TOKENS: "https://a",
            "sasl.jaas.config": f'{_BEARER} clientId="c" clientSecret="sesame";',
        }
    )
    assert keys.tls.truststore.password.reveal() == keys.sasl.bearer.client_secret.reveal() == "sesame"
    return keys


def test_no_object_shows_a_secret_in_any_way_that_python_prints_one():
    login = read_security(
        {"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN", "sasl.username": "u", "sasl.password": "sesame"}
    )
    for item in (_with_every_secret(), login, Secret("sesame"), {"a": [login]}, login.sasl):
        for shown in (repr(item), str(item), f"{item}", f"{item!r:>9}", "%s %r" % (item, item)):  # noqa: UP031
            assert "sesame" not in shown
            assert "hidden" in shown
    assert "sesame" not in repr(ValueError(login))


def test_a_secret_is_not_pickled_for_a_plan_or_another_process():
    with pytest.raises(TypeError, match="not written anywhere"):
        pickle.dumps(_with_every_secret())
    assert pickle.loads(pickle.dumps(PLAINTEXT)) == PLAINTEXT


def test_secret_properties_are_known_by_name():
    for name in (
        "ssl.key.password", "ssl.keystore.password", "ssl.truststore.password", "ssl.keystore.key", "ssl.key.pem",
        "sasl.password", "sasl.jaas.config", "sasl.oauthbearer.client.secret", "listener.name.x.ssl.key.password",
    ):  # fmt: skip
        assert is_secret(name), name
    for name in ("sasl.username", "ssl.truststore.location", "security.protocol", "ssl.keystore.certificate.chain"):
        assert not is_secret(name), name
