"""Access lists, the same from the cluster in memory and from a real one with an authorizer."""

import uuid
from itertools import product

import pytest

from console.kit.gateway.acls.decisions import AclDecisions
from console.kit.gateway.acls.interface import NO_AUTHORIZER, OPERATIONS, AclRule, kafka_name
from console.kit.gateway.errors import RefusedError
from tests.barnabas_cluster import running_cluster
from tests.conformance.gateway.real import kafka_gateway
from tests.conformance.gateway.test_gateway import eventually
from tests.fakes.gateway import FakeGateway

ANONYMOUS = "User:ANONYMOUS"


@pytest.fixture(scope="module")
def guarded_brokers(zookeeper):
    overrides = {
        "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
        "super.users": f"{ANONYMOUS};User:CN=root,O=us",
    }
    with running_cluster(zookeeper=zookeeper, overrides=overrides) as cluster:
        yield cluster


@pytest.fixture(params=["fake", "real"])
def guarded(request):
    if request.param == "fake":
        gateway = FakeGateway()
        gateway.acls.has_authorizer = True
        gateway.acls.super_users = frozenset({ANONYMOUS, "User:CN=root,O=us"})
        yield gateway
        return
    gateway = kafka_gateway(request.getfixturevalue("guarded_brokers"))
    yield gateway
    gateway.close()


@pytest.fixture
def name():
    return f"acl-{uuid.uuid4().hex[:12]}"


def of(gateway, name: str) -> set[AclRule]:
    return {rule for rule in gateway.acls.look().rules if rule.name == name}


def test_without_an_authorizer_it_is_said_by_its_code(gateway):
    for ask in (
        gateway.acls.look,
        lambda: gateway.acls.create([AclRule("TOPIC", "t", "LITERAL", "User:a", "ALLOW", "READ")]),
    ):
        with pytest.raises(RefusedError) as refused:
            ask()
        assert refused.value.code == NO_AUTHORIZER


def test_it_is_told_what_decides_beside_the_rules(guarded):
    view = guarded.acls.look()
    assert view.super_users == {ANONYMOUS, "User:CN=root,O=us"}
    assert (view.allows_if_none, view.own_principal) == (False, ANONYMOUS)


def test_rules_of_every_kind_are_created_told_and_deleted(guarded, name):
    rules = {
        AclRule(resource, name, pattern, "User:CN=alice, O=a b", permission, operation, host)
        for resource, pattern, permission, host in product(
            sorted(OPERATIONS.keys() - {"CLUSTER"}), ("LITERAL", "PREFIXED"), ("ALLOW", "DENY"), ("*", "10.0.0.1")
        )
        for operation in (*OPERATIONS[resource], "ALL")
    }
    assert guarded.acls.create(rules) == {}
    assert guarded.acls.create(rules) == {}, "what is there already is no failure"
    assert of(guarded, name) == rules
    assert list(guarded.acls.look().rules) == sorted(guarded.acls.look().rules)
    some = {rule for rule in rules if rule.host == "*"}
    assert guarded.acls.delete(some) == {}
    assert guarded.acls.delete(some) == {}, "what is not there is no failure"
    assert of(guarded, name) == rules - some
    guarded.acls.delete(rules)
    assert of(guarded, name) == set()


def test_what_can_be_no_rule_is_refused_alone(guarded, name):
    good = AclRule("TOPIC", name, "LITERAL", "User:alice", "ALLOW", "READ")
    bad = AclRule("TOPIC", f"{name}/x", "LITERAL", "User:alice", "ALLOW", "READ")
    assert guarded.acls.create([good, bad]) == {bad: f"ResourcePattern name contains '/': {name}/x"}
    assert of(guarded, name) == {good}


def test_nobody_was_denied_anything_yet(guarded):
    assert guarded.acls.denials() == ()


def test_what_was_denied_is_told_and_the_try_out_says_what_the_broker_did(zookeeper, name):
    """The broker answers for a principal that can be had here: everybody is ANONYMOUS, and this time no super user."""
    overrides = {
        "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
        "super.users": "User:CONTROL",
        "allow.everyone.if.no.acl.found": "true",
    }
    with running_cluster(zookeeper=zookeeper, overrides=overrides) as cluster:
        gateway = kafka_gateway(cluster)
        gateway.create_topic(name, 1, 1)
        rules = [
            AclRule("TOPIC", name, "LITERAL", ANONYMOUS, "ALLOW", "READ"),
            AclRule("TOPIC", name, "LITERAL", ANONYMOUS, "DENY", "ALTER_CONFIGS"),
            AclRule("TOPIC", name[:5], "PREFIXED", "User:*", "ALLOW", "DESCRIBE_CONFIGS", "127.0.0.1"),
        ]
        assert gateway.acls.create(rules) == {}
        decisions = AclDecisions(gateway.acls.look()).of(ANONYMOUS, "127.0.0.1", "TOPIC", name)
        assert {item for item in decisions if decisions[item].is_allowed} == {"READ", "DESCRIBE", "DESCRIBE_CONFIGS"}
        assert decisions["DESCRIBE_CONFIGS"].rule == rules[2]
        assert eventually(lambda: gateway.topic_settings(name), bool)
        with pytest.raises(RefusedError):
            gateway.change_topic_settings(name, {"retention.ms": "1000"})
        (denied,) = eventually(gateway.acls.denials, bool)
        assert (denied.principal, denied.last_host, kafka_name(denied.last_operation)) == (
            ANONYMOUS,
            "127.0.0.1",
            "AlterConfigs",
        )
        assert (denied.last_resource, denied.last_name, decisions[denied.last_operation].rule) == (
            "TOPIC",
            name,
            rules[1],
        )
        gateway.close()
