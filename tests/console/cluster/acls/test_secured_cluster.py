"""The pages on brokers that want a login and decide by rules: what a plan says is what a client then meets."""

import pytest

from console.kit.gateway.acls.interface import AclRule
from console.kit.gateway.cluster import KafkaGateway
from console.kit.gateway.errors import RefusedError
from tests.barnabas_cluster import running_cluster
from tests.conformance.gateway.real import kafka_gateway
from tests.conformance.gateway.test_gateway import eventually
from tests.console.cluster.acls.rules import CONSOLE, on_cluster
from tests.console.confirming import digest_in
from tests.secure_broker import written

pytestmark = pytest.mark.timeout(240)
_PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
_SECURED = {
    "listeners": "SASL_PLAINTEXT://127.0.0.1:{port}",
    "security.inter.broker.protocol": "SASL_PLAINTEXT",
    "sasl.enabled.mechanisms": "PLAIN",
    "listener.name.sasl_plaintext.plain.sasl.jaas.config": (
        f'{_PLAIN} user_root="sesame" user_console="sesame" user_alice="sesame";'
    ),
    "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
    "super.users": "User:root",
}


@pytest.fixture(scope="module")
def secured(tmp_path_factory):
    with running_cluster(tmp_path_factory.mktemp("acls"), overrides=_SECURED) as running:
        yield running


@pytest.fixture
def gateway_of(secured, tmp_path):
    """gateway_of("alice")"""
    made = []

    def make(user: str) -> KafkaGateway:
        login = "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
        file = written(tmp_path / f"{user}.properties", f"{login}sasl.username={user}\nsasl.password=sesame\n")
        made.append(kafka_gateway(secured, file))
        return made[-1]

    yield make
    for item in made:
        item.close()


def test_a_plan_on_a_secured_cluster_is_what_a_client_meets_until_it_is_undone(
    gateway_of, settings, administrator, client_of
):
    root, alice = gateway_of("root"), gateway_of("alice")
    root.create_topic("orders", 1, 1)
    page = client_of(administrator)
    settings.CLUSTER_GATEWAY = gateway_of("console")
    refused = page.get("/access-lists/")
    assert refused.status_code == 503
    assert "To look at access lists needs Describe, to change them Alter." in refused.context["error"]

    root.acls.create([on_cluster(CONSOLE, "ALL")])
    view = eventually(settings.CLUSTER_GATEWAY.acls.look, lambda view: view.rules)
    assert (view.own_principal, view.super_users, view.allows_if_none) == (CONSOLE, {"User:root"}, False)
    query = "permission=ALLOW&principal=User:alice&resource=TOPIC&pattern=PREFIXED&name=or&operations=DESCRIBE_CONFIGS"
    with pytest.raises(RefusedError):
        alice.topic_settings("orders")
    denials = page.get("/access-lists/denials/").context["denials"]
    assert {"User:alice", CONSOLE} <= {rule.principal for rule in denials}
    last = next(rule for rule in denials if rule.principal == "User:alice")
    assert (last.last_operation, last.last_name) == ("DESCRIBE_CONFIGS", "orders")
    assert not [item for item in denials if item.last_name == "+"], "no denial is the console's own looking for brokers"

    confirm(page, f"/access-lists/+create/?{query}", ["User:alice gains DescribeConfigs on Topic or…"])
    rule = AclRule("TOPIC", "or", "PREFIXED", "User:alice", "ALLOW", "DESCRIBE_CONFIGS")
    assert rule in root.acls.look().rules
    assert alice.topic_settings("orders")

    undo = page.get("/access-lists/rules/").context["kept"][0].pk
    confirm(page, f"/access-lists/+change/?undo={undo}", ["User:alice loses DescribeConfigs on Topic or…"])
    assert rule not in root.acls.look().rules
    with pytest.raises(RefusedError):
        alice.topic_settings("orders")


def confirm(page, address: str, effects: list[str]) -> None:
    shown = page.get(address)
    assert [str(effect) for effect in shown.context["effects"]] == effects
    form = {"digest": digest_in(shown), **dict(shown.context["fields"])}
    assert page.post("/access-lists/+change/", form).status_code == 302
