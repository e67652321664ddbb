"""A person with exceptions, and a cluster with something this person must not see."""

import pytest
from django.contrib.auth.models import Group, User

from console.access.models import NameRule

HIDDEN = "secret-plans"


@pytest.fixture
def give_rule():
    """give_rule(user, "nothing", "topic", "secret-*")"""

    def give(user: User, level: str, resource: str, pattern: str) -> None:
        NameRule.objects.create(user=user, resource=resource, pattern=pattern, level=level)

    return give


@pytest.fixture
def limited(db, give_rule) -> User:
    """Operator on everything, but nothing on secret-*, of any kind."""
    user = User.objects.create_user("limited", password="correct-horse-battery")
    user.groups.add(Group.objects.get_or_create(name="operator")[0])
    for resource in ("topic", "group", "process"):
        give_rule(user, "nothing", resource, "secret-*")
    return user


@pytest.fixture
def limited_reader(db, give_rule) -> User:
    """Reads everything, but sees no topic secret-*, no group spies, and nothing else of that name."""
    user = User.objects.create_user("limited-reader", password="correct-horse-battery")
    user.groups.add(Group.objects.get_or_create(name="reader")[0])
    for resource in ("topic", "group", "process"):
        give_rule(user, "nothing", resource, "secret-*")
    give_rule(user, "nothing", "group", "spies")
    return user


@pytest.fixture
def keeper(db, give_rule) -> User:
    """No role; operates the processes broker-1 and zookeeper."""
    user = User.objects.create_user("keeper", password="correct-horse-battery")
    for name in ("broker-1", "zookeeper"):
        give_rule(user, "operator", "process", name)
    return user


@pytest.fixture
def tenant(db, give_rule) -> User:
    """No role; operates topics and groups orders*."""
    user = User.objects.create_user("tenant", password="correct-horse-battery")
    for resource in ("topic", "group"):
        give_rule(user, "operator", resource, "orders*")
    return user
