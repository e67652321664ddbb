"""`kafka-acls` on rules of its own and of other clients, through brokers and in ZooKeeper."""

import json

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)
from kafka import admin as kafka_python

from tests.barnabas_cluster import await_true
from tests.typed import typed, typed_in_shell


@pytest.fixture
def acls(cluster):
    """`kafka-acls` on the cluster."""
    return lambda *words: typed("kafka-acls", "--bootstrap-server", cluster.bootstrap_servers, *words)


@pytest.fixture
def in_zookeeper(cluster):
    """`kafka-acls` as before it could ask brokers."""
    connect = f"zookeeper.connect={cluster.zookeeper.connect}"
    return lambda *words: typed("kafka-acls", "--authorizer-properties", connect, *words)


@pytest.fixture
def each_broker(cluster):
    """`kafka-acls --list` of each broker: each knows of a change soon."""
    servers = cluster.bootstrap_servers.split(",")
    return lambda *words: [
        typed("kafka-acls", "--bootstrap-server", server, "--list", *words).out for server in servers
    ]


def current(name, *entries, kind="TOPIC", pattern="LITERAL"):
    head = f"Current ACLs for resource `ResourcePattern(resourceType={kind}, name={name}, patternType={pattern})`: \n "
    return head + "\n".join(f"\t{item}" for item in entries) + " \n\n"


def entry(principal, operation, permission="ALLOW", host="*"):
    return f"(principal={principal}, host={host}, operation={operation}, permissionType={permission})"


def test_rules_are_added_told_and_taken_away(acls, each_broker, name):
    added = acls(
        "--add", "--allow-principal", "User:alice", "--allow-host", "::1", "--operation", "Read", "--topic", name
    )
    alice = entry("User:alice", "READ", host="0:0:0:0:0:0:0:1")
    assert added.status == 0
    assert added.out.startswith(
        f"Adding ACLs for resource `ResourcePattern(resourceType=TOPIC, name={name}, patternType=LITERAL)`: \n "
        f"\t{alice} \n\n"
    )
    await_true(lambda: each_broker("--topic", name) == [current(name, alice)] * 3, "told by every broker")
    acls("--add", "--deny-principal", "User:bob", "--operation", "DescribeConfigs", "--topic", name)
    bob = entry("User:bob", "DESCRIBE_CONFIGS", "DENY")
    await_true(lambda: each_broker("--topic", name) == [current(name, alice, bob)] * 3, "both")
    of_bob = f"ACLs for principal `User:bob`\n{current(name, bob)}"
    assert acls("--list", "--topic", name, "--principal", "User:bob").out == of_bob
    (listed,) = json.loads(acls("--list", "--topic", name, "--output", "json").out)
    assert listed["acls"][1] == {
        "principal": "User:bob",
        "host": "*",
        "operation": "DESCRIBE_CONFIGS",
        "permissionType": "DENY",
    }
    acls("--remove", "--deny-principal", "User:bob", "--operation", "DescribeConfigs", "--topic", name, "--force")
    await_true(lambda: each_broker("--topic", name) == [current(name, alice)] * 3, "one of them gone")
    acls("--remove", "--topic", name, "--force")
    await_true(lambda: each_broker("--topic", name) == [""] * 3, "all gone")


def test_taking_away_is_asked_about(cluster, acls, name):
    acls("--add", "--allow-principal", "User:a", "--topic", name)
    words = ("kafka-acls", "--bootstrap-server", cluster.bootstrap_servers.split(",")[0], "--remove", "--topic", name)
    question = (
        "Are you sure you want to delete all ACLs for resource filter "
        f"`ResourcePatternFilter(resourceType=TOPIC, name={name}, patternType=LITERAL)`? (y/n)\n"
    )
    await_true(lambda: "User:a" in typed(*words[:3], "--list", "--topic", name).out, "heard of")
    kept = typed_in_shell(*words, stdin="n\n")
    assert kept.out == question + current(name, entry("User:a", "ALL"))
    assert typed_in_shell(*words, stdin="y\n").out == question


def test_producers_and_consumers_get_what_they_need(acls, name):
    both = ("--producer", "--consumer", "--topic", name, "--group", name, "--transactional-id", name, "--idempotent")
    added = acls("--add", "--allow-principal", "User:a", *both, "--output", "json")
    assert added.status == 0, added
    document = json.loads(acls("--list", "--principal", "User:a", "--output", "json").out)
    granted = {
        item["resourceType"]: {acl["operation"] for acl in item["acls"]}
        for item in document
        if item["name"] in (name, "kafka-cluster")
    }
    assert granted == {
        "TOPIC": {"READ", "WRITE", "DESCRIBE", "CREATE"},
        "GROUP": {"READ"},
        "TRANSACTIONAL_ID": {"WRITE", "DESCRIBE"},
        "CLUSTER": {"IDEMPOTENT_WRITE"},
    }
    assert acls("--remove", "--allow-principal", "User:a", *both, "--force").status == 0


