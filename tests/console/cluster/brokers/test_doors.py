"""Settings that open a door to a broker: for administrators, with a typed name, and with what is lost in words."""

import pytest
from django.test import Client
from django.utils import timezone

from broker.config.dynamic import CLUSTER_WIDE, OF_LISTENER, PER_BROKER
from console.cluster.brokers.doors import losses_of, opens_a_door, parse_protocols
from console.kit.access.api_tokens import SCOPES, make_token
from tests.console.confirming import digest_in

PAGE, CHANGE = "/brokers/1/settings/", "/brokers/1/set/"
OPEN = "PLAINTEXT://127.0.0.1:9092,OUTSIDE://0.0.0.0:24698"
DOORS = {
    "listeners": OPEN,
    "advertised.listeners": OPEN,
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,OUTSIDE:PLAINTEXT",
    "max.connections": "5",
    "max.connections.per.ip": "5",
    "max.connections.per.ip.overrides": "127.0.0.1:5",
    "max.connection.creation.rate": "5",
}


@pytest.fixture(autouse=True)
def _seen(cluster, collect):
    collect()


def value_of(cluster, name: str) -> str | None:
    return next(setting.value for setting in cluster.brokers.settings()[1] if setting.name == name)


@pytest.mark.parametrize("name", DOORS)
def test_an_operator_does_not_open_one(name, operator, client_of, cluster):
    before, form = value_of(cluster, name), {"setting": name, "value": DOORS[name], "scope": ""}
    shown = client_of(operator).get(PAGE, form)
    assert "needs the role admin" in shown.context["plan"].obstacle
    confirmed = form | {"digest": digest_in(shown), "typed_name": "1"}
    assert client_of(operator).post(CHANGE, confirmed).status_code == 403
    assert value_of(cluster, name) == before


@pytest.mark.parametrize("name", DOORS)
def test_an_administrator_types_the_name_below_what_is_lost(name, administrator, client_of, cluster):
    client, form = client_of(administrator), {"setting": name, "value": DOORS[name], "scope": ""}
    shown = client.get(PAGE, form)
    assert shown.context["plan"].losses
    confirmed = form | {"digest": digest_in(shown)}
    assert client.post(CHANGE, confirmed).status_code == 422
    assert client.post(CHANGE, confirmed | {"typed_name": "1"}).status_code == 302
    assert value_of(cluster, name) == DOORS[name]


def test_nor_does_an_operators_program(operator, cluster):
    _, secret = make_token(operator, "t", list(SCOPES), 1, timezone.now())
    program = Client(headers={"Authorization": f"Bearer {secret}"})
    parameters = {"broker_id": "1", "setting": "listeners", "value": OPEN}
    body = {"action": "change-broker", "parameters": parameters}
    plan = program.post("/api/v1/plans", body, content_type="application/json").json()
    assert "needs the role admin" in plan["obstacle"]
    applied = {**plan["apply"], "digest": plan["digest"], "typed_name": "1"}
    assert program.post("/api/v1/plans/apply", applied, content_type="application/json").status_code == 403


@pytest.mark.parametrize(
    "text", ["OUTSIDE:PLAINTEXT", "OUTSIDE: PLAINTEXT", " outside : plaintext , A:SSL", "OUTSIDE\t:\tPLAINTEXT"]
)
def test_blanks_around_the_protocol_of_a_listener_hide_nothing(text):
    """As Kafka reads it: both sides of the colon are stripped."""
    assert parse_protocols(text)["OUTSIDE"] == "PLAINTEXT"
    assert "asks its clients for no login" in losses_of("listener.security.protocol.map", text, {})[0]


def test_what_is_lost_is_said_of_each_listener():
    losses = losses_of("listeners", f"{OPEN},SASL_SSL://[::1]:9,S://:9", {"OUTSIDE": "PLAINTEXT", "S": "SASL_SSL"})
    assert losses[:4] == (
        "PLAINTEXT://127.0.0.1:9092 asks its clients for no login and no encryption.",
        "OUTSIDE://0.0.0.0:24698 asks its clients for no login and no encryption.",
        "OUTSIDE://0.0.0.0:24698 is reached from other machines: it is not on 127.0.0.1.",
        "S://:9 is reached from other machines: it is not on 127.0.0.1.",
    )
    assert "cut off" in losses[4]


#: Keys that may change while brokers run and let nobody in or out.
INSIDE = (
    "barnabas.audit.",
    "compression.",
    "follower.",
    "leader.",
    "log.",
    "max.partitions",
    "message.",
    "min.",
    "num.",
)
INSIDE += ("background.threads", "producer.", "replica.", "transaction.", "unclean.")


def test_every_key_that_may_change_is_known_as_a_door_or_as_none():
    of_listener = {f"listener.name.outside.{item}" for item in OF_LISTENER}
    for name in {*CLUSTER_WIDE, *PER_BROKER, *OF_LISTENER, *of_listener}:
        assert opens_a_door(name) is not name.startswith(INSIDE), name


@pytest.mark.parametrize(
    "name",
    [
        *("listener.name.outside.ssl.client.auth", "listener.name.x.plain.sasl.jaas.config", "super.users"),
        *("authorizer.class.name", "principal.builder.class", "sasl.enabled.mechanisms", "inter.broker.listener.name"),
        *("connections.max.reauth.ms", "metric.reporters", "remote.log.storage.manager.class.name"),
    ],
)
def test_keys_of_another_kafka_are_known_by_their_names(name):
    assert opens_a_door(name)
    assert losses_of(name, "x", {})
