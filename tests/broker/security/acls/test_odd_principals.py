"""Users whose names look like something else: a rule about one of them is about nobody besides."""

import pytest

from broker.security.acls.decision import AccessRules
from broker.security.acls.model import AclEntry, Pattern, Permission
from broker.security.operations import AclOperation, ResourceType
from broker.zookeeper.acl_znodes import decode_acls, encode_acls

ODD = (
    "a,b",
    "a;b",
    "User:alice",
    "CN=a\\, b,O=c",
    "x" * 300,
    "jürgen",
    "ju\u0308rgen",
    "\u202ealice",
    "*x",
    "Alice",
    "alice ",
    "",
    '"}],"version":2',
    "\N{PILE OF POO}",
)
NEAR = ("alice", "a", "b", "jurgen", "x" * 299, "x", *ODD)


def may(entry: AclEntry, user: str) -> bool:
    rules = AccessRules({Pattern(ResourceType.TOPIC, "t"): (entry,)})
    return rules.allows(f"User:{user}", "10.0.0.1", AclOperation.READ, ResourceType.TOPIC, "t")


@pytest.mark.parametrize("user", ODD, ids=ascii)
def test_a_rule_about_an_odd_name_comes_back_from_its_znode_and_is_about_that_name_alone(user):
    entry = AclEntry(f"User:{user}", "*", AclOperation.READ, Permission.ALLOW)
    (kept,) = decode_acls("/kafka-acl/Topic/t", encode_acls([entry]))
    assert kept == entry
    assert [item for item in NEAR if may(kept, item)] == [user]


@pytest.mark.parametrize("principal", ["*", "user:*", "User: *", "User:**", "Group:*", "User:User:*"])
def test_only_one_spelling_means_everybody(principal):
    entry = AclEntry(principal, "*", AclOperation.READ, Permission.ALLOW)
    assert not any(may(entry, item) for item in NEAR if f"User:{item}" != principal)


def test_a_user_called_like_everybody_has_what_everybody_has():
    """As in Kafka: a right of that user cannot be told from one of all, so nothing may be given to the name alone."""
    assert may(AclEntry("User:*", "*", AclOperation.READ, Permission.ALLOW), "alice")
    assert not may(AclEntry("User:alice", "*", AclOperation.READ, Permission.ALLOW), "*")
