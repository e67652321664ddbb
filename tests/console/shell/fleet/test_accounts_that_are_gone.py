"""Accounts lie in one database, what was done in their name in each cluster's: one that is gone is nobody there."""

import json

import pytest
from django.apps import apps
from django.conf import settings
from django.contrib.auth.models import User

from console.automation.staged_moves.advance import advance
from console.automation.staged_moves.models import StagedMove
from console.kit.common.account_key import AccountKey
from console.kit.common.current_cluster import in_cluster
from console.shell.changes.models import ProposedChange
from tests.console.confirming import digest_in
from tests.console.shell.fleet.conftest import ALIAS, STAGING
from tests.console.shell.fleet.test_changes import proposed as proposed  # a fixture
from tests.fakes.gateway import FakeGateway

pytestmark = pytest.mark.django_db(databases=["default", ALIAS])
ADDRESS = "/c/staging/placement/+staged/"


def test_every_row_of_a_cluster_names_accounts_so():
    models = [model for model in apps.get_models() if model._meta.app_label in settings.APPS_OF_CLUSTER]
    named = [field for model in models for field in model._meta.get_fields() if field.related_model is User]
    assert len(named) > 5
    assert [str(item) for item in named if not isinstance(item, AccountKey)] == []


def test_a_change_that_somebody_proposed_who_is_gone_is_nobodys(proposed, operator):
    operator.delete()
    with in_cluster(STAGING):
        assert ProposedChange.objects.get().actor is None


def test_a_move_of_somebody_who_is_gone_pauses_until_who_may_goes_on_with_it(
    settings, staging, clock, look_at_both, operator, administrator, client_of
):
    brokers = settings.CLUSTERS[STAGING].values["CLUSTER_GATEWAY"] = FakeGateway(3, clock_ms=clock.now_ms)
    look_at_both.staging.gateway = brokers
    brokers.create_topic("orders", 1, 1)
    look_at_both()
    (has,) = brokers.moves.assignments(["orders"]).values()
    sent = {"moves": json.dumps({"orders": {"0": [has[0] % 3 + 1]}}), "kind": "", "size": "2"}
    with in_cluster(STAGING):
        digest = digest_in(client_of(operator).post(ADDRESS, sent))
    assert client_of(operator).post(ADDRESS, sent | {"digest": digest}).status_code == 302
    operator.delete()
    with in_cluster(STAGING):
        advance(StagedMove.objects.get())
        move = StagedMove.objects.get()
        assert (move.state, move.sentence.split(".")[0]) == (
            "paused",
            "Paused: operator may not move these partitions any more",
        )
    client_of(administrator).post(f"{ADDRESS}{move.pk}/resume")
    with in_cluster(STAGING):
        advance(StagedMove.objects.get())
        assert list(brokers.moves.under_way()) == [("orders", 0)]
