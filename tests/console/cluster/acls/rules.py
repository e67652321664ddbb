"""Rules in a few words."""

from console.kit.gateway.acls.interface import AclRule

CONSOLE = "User:console"


def allow(principal, operation, name="orders", resource="TOPIC", pattern="LITERAL", host="*"):
    return AclRule(resource, name, pattern, principal, "ALLOW", operation, host)


def deny(principal, operation, name="orders", resource="TOPIC", pattern="LITERAL", host="*"):
    return AclRule(resource, name, pattern, principal, "DENY", operation, host)


def on_cluster(principal, operation):
    return allow(principal, operation, "kafka-cluster", "CLUSTER")
