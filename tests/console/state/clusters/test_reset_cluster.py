"""A name that another cluster gets: what was of the old one is gone, and what is this host's or the people's stays."""

import pytest
from django.core.management import CommandError, call_command

from console.automation.staged_moves.models import StagedMove
from console.kit.audit.models import AuditEvent
from console.kit.common.reloading import is_asked_to_reload
from console.kit.gateway.connection.identity import remembered
from console.shell.changes.models import ChangeRule
from console.state.clusters.models import Broker, Topic


@pytest.fixture
def _old(cluster, collect, settings, tmp_path):
    settings.RUN_DIR = tmp_path
    cluster.create_topic("orders", 3, 1)
    collect()
    StagedMove.objects.create(former={}, wanted={}, partition_count=0, left=0, batch_size=1)
    ChangeRule.objects.create(name="nights")


@pytest.mark.usefixtures("_old")
def test_started_afresh_nothing_of_the_old_cluster_is_left_and_the_new_one_is_looked_at():
    assert remembered() == "fake-cluster"
    call_command("start_afresh", "main", yes=True)
    assert remembered() == ""
    assert not Topic.objects.exists()
    assert not Broker.objects.exists()
    assert not StagedMove.objects.exists()
    assert list(ChangeRule.objects.values_list("name", flat=True)) == ["nights"]
    event = AuditEvent.objects.get(action="start afresh")
    assert (event.object_name, event.before) == ("main", {"cluster_id": "fake-cluster"})


@pytest.mark.usefixtures("_old")
def test_the_consoles_processes_are_started_again_afterwards(settings):
    call_command("start_afresh", "main", yes=True)
    assert is_asked_to_reload(settings.RUN_DIR)


@pytest.mark.usefixtures("_old")
@pytest.mark.parametrize(("name", "says"), [("main", "Deleted is all .* of fake-cluster as main"), ("else", "no clus")])
def test_without_a_yes_or_a_cluster_nothing_is_deleted(name, says):
    with pytest.raises(CommandError, match=says):
        call_command("start_afresh", name, yes=name == "else")
    assert Topic.objects.exists()
