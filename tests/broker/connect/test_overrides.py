"""What a connector may set of its clients: by policy, never what is of the worker's process, files where it may."""

import pytest

from broker.common.errors import StartupError
from broker.connect.api import ConnectError
from broker.connect.herder.validation import validate
from broker.connect.plugins import paths
from broker.connect.settings import STANDALONE, read_settings

WORKER = {
    "bootstrap.servers": "ours:9092", "key.converter": "JsonConverter", "value.converter": "JsonConverter",
    "offset.storage.file.filename": "/x", "security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN",
    "sasl.username": "worker", "sasl.password": "of the worker",
}  # fmt: skip
POLICY = "connector.client.config.override.policy"
JAAS = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="own" password="own secret";'


def settings(policy=None, **more):
    properties = {} if policy is None else {POLICY: policy}
    return read_settings(WORKER | properties | more, STANDALONE)


def errors(policy, **overrides):
    return {
        config["value"]["name"]: config["value"]["errors"]
        for config in shown(policy, **overrides)
        if config["value"]["errors"]
    }


def shown(policy, **overrides):
    source = {"name": "s", "connector.class": "FileStreamSource", "topic": "t"}
    return validate(source | overrides, settings(policy))["configs"]


@pytest.fixture
def roots(tmp_path):
    paths.allow([str(tmp_path)])
    yield tmp_path
    paths.allow(None)


@pytest.mark.parametrize(
    ("policy", "option", "is_allowed"),
    [
        (None, "linger.ms", True),
        (None, "acks", False),
        (None, "bootstrap.servers", False),
        (None, "sasl.jaas.config", False),
        ("None", "linger.ms", False),
        ("Principal", "sasl.jaas.config", True),
        ("Principal", "ssl.keystore.location", False),
        ("Principal", "linger.ms", False),
        ("All", "acks", True),
        ("All", "bootstrap.servers", True),
        ("All", "sasl.mechanism", True),
        ("All", "plugin.library.paths", False),
        ("All", "test.mock.num.brokers", False),
        ("All", "enable.auto.commit", False),
        ("AllConnectorClientConfigOverridePolicy", "acks", True),
        ("org.apache.kafka.connect.connector.policy.NoneConnectorClientConfigOverridePolicy", "linger.ms", False),
    ],
)
@pytest.mark.parametrize("kind", ["producer", "consumer", "admin"])
def test_a_policy_says_it_of_each_option_under_the_options_own_key(policy, option, is_allowed, kind):
    key = f"{kind}.override.{option}"
    value = {"sasl.jaas.config": JAAS, "sasl.mechanism": "PLAIN"}.get(option, "1")
    result = errors(policy, **{key: value})
    assert list(result) == ([] if is_allowed else [key])
    assert all(option in text for text in result.get(key, ()))


def test_kafkas_sentence_names_policy_and_option():
    assert errors("None", **{"producer.override.acks": "0"}) == {
        "producer.override.acks": [
            "The 'None' policy does not allow 'acks' to be overridden in the connector configuration."
        ]
    }


def test_an_own_list_takes_the_place_of_the_options_that_only_tune():
    own = settings(**{"connector.client.config.override.allowlist": "acks, group.id"})
    assert own.policy.objection("acks", "1") is None
    assert own.policy.objection("linger.ms", "1")
    assert settings("None", **{"connector.client.config.override.allowlist": "acks"}).policy.objection("acks", "1")


def test_a_policy_that_is_none_ends_the_start():
    with pytest.raises(StartupError, match="Allowlist, All, None, Principal"):
        settings("Everything")


def test_what_was_configured_under_another_policy_does_not_run():
    with pytest.raises(ConnectError, match=r"producer\.override\.acks"):
        settings("None").producer("c", 0, {"producer.override.acks": "0"})


