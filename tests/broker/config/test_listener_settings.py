"""What is said for one listener, or one mechanism of it, counts before what is said for all."""

import pytest

from broker.common.errors import StartupError
from broker.config.broker import BrokerConfig, read_broker_config
from broker.config.definition import Password

FILE = """broker.id=1
zookeeper.connect=localhost:2181
listeners=PLAINTEXT://a:1,OUTSIDE://b:2
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,OUTSIDE:SASL_SSL
"""


def read(text: str) -> BrokerConfig:
    return read_broker_config(FILE + text)


def test_kafkas_defaults_hold_for_a_listener_of_which_nothing_is_said():
    settings = read("").of_listener("OUTSIDE")
    assert settings.name == "OUTSIDE"
    assert settings.ssl_enabled_protocols == ("TLSv1.2", "TLSv1.3")
    assert settings.ssl_client_auth == "none"
    assert settings.sasl_server_max_receive_size == 524_288
    assert settings.sasl_jaas_config is None
    assert settings.connection_failed_authentication_delay_ms == 100


def test_a_key_counts_for_all_listeners_but_for_the_one_that_has_its_own():
    config = read("ssl.keystore.location=/all\nlistener.name.outside.ssl.keystore.location=/one\n")
    assert config.of_listener("PLAINTEXT").ssl_keystore_location == "/all"
    assert config.of_listener("OUTSIDE").ssl_keystore_location == "/one"


def test_a_mechanism_has_its_own_before_its_listeners_and_the_brokers():
    config = read(
        "connections.max.reauth.ms=1\n"
        "listener.name.outside.connections.max.reauth.ms=2\n"
        "listener.name.outside.scram-sha-256.connections.max.reauth.ms=3\n"
    )
    outside = config.of_listener("OUTSIDE")
    assert config.of_listener("PLAINTEXT").connections_max_reauth_ms == 1
    assert outside.connections_max_reauth_ms == 2
    assert outside.of_mechanism("SCRAM-SHA-256").connections_max_reauth_ms == 3
    assert outside.of_mechanism("PLAIN").connections_max_reauth_ms == 2


def test_a_login_module_is_said_for_a_mechanism_of_a_listener_and_nowhere_else():
    config = read(
        "sasl.jaas.config=all\nlistener.name.outside.sasl.jaas.config=listener\n"
        "listener.name.outside.plain.sasl.jaas.config=mechanism\n"
    )
    outside = config.of_listener("OUTSIDE")
    assert outside.sasl_jaas_config is None
    assert outside.of_mechanism("SCRAM-SHA-512").sasl_jaas_config is None
    assert outside.of_mechanism("PLAIN").sasl_jaas_config == Password("mechanism")
    assert config.unused == ("listener.name.outside.sasl.jaas.config", "sasl.jaas.config")


def test_certificates_of_clients_are_asked_for_on_a_sasl_ssl_listener_only_if_it_is_said_for_it():
    config = read_broker_config(
        "broker.id=1\nzookeeper.connect=z:1\nlisteners=PLAINTEXT://a:1,SSL://a:2,SASL_SSL://a:3,OTHER://a:4\n"
        "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_SSL:SASL_SSL,OTHER:SASL_SSL\n"
        "ssl.client.auth=required\nlistener.name.other.ssl.client.auth=requested\n"
    )
    client_auth = {name: config.of_listener(name).ssl_client_auth for name in ("SSL", "SASL_SSL", "OTHER")}
    assert client_auth == {"SSL": "required", "SASL_SSL": "none", "OTHER": "requested"}


@pytest.mark.parametrize(
    "name",
    [
        "listener.name.elsewhere.ssl.keystore.location",
        "listener.name.OUTSIDE.ssl.keystore.location",
        "listener.name.outside.num.partitions",
        "listener.name.outside.plain.ssl.keystore.location",
        "listener.name.outside.PLAIN.sasl.jaas.config",
        "listener.name.outside",
        "ssl.engine.factory.class",
    ],
)
def test_what_nothing_reads_is_reported(name):
    assert read(f"{name}=x\n").unused == (name,)


def test_a_wrong_value_is_named_with_its_listener():
    with pytest.raises(
        StartupError, match=r"listener\.name\.outside\.ssl\.client\.auth: String must be one of: none, req"
    ):
        read("listener.name.outside.ssl.client.auth=yes\n")


def test_what_changes_while_the_broker_runs_counts_before_the_file_and_after_its_own_prefix():
    config = read("max.connections=10\nlistener.name.outside.max.connections=5\n")
    assert config.set_dynamic({"max.connections": 20}, {"listener.name.outside.max.connections": 6})
    assert config.of_listener("PLAINTEXT").max_connections == 20
    assert config.of_listener("OUTSIDE").max_connections == 6
    assert not config.set_dynamic({"max.connections": 20}, {"listener.name.outside.max.connections": 6})


def test_a_secret_is_shown_by_no_text_of_it():
    config = read("ssl.keystore.password=hunter2\nlistener.name.outside.plain.sasl.jaas.config=hunter2\n")
    settings = config.of_listener("OUTSIDE")
    assert settings.ssl_keystore_password.value == "hunter2"
    secrets = [settings.ssl_keystore_password, settings.of_mechanism("PLAIN").sasl_jaas_config, config.layers]
    assert "hunter2" not in f"{secrets} {secrets[0]} {config.text('ssl.keystore.password')} {settings} {vars(config)}"


@pytest.mark.parametrize(
    ("line", "attribute", "value"),
    [
        ("ssl.protocol=TLS", "ssl_protocol", "TLSv1.3"),
        ("ssl.protocol=TLSv1.1", "ssl_protocol", "TLSv1.3"),
        ("ssl.protocol=TLSv1.2", "ssl_protocol", "TLSv1.2"),
        ("ssl.enabled.protocols=TLSv1.2,TLSv1.1,TLSv1", "ssl_enabled_protocols", ("TLSv1.2",)),
        ("listener.name.outside.ssl.enabled.protocols=TLSv1.3,SSLv3", "ssl_enabled_protocols", ("TLSv1.3",)),
    ],
)
def test_old_versions_of_tls_in_kafkas_files_are_left_out(line, attribute, value):
    assert getattr(read(f"{line}\n").of_listener("OUTSIDE"), attribute) == value


def test_old_versions_that_are_left_out_are_known_by_their_key():
    config = read("ssl.protocol=TLS\nlistener.name.outside.ssl.enabled.protocols=TLSv1.2, TLSv1.1,TLSv1\n")
    assert config.old_tls_versions == {"listener.name.outside.ssl.enabled.protocols": "TLSv1.1,TLSv1"}


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("ssl.enabled.protocols=TLSv1.1,TLSv1", "TLSv1.1,TLSv1 has neither TLSv1.2 nor TLSv1.3"),
        ("ssl.enabled.protocols=TLSv1.4", "'TLSv1.4' is not a list of TLSv1.2 and TLSv1.3"),
        ("ssl.protocol=TLSv1.4", "'TLSv1.4' is not TLS, TLSv1.2 or TLSv1.3"),
    ],
)
def test_versions_of_tls_that_leave_none_or_that_nobody_knows_do_not_start(line, why):
    with pytest.raises(StartupError, match=why):
        read(f"{line}\n")
