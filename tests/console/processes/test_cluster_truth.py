"""What the cluster says of a process, from what the collector last wrote down."""

import pytest

from console.kit.common.clock import now_ms
from console.kit.common.names import DEFAULT_CLUSTER
from console.processes import step
from console.processes.cluster_look import cluster_look
from console.processes.kinds import broker, connect, zookeeper
from console.processes.models import ManagedProcess
from console.processes.states import Observed
from console.processes.truths import FRESH_MS, BrokerPresence, ClusterLook, ProcessState, RegistrationState
from console.state.clusters.models import Broker, ClusterState

NOW = 1_000_000
SERVES = {"address": "127.0.0.1:2181", "mode": "leader", "error": ""}
SILENT = {"address": "127.0.0.1:2182", "mode": "", "error": "has no quorum"}


def look(**given) -> ClusterLook:
    usual = {"now_ms": NOW, "brokers_at_ms": NOW, "partitions_at_ms": NOW, "zookeeper_at_ms": NOW}
    return ClusterLook(**(usual | {"controller_id": 2, "zookeeper": [SERVES, SILENT]} | given))


def process(**fields) -> ManagedProcess:
    return ManagedProcess(**({"ports": [2181], "spec": {"broker_id": 1}} | fields))


@pytest.mark.parametrize(
    ("given", "registration", "sentence"),
    [
        (
            {"brokers": {1: BrokerPresence(True, 12, 9)}},
            RegistrationState.PRESENT,
            "it is registered in ZooKeeper; 9 of 12",
        ),
        ({"brokers": {1: BrokerPresence(True, 0, 0)}}, RegistrationState.PRESENT, "no partition yet"),
        (
            {"brokers": {1: BrokerPresence(True, 1, 1)}, "controller_id": 1},
            RegistrationState.PRESENT,
            "and is controller",
        ),
        ({"brokers": {1: BrokerPresence(False, 1, 0)}}, RegistrationState.ABSENT, "it is not registered in ZooKeeper"),
        ({}, RegistrationState.ABSENT, "it is not registered in ZooKeeper"),
        ({"brokers_error": "No broker answered."}, RegistrationState.UNKNOWN, "No broker answered."),
        ({"brokers_at_ms": NOW - FRESH_MS - 1}, RegistrationState.UNKNOWN, "the collector has not looked of late"),
    ],
)
def test_broker_is_what_the_collector_saw_of_it(given, registration, sentence):
    truth = broker.cluster_truth(process(), look(**given))
    assert truth.registration is registration
    assert sentence in truth.sentence


@pytest.mark.parametrize(
    ("port", "given", "registration", "sentence"),
    [
        (2181, {}, RegistrationState.PRESENT, "it serves as leader of 2 servers"),
        (2181, {"zookeeper": [SERVES]}, RegistrationState.PRESENT, "it serves as leader"),
        (2182, {}, RegistrationState.ABSENT, "it has no quorum"),
        (2183, {}, RegistrationState.UNKNOWN, "the collector has not asked this server of late"),
        (2181, {"zookeeper_at_ms": 0}, RegistrationState.UNKNOWN, "the collector has not asked this server of late"),
    ],
)
def test_server_is_what_it_told_the_collector(port, given, registration, sentence):
    truth = zookeeper.cluster_truth(process(ports=[port]), look(**given))
    assert (truth.registration, truth.sentence) == (registration, sentence)


def test_client_is_on_no_list_of_the_cluster():
    assert connect.cluster_truth(process(), look()).registration is RegistrationState.NONE


def test_step_writes_the_state_that_follows_from_what_the_collector_wrote(make_process, settings):
    row = make_process(kind="broker", name="broker-4", spec={"broker_id": 4})
    ManagedProcess.objects.filter(pk=row.pk).update(request="start", desired="running")
    Broker.objects.create(broker_id=4, replica_count=5, out_of_sync_count=2)
    seen = ClusterState.objects.create(name=DEFAULT_CLUSTER)
    assert step.settle("broker-4", 10).observed == Observed.RUNNING
    for partitions_at_ms, state in ((0, ProcessState.REGISTERED), (now_ms() + 1_000, ProcessState.CATCHING_UP)):
        seen.brokers_at_ms, seen.topics_at_ms = now_ms(), partitions_at_ms
        seen.save()
        stepped = step.step("broker-4", cluster_look())
        assert stepped.state == state
    assert stepped.state_sentence == "3 of 5 partitions in sync"
    assert stepped.cluster_says.startswith("it is registered in ZooKeeper")
    Broker.objects.all().delete()
    seen.brokers_at_ms = now_ms() + 10_000
    seen.save()
    assert step.step("broker-4", cluster_look()).state == ProcessState.UNREGISTERED
