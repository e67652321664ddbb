"""Access rules in ZooKeeper, to the byte as Kafka's AclAuthorizer has them."""

import pytest

from broker.security.acls.model import AclEntry, Pattern, PatternType, Permission
from broker.security.operations import AclOperation, ResourceType
from broker.zookeeper import acl_znodes
from broker.zookeeper.acl_znodes import acl_path, decode_acls, decode_change, encode_acls, encode_change
from broker.zookeeper.errors import MalformedZnode, OperationRefused

ENTRY = AclEntry("User:alice", "*", AclOperation.READ, Permission.ALLOW)
OTHER = AclEntry("User:CN=b,O=ü", "0:0:0:0:0:0:0:1", AclOperation.DESCRIBE_CONFIGS, Permission.DENY)
PREFIX = Pattern(ResourceType.TRANSACTIONAL_ID, "pre", PatternType.PREFIXED)


def test_rules_are_written_as_kafka_writes_them():
    assert encode_acls([ENTRY]) == (
        b'{"version":1,"acls":[{"principal":"User:alice","permissionType":"Allow","operation":"Read","host":"*"}]}'
    )
    assert decode_acls("/x", encode_acls([ENTRY, OTHER])) == (ENTRY, OTHER)
    assert '"principal":"User:CN=b,O=ü","permissionType":"Deny","operation":"DescribeConfigs"' in (
        encode_acls([OTHER]).decode()
    )


def test_names_are_read_in_any_letters_and_hosts_in_any_form():
    rule = b'{"host":"::1","principal":"User:a","operation":"DESCRIBE_CONFIGS","permissionType":"DENY"}'
    text = b'{"version":1,"acls":[' + rule + b"]}"
    assert decode_acls("/x", text) == (OTHER._replace(principal="User:a"),)
    assert decode_acls("/x", b"") == ()


@pytest.mark.parametrize(
    "data",
    [
        b"no",
        b"[]",
        b"{}",
        b'{"version":2,"acls":[]}',
        b'{"version":1}',
        b'{"version":1,"acls":[{}]}',
        b'{"version":1,"acls":[{"host":"*","principal":"User:a","operation":"Fly","permissionType":"Allow"}]}',
        b'{"version":1,"acls":[{"host":"*","principal":null,"operation":"Read","permissionType":"Allow"}]}',
        b'{"version":1,"acls":[{"host":"*","principal":"User:a","operation":7,"permissionType":"Allow"}]}',
    ],
)
def test_what_cannot_be_read_is_no_rule_and_said_so(data):
    with pytest.raises(MalformedZnode):
        decode_acls("/x", data)


@pytest.mark.parametrize(
    ("pattern", "path", "change_path", "change"),
    [
        (Pattern(ResourceType.TOPIC, "t"), "/kafka-acl/Topic/t", "/kafka-acl-changes/acl_changes_", b"TOPIC:t"),
        (Pattern(ResourceType.GROUP, "*"), "/kafka-acl/Group/*", "/kafka-acl-changes/acl_changes_", b"GROUP:*"),
        (
            PREFIX,
            "/kafka-acl-extended/prefixed/TransactionalId/pre",
            "/kafka-acl-extended-changes/acl_changes_",
            b'{"version":1,"resourceType":"TRANSACTIONAL_ID","name":"pre","patternType":"PREFIXED"}',
        ),
    ],
)
def test_patterns_have_their_znodes_and_notices(pattern, path, change_path, change):
    assert acl_path(pattern) == path
    assert acl_znodes.change_prefix(pattern) == change_path
    assert encode_change(pattern) == change
    assert decode_change(f"{change_path}0000000001", change) == pattern


def test_a_notice_names_a_resource_that_has_colons():
    assert decode_change("/kafka-acl-changes/acl_changes_1", b"Topic:a:b") == Pattern(ResourceType.TOPIC, "a:b")


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("/kafka-acl-changes/acl_changes_1", b"TOPIC"),
        ("/kafka-acl-changes/acl_changes_1", b"TROPIC:t"),
        ("/kafka-acl-changes/acl_changes_1", b"\xff:t"),
        ("/kafka-acl-extended-changes/acl_changes_1", b"TOPIC:t"),
        (
            "/kafka-acl-extended-changes/acl_changes_1",
            b'{"version":2,"resourceType":"TOPIC","name":"a","patternType":"PREFIXED"}',
        ),
        (
            "/kafka-acl-extended-changes/acl_changes_1",
            b'{"version":1,"resourceType":"TOPIC","name":"a","patternType":"MATCH"}',
        ),
    ],
)
def test_a_notice_that_cannot_be_read_is_said_so(path, data):
    with pytest.raises(MalformedZnode):
        decode_change(path, data)


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\0"])
def test_no_name_leads_out_of_its_place(name):
    with pytest.raises(OperationRefused):
        acl_path(Pattern(ResourceType.TOPIC, name))
