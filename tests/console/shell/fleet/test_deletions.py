"""Planned deletions are those of their cluster, and the beat carries out those of all."""

from datetime import timedelta

import pytest

from console.cluster.topics import schedule
from console.cluster.topics.models import PlannedDeletion
from console.cluster.topics.tasks import delete_what_is_due
from console.kit.common.current_cluster import in_cluster
from console.shell.changes.models import ChangeRule, ProposedChange
from tests.console.confirming import digest_in
from tests.console.shell.fleet.conftest import ALIAS, STAGING

pytestmark = pytest.mark.django_db(databases=["default", ALIAS])


def test_what_is_planned_in_one_cluster_is_deleted_there_alone(cluster, staging, look_at_both, operator, client_of):
    for item in (cluster, staging):
        item.create_topic("orders", 1, 1)
    look_at_both()
    browser, address = client_of(operator), "/c/staging/topics/orders/+delete/?when=later"
    with in_cluster(STAGING):
        digest = digest_in(browser.get(address))
    browser.post(address, {"when": "later", "digest": digest})
    assert not PlannedDeletion.objects.exists()
    assert "will be deleted at" in browser.get("/c/staging/topics/orders/").text
    assert "will be deleted at" not in browser.get("/topics/orders/").text
    assert not schedule.ONLY_IF["delete-what-is-due"]()
    with in_cluster(STAGING):
        row = PlannedDeletion.objects.get()
        assert row.actor == operator
        PlannedDeletion.objects.update(due_at=row.due_at - timedelta(hours=25))
    assert schedule.ONLY_IF["delete-what-is-due"]()
    delete_what_is_due()
    assert [topic.name for topic in staging.describe_topics()] == []
    assert [topic.name for topic in cluster.describe_topics()] == ["orders"]


def test_an_account_that_was_deleted_deletes_nothing_in_any_cluster(staging, look_at_both, operator, client_of):
    staging.create_topic("orders", 1, 1)
    look_at_both()
    browser, address = client_of(operator), "/c/staging/topics/orders/+delete/?when=later"
    with in_cluster(STAGING):
        digest = digest_in(browser.get(address))
    browser.post(address, {"when": "later", "digest": digest})
    operator.delete()
    with in_cluster(STAGING):
        PlannedDeletion.objects.update(due_at=PlannedDeletion.objects.get().due_at - timedelta(hours=25))
        delete_what_is_due()
        row = PlannedDeletion.objects.get()
    assert (row.state, "no account any more" in row.outcome) == ("kept", True)
    assert [topic.name for topic in staging.describe_topics()] == ["orders"]


def test_a_change_waits_in_the_cluster_it_is_of(staging, look_at_both, operator, client_of):
    staging.create_topic("orders", 1, 1)
    look_at_both()
    with in_cluster(STAGING):
        rule = {"kind": "approval", "actions": ["*"], "objects": ["*"]}
        ChangeRule.objects.create(name="two", definition=rule, actor_name="root")
        address = "/c/staging/topics/orders/+delete/"
        digest = digest_in(client_of(operator).get(address))
    client_of(operator).post(address, {"digest": digest, "typed_name": "orders"})
    assert not ProposedChange.objects.exists()
    with in_cluster(STAGING):
        assert ProposedChange.objects.get().actor == operator
