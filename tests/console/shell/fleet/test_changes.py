"""A change that waits in another cluster than the first: its row lies there, the account that proposed it here."""

import re

import pytest

from console.kit.common.current_cluster import in_cluster
from console.shell.changes.models import ChangeRule, ProposedChange
from tests.console.shell.fleet.conftest import ALIAS, STAGING

pytestmark = pytest.mark.django_db(databases=["default", ALIAS])
ADDRESS = "/c/staging/topics/orders/+delete/"


@pytest.fixture
def proposed(cluster, staging, look_at_both, operator, client_of) -> str:
    """The address of a deletion that waits in staging."""
    staging.create_topic("orders", 1, 1)
    look_at_both()
    with in_cluster(STAGING):
        rule = {"kind": "approval", "actions": ["*"], "objects": ["*"]}
        ChangeRule.objects.create(name="prod", definition=rule, actor_name="root")
    client = client_of(operator)
    digest = re.search(r'name="digest" value="(\w+)"', client.get(ADDRESS).text)[1]
    return client.post(ADDRESS, {"digest": digest, "typed_name": "orders"}).url


def test_it_is_proposed_there_and_made_when_somebody_approves(proposed, staging, administrator, client_of):
    assert not ProposedChange.objects.exists()
    client = client_of(administrator)
    digest = re.search(r'name="digest" value="(\w+)"', client.get(proposed).text)[1]
    client.post(f"{proposed}+approve/", {"digest": digest, "typed_name": "orders"})
    with in_cluster(STAGING):
        assert ProposedChange.objects.get().state == "done"
    assert staging.describe_topics() == []


def test_who_proposed_it_and_is_gone_has_nothing_made(proposed, operator, administrator, client_of):
    operator.delete()
    page = client_of(administrator).get(proposed)
    assert page.status_code == 200
    assert 'name="digest"' not in page.text