def test_each_kind_of_client_has_the_overrides_of_its_kind_and_the_workers_for_it():
    own = settings("All", **{"admin.request.timeout.ms": "7", "consumer.fetch.min.bytes": "8"})
    properties = {
        "admin.override.client.id": "me",
        "consumer.override.fetch.max.wait.ms": "9",
        "producer.override.acks": "1",
    }
    assert own.admin("c", 0, properties) | {"client.id": "me", "request.timeout.ms": "7"} == own.admin(
        "c", 0, properties
    )
    assert own.consumer("c", 0, properties)["fetch.wait.max.ms"] == "9"
    assert own.consumer("c", 0, properties)["fetch.min.bytes"] == "8"
    assert own.producer("c", 0, properties)["acks"] == "1"
    assert "acks" not in own.admin("c", 0, properties)


def test_a_login_of_its_own_takes_the_workers_place_and_is_not_shown():
    properties = {"producer.override.sasl.jaas.config": JAAS}
    made = settings("Principal").producer("c", 0, properties)
    assert (made["sasl.username"], made["sasl.password"]) == ("own", "own secret")
    assert (made["security.protocol"], made["bootstrap.servers"]) == ("SASL_PLAINTEXT", "ours:9092")
    assert "own secret" not in str(shown("Principal", **properties))


def test_the_workers_password_goes_to_no_other_cluster():
    made = settings("All").producer("c", 0, {"producer.override.bootstrap.servers": "elsewhere:9092"})
    assert made["bootstrap.servers"] == "elsewhere:9092"
    assert not any(key.startswith(("sasl.", "security.")) for key in made)
    assert settings("All").admin("c", 0, {})["sasl.password"] == "of the worker"


def test_a_login_that_is_none_is_told_before_the_connector_is_made():
    wrong = {"consumer.override.security.protocol": "SASL_PLAINTEXT", "consumer.override.sasl.mechanism": "GSSAPI"}
    assert list(errors("All", **wrong)) == ["consumer.override.security.protocol"]
    unchecked = {"producer.override.enable.ssl.certificate.verification": "false"}
    assert errors("All", **unchecked | {"producer.override.security.protocol": "SSL"})
    assert "enable.ssl.certificate.verification" not in settings("All").producer("c", 0, unchecked)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("ssl.truststore.location", "/etc/shadow"),
        ("ssl.key.location", "{roots}/../key.pem"),
        ("sasl.oauthbearer.token.endpoint.url", "file:///etc/passwd"),
        # As whoever reads it takes it: without spaces around, without a host, and what is quoted read.
        ("ssl.truststore.location", "  /etc/shadow"),
        ("sasl.oauthbearer.token.endpoint.url", " file:///etc/passwd"),
        ("sasl.oauthbearer.token.endpoint.url", "file://{roots}/%2e%2e/key"),
        ("sasl.oauthbearer.token.endpoint.url", "file://{roots}/.\t./key"),
        ("sasl.oauthbearer.token.endpoint.url", "file://here/etc/passwd"),
    ],
)
def test_a_file_is_named_only_where_connectors_may_read(roots, monkeypatch, option, value):
    monkeypatch.chdir(roots)
    key = f"admin.override.{option}"
    assert list(errors("All", **{key: value.format(roots=roots)})) == [key]
    inside = f"{'file://' if option.startswith('sasl') else ''}{roots}/own.pem"
    assert errors("All", **{key: inside}) == {}


def test_nor_does_a_mirror_name_another(roots):
    clusters = {
        f"{side}.cluster.{key}": value
        for side in ("source", "target")
        for key, value in (("alias", side), ("bootstrap.servers", "a:1"), ("security.protocol", "SSL"))
    }
    config = {"name": "m", "connector.class": "MirrorHeartbeatConnector", **clusters}
    right = {"source.cluster.ssl.truststore.location": f"{roots}/ca.pem"}
    assert validate(config | right, settings())["error_count"] == 0
    wrong = validate(config | {"source.cluster.ssl.truststore.location": "/etc/shadow"}, settings())
    assert [e["value"]["name"] for e in wrong["configs"] if e["value"]["errors"]] == [
        "source.cluster.bootstrap.servers"
    ]
