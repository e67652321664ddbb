"""Kafka's users and quotas, the same from the cluster in memory and from real brokers."""

import uuid

import pytest

from console.kit.gateway.errors import RefusedError
from console.kit.gateway.quotas.interface import QuotaEntity, entity_of


@pytest.fixture
def user() -> str:
    return f"alice {uuid.uuid4().hex[:8]}, of sales"


def users(gateway) -> dict:
    return dict(gateway.credentials.describe().users)


def test_a_user_has_the_mechanisms_that_were_set_until_they_are_deleted(gateway, user):
    gateway.credentials.set_password(user, "one", {"SCRAM-SHA-256": 4_096, "SCRAM-SHA-512": 8_192})
    assert users(gateway)[user] == {"SCRAM-SHA-256": 4_096, "SCRAM-SHA-512": 8_192}
    gateway.credentials.set_password(user, "two", {"SCRAM-SHA-256": 16_384})
    assert users(gateway)[user] == {"SCRAM-SHA-256": 16_384, "SCRAM-SHA-512": 8_192}
    gateway.credentials.delete(user, ["SCRAM-SHA-256"])
    assert users(gateway)[user] == {"SCRAM-SHA-512": 8_192}
    gateway.credentials.delete(user, ["SCRAM-SHA-512"])
    assert user not in users(gateway)


def test_what_is_not_there_is_not_deleted_and_nothing_beside_it(gateway, user):
    gateway.credentials.set_password(user, "one", {"SCRAM-SHA-256": 4_096})
    with pytest.raises(RefusedError) as refused:
        gateway.credentials.delete(user, ["SCRAM-SHA-256", "SCRAM-SHA-512"])
    assert refused.value.code == "RESOURCE_NOT_FOUND"
    assert users(gateway)[user] == {"SCRAM-SHA-256": 4_096}


@pytest.mark.parametrize(("name", "iterations"), [("bob", 4_095), ("bob", 16_385), ("", 4_096), ("__cluster", 4_096)])
def test_what_can_be_no_credential_is_refused(name, iterations, gateway):
    with pytest.raises(RefusedError) as refused:
        gateway.credentials.set_password(name, "one", {"SCRAM-SHA-256": iterations})
    assert refused.value.code == "UNACCEPTABLE_CREDENTIAL"
    assert name not in users(gateway)


def test_a_cluster_without_access_lists_counts_no_rules_and_the_console_is_nobody(gateway):
    assert gateway.credentials.describe().rule_counts is None
    assert gateway.credentials.own_user == ""


ENTITIES = [
    [("user", "{}")],
    [("client-id", "{}")],
    [("user", "{}"), ("client-id", "a/b, c%")],
    [("user", "{}"), ("client-id", None)],
    [("user", None), ("client-id", "{}")],
]


@pytest.mark.parametrize("parts", ENTITIES)
def test_quotas_of_an_entity_are_set_changed_and_removed_one_by_one(parts, gateway, user):
    entity = entity_of((kind, name and name.format(user)) for kind, name in parts)
    gateway.quotas.change(entity, {"producer_byte_rate": 1_000, "request_percentage": 12.5})
    assert gateway.quotas.describe()[entity] == {"producer_byte_rate": 1_000, "request_percentage": 12.5}
    gateway.quotas.change(entity, {"producer_byte_rate": None, "controller_mutation_rate": 0.5})
    assert gateway.quotas.describe()[entity] == {"request_percentage": 12.5, "controller_mutation_rate": 0.5}
    gateway.quotas.change(entity, {"request_percentage": None, "controller_mutation_rate": None})
    assert entity not in gateway.quotas.describe()


def test_an_address_has_a_rate_of_connections(gateway):
    entity = QuotaEntity(ip="10.1.2.3")
    gateway.quotas.change(entity, {"connection_creation_rate": 0})
    assert gateway.quotas.describe()[entity] == {"connection_creation_rate": 0}
    gateway.quotas.change(entity, {"connection_creation_rate": None})
    assert entity not in gateway.quotas.describe()


@pytest.mark.parametrize(
    ("entity", "changes"),
    [
        (QuotaEntity(user="carol"), {"producer_byte_rate": 0}),
        (QuotaEntity(user="carol"), {"producer_byte_rate": 1.5}),
        (QuotaEntity(user="carol"), {"connection_creation_rate": 1}),
        (QuotaEntity(ip="10.1.2.3"), {"producer_byte_rate": 1}),
        (QuotaEntity(user="carol"), {"speed": 1}),
    ],
)
def test_what_can_be_no_quota_is_refused_and_changes_nothing(entity, changes, gateway):
    with pytest.raises(RefusedError):
        gateway.quotas.change(entity, changes)
    assert entity not in gateway.quotas.describe()