def test_what_other_clients_wrote_is_told_and_they_read_what_we_write(cluster, acls, each_broker, name):
    confluent = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    binding = AclBinding(
        ResourceType.TOPIC,
        name,
        ResourcePatternType.PREFIXED,
        "User:CN=ü,O=x",
        "*",
        AclOperation.WRITE,
        AclPermissionType.ALLOW,
    )
    confluent.create_acls([binding])[binding].result(10)
    python = kafka_python.KafkaAdminClient(bootstrap_servers=cluster.bootstrap_servers)
    by_python = kafka_python.ACL(
        "User:p",
        "10.0.0.1",
        kafka_python.ACLOperation.ALTER,
        kafka_python.ACLPermissionType.DENY,
        kafka_python.ResourcePattern(kafka_python.ResourceType.TOPIC, name),
    )
    assert python.create_acls([by_python])["failed"] == []
    described = [
        current(name, entry("User:p", "ALTER", "DENY", "10.0.0.1"))
        + current(name, entry("User:CN=ü,O=x", "WRITE"), pattern="PREFIXED")
    ] * 3
    wanted = ("--topic", f"{name}-1", "--resource-pattern-type", "match")
    await_true(lambda: all("User:CN=ü,O=x" in item for item in each_broker(*wanted)), "the prefix")
    await_true(lambda: each_broker("--topic", name, "--resource-pattern-type", "any") == described, "both")
    acls("--add", "--allow-principal", "User:ours", "--group", name)
    ours = AclBindingFilter(
        ResourceType.GROUP,
        name,
        ResourcePatternType.MATCH,
        None,
        None,
        AclOperation.ANY,
        AclPermissionType.ANY,
    )
    await_true(lambda: [acl.principal for acl in confluent.describe_acls(ours).result(10)] == ["User:ours"], "ours")
    (gone,) = confluent.delete_acls([ours])[ours].result(10)
    assert (gone.principal, gone.operation) == ("User:ours", AclOperation.ALL)
    everything = kafka_python.ResourcePatternFilter(
        kafka_python.ResourceType.TOPIC, name, kafka_python.ACLResourcePatternType.ANY
    )
    any_of = kafka_python.ACLFilter(
        None, None, kafka_python.ACLOperation.ANY, kafka_python.ACLPermissionType.ANY, everything
    )
    ((_, deleted, _),) = python.delete_acls([any_of])
    assert {rule.principal for rule in deleted} == {"User:p", "User:CN=ü,O=x"}
    python.close()


def test_rules_written_in_zookeeper_are_heard_of_by_every_broker(in_zookeeper, each_broker, name):
    added = in_zookeeper("--add", "--allow-principal", "User:z", "--topic", name, "--resource-pattern-type", "prefixed")
    assert added.status == 0
    assert added.err.startswith("Warning: support for ACL configuration directly through the authorizer is deprecated")
    rule = current(name, entry("User:z", "ALL"), pattern="PREFIXED")
    assert added.out.endswith(rule)
    wanted = ("--topic", name, "--resource-pattern-type", "prefixed")
    await_true(lambda: each_broker(*wanted) == [rule] * 3, "heard of")
    assert in_zookeeper("--remove", "--force", *wanted).out == ""
    await_true(lambda: each_broker(*wanted) == [""] * 3, "gone")
    refused = in_zookeeper("--add", "--allow-principal", "User:z", "--topic", "a/b")
    assert (refused.status, "contains '/'" in refused.err) == (1, True)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ("--add", "--topic", "t"),
            "You must specify one of: --allow-principal, --deny-principal when trying to add ACLs.",
        ),
        (("--add", "--allow-principal", "User:a"), "You must provide at least one resource: --topic <topic> or "),
        (("--remove",), "You must provide at least one resource: --topic <topic> or "),
        (
            ("--add", "--allow-principal", "alice", "--topic", "t"),
            "in format principalType:principalName but got alice",
        ),
        (
            ("--add", "--allow-principal", "User:a", "--group", "g", "--operation", "Write"),
            "ResourceType GROUP only supports operations READ,DELETE,DESCRIBE,DESCRIBE_CONFIGS,ALTER_CONFIGS,ALL",
        ),
        (
            ("--add", "--allow-principal", "User:a", "--topic", "t", "--resource-pattern-type", "match"),
            "A '--resource-pattern-type' value of 'MATCH' is not valid when adding acls.",
        ),
        (("--list", "--producer"), 'Option "[list]" can\'t be used with option "[producer]"'),
        (("--remove", "--topic", "t", "--principal", "User:a"), "only available if --list is set"),
        (
            ("--add", "--allow-principal", "User:a", "--producer", "--group", "g"),
            "With --producer you must specify a --topic",
        ),
        (
            ("--add", "--allow-principal", "User:a", "--consumer", "--topic", "t"),
            "With --consumer you must specify a --topic and",
        ),
        (
            ("--add", "--allow-principal", "User:a", "--topic", "t", "--idempotent"),
            "only available if --producer is set",
        ),
        (("--list", "--zookeeper", "h:1"), "Only one of --bootstrap-server or --authorizer must be specified"),
    ],
)
def test_what_cannot_be_meant_is_told_in_a_sentence(words, sentence):
    outcome = typed("kafka-acls", "--bootstrap-server", "localhost:1", *words)
    assert (outcome.status, outcome.out) == (1, "")
    assert sentence in outcome.err


def test_exactly_one_action_is_wanted():
    assert typed("kafka-acls", "--bootstrap-server", "localhost:1", "--add", "--list").status == 1


def test_who_is_refused_hears_it_on_stdout(acls, name):
    refused = acls("--add", "--allow-principal", "User:a", "--topic", f"{name}/x")
    assert refused.status == 1
    assert refused.out.splitlines()[-1] == (
        "Error while executing ACL command: org.apache.kafka.common.errors.InvalidRequestException: "
        f"ResourcePattern name contains '/': {name}/x"
    )
