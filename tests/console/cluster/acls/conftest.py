"""A cluster in memory with an authorizer, whose console may alter access lists by a rule."""

import pytest

from tests.console.cluster.acls.rules import CONSOLE, on_cluster


@pytest.fixture
def acls(cluster):
    cluster.acls.has_authorizer = True
    cluster.acls.super_users = frozenset()
    cluster.acls.own_principal = CONSOLE
    cluster.acls.users = (CONSOLE, "User:alice", "User:bob")
    cluster.acls.create([on_cluster(CONSOLE, "ALL")])
    return cluster.acls
