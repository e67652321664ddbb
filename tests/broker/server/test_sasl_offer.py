"""What a listener takes follows from its settings; what it cannot take stops the start with one sentence."""

import pytest

from broker.common.errors import StartupError
from broker.config.broker import read_broker_config
from broker.runtime.security.credentials import UserCredentials
from broker.security.membership import CLIENT_ID
from broker.server.sasl_offer import Provers, login_settings
from tests.members import MEMBERSHIP

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule required"
PROVERS = Provers(MEMBERSHIP, lambda _address: True, UserCredentials(None))


def settings_of(listener: str, *lines: str, provers: Provers = PROVERS):
    config = read_broker_config(
        "broker.id=1\nzookeeper.connect=z:1\nlisteners=IN://127.0.0.1:1,OUT://127.0.0.1:2,OPEN://127.0.0.1:3\n"
        "listener.security.protocol.map=IN:SASL_PLAINTEXT,OUT:SASL_PLAINTEXT,OPEN:PLAINTEXT\n"
        "inter.broker.listener.name=OPEN\n" + "\n".join(lines)
    )
    return login_settings(config.of_listener(listener), provers)


def test_each_listener_has_its_own_mechanisms_users_and_lifetimes():
    lines = (
        "sasl.enabled.mechanisms=SCRAM-SHA-512",
        "listener.name.in.sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256",
        f'listener.name.in.plain.sasl.jaas.config={PLAIN} user_a="x";',
        "connections.max.reauth.ms=1000",
        "listener.name.in.connections.max.reauth.ms=2000",
        "listener.name.in.plain.connections.max.reauth.ms=3000",
        "listener.name.in.connection.failed.authentication.delay.ms=7",
    )
    inside, outside = settings_of("IN", *lines), settings_of("OUT", *lines)
    assert inside.offer.enabled == ("PLAIN", "SCRAM-SHA-256")
    assert inside.offer.reauth_ms == {"PLAIN": 3000, "SCRAM-SHA-256": 2000}
    assert (inside.failure_delay_ms, inside.frame_bytes_max, inside.is_required) == (7, 524_288, True)
    assert inside.offer.mechanisms["PLAIN"]().respond(b"\0a\0x").principal == "User:a"
    assert (outside.offer.enabled, outside.offer.reauth_ms) == (("SCRAM-SHA-512",), {"SCRAM-SHA-512": 1000})
    assert outside.failure_delay_ms == 100


@pytest.mark.parametrize(
    ("listener", "client_id", "serves"),
    [("OUT", "anybody", False), ("OUT", None, False), ("OUT", CLIENT_ID, True), ("OPEN", "anybody", True)],
)
def test_members_are_taken_everywhere(listener, client_id, serves):
    offer = settings_of(listener, "sasl.enabled.mechanisms=SCRAM-SHA-512").offer
    assert offer.serves("SCRAM-SHA-256", client_id) is serves
    assert not settings_of("OPEN").is_required


def test_another_rooms_mechanism_is_taken_by_name():
    made = object()
    provers = PROVERS._replace(others={"OAUTHBEARER": lambda settings: lambda: (made, settings.name)})
    offer = settings_of("IN", "sasl.enabled.mechanisms=OAUTHBEARER", provers=provers).offer
    assert offer.mechanisms["OAUTHBEARER"]() == (made, "IN")


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([], "sasl.enabled.mechanisms names GSSAPI, which is not served; there are PLAIN, SCRAM-SHA-256"),
        (
            ["sasl.enabled.mechanisms=PLAIN"],
            'in.plain.sasl.jaas.config must name the users that may log in: user_<name>="',
        ),
        (
            ["sasl.enabled.mechanisms=PLAIN", f"listener.name.in.plain.sasl.jaas.config={SCRAM};"],
            "ScramLoginModule, which is not for PLAIN",
        ),
        (
            ["sasl.enabled.mechanisms=PLAIN", f'listener.name.in.plain.sasl.jaas.config={PLAIN} user_a="geheim"'],
            "semicolon",
        ),
        (
            ["sasl.enabled.mechanisms=PLAIN", f'listener.name.in.plain.sasl.jaas.config={PLAIN} user___cluster="x";'],
            "the user __cluster is the cluster's own",
        ),
        (
            ["sasl.enabled.mechanisms=SCRAM-SHA-256", "listener.name.in.scram-sha-256.sasl.jaas.config=evil.Jndi x;"],
            "control flag",
        ),
    ],
)
def test_what_cannot_be_taken_stops_the_start(lines, words):
    with pytest.raises(StartupError) as stopped:
        settings_of("IN", *lines)
    assert words in str(stopped.value)
    assert "geheim" not in str(stopped.value)
