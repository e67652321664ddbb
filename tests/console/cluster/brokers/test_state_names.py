"""A broker's state is one word, the same on every page that shows it."""

import pytest

from console.cluster.brokers.state_names import with_state_names
from console.kit.common.clock import now_ms
from console.kit.common.names import DEFAULT_CLUSTER
from console.processes.models import ManagedProcess
from console.state.clusters.models import Broker, ClusterState

PAGES = ("/", "/brokers/", "/brokers/1/", "/placement/", "/processes/", "/processes/broker-1/")


@pytest.fixture
def broker(db, settings) -> ManagedProcess:
    """Broker 1, run by this console, out of sync in one of five partitions."""
    ClusterState.objects.create(name=DEFAULT_CLUSTER, topics_at_ms=now_ms(), brokers_at_ms=now_ms())
    Broker.objects.create(broker_id=1, replica_count=5, out_of_sync_count=1)
    running = {"observed": "running", "desired": "running", "pid": 1, "state": "catching up"}
    return ManagedProcess.objects.create(name="broker-1", kind="broker", host=settings.HOST_NAME, **running)


@pytest.mark.parametrize("state", ["catching up", "healthy", "flapping", "unresponsive"])
def test_every_page_says_the_same_word(state, broker, viewer, client_of):
    ManagedProcess.objects.update(state=state)
    client = client_of(viewer)
    for address in PAGES:
        page = client.get(address).content.decode()
        assert f">{state}</span>" in page, address
        assert ">registered</span>" not in page, address
        assert ">running</span>" not in page, address


def test_a_broker_that_left_is_called_what_its_process_is(broker, viewer, client_of):
    Broker.objects.update(is_registered=False)
    ManagedProcess.objects.update(state="stopped", observed="stopped", pid=None)
    for address in PAGES:
        assert ">stopped</span>" in client_of(viewer).get(address).content.decode(), address


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"replica_count": 5}, "healthy"),
        ({"replica_count": 5, "out_of_sync_count": 1}, "catching up"),
        ({"replica_count": 5, "copying_count": 5}, "catching up"),
        ({}, "registered"),
        ({"is_registered": False, "replica_count": 5}, "missing"),
    ],
)
def test_a_broker_that_is_not_ours_is_called_by_the_same_rules(fields, word, db):
    (broker,) = with_state_names([Broker.objects.create(broker_id=7, **fields)])
    assert broker.word == word


def test_a_word_that_is_out_of_date_is_not_repeated(broker):
    ManagedProcess.objects.update(state="healthy")
    (gone,) = with_state_names([Broker.objects.create(broker_id=2, is_registered=False), *()])
    assert (gone.word, gone.tone) == ("missing", "critical")
    Broker.objects.filter(broker_id=1).update(is_registered=False)
    assert with_state_names(Broker.objects.filter(broker_id=1))[0].word == "missing"
