"""A cluster of three brokers as the collector saw it, with the processes that run them."""

from datetime import timedelta

import pytest
from django.utils import timezone

from console.automation.rolling_restart.actions import do_begin
from console.automation.rolling_restart.models import RollingRestart
from console.automation.rolling_restart.queries import restart_plan
from console.kit.common.clock import now_ms
from console.kit.common.names import DEFAULT_CLUSTER
from console.processes import tasks
from console.processes.models import ManagedProcess
from console.state.clusters.models import Broker, ClusterState, Partition, Topic
from tests.console.confirming import confirmation_of


@pytest.fixture(autouse=True)
def _no_worker(monkeypatch):
    """The wish stands in the row; nobody carries it out but the test."""
    monkeypatch.setattr(tasks, "enqueue", lambda task, process: None)


class Cluster:
    """Three brokers, 1 the controller; one topic with three replicas, a minimum of two in sync."""

    def __init__(self):
        self.state = ClusterState.objects.create(
            name=DEFAULT_CLUSTER, controller_id=1, topics_at_ms=now_ms(), brokers_at_ms=now_ms()
        )
        for number in (1, 2, 3):
            Broker.objects.create(broker_id=number, leader_count=1)
            started_at = timezone.now() - timedelta(hours=1)
            running = {"observed": "running", "desired": "running", "pid": 100 + number, "started_at": started_at}
            ManagedProcess.objects.create(name=f"broker-{number}", kind="broker", position=number, **running)
        self.add_topic("orders", [1, 2, 3], 2)

    def add_topic(self, name: str, replicas: list[int], min_isr: int | None) -> Partition:
        topic = Topic.objects.create(
            name=name, partition_count=1, replication_factor=len(replicas), min_insync_replicas=min_isr
        )
        return Partition.objects.create(topic=topic, partition=0, leader=replicas[0], replicas=replicas, isr=replicas)

    def lose_replica(self, broker_id: int) -> None:
        partition = Partition.objects.get(topic__name="orders")
        partition.isr = [replica for replica in partition.replicas if replica != broker_id]
        partition.save()
        Topic.objects.filter(name="orders").update(under_replicated_count=1)

    def become_whole(self) -> None:
        partition = Partition.objects.get(topic__name="orders")
        partition.isr = partition.replicas
        partition.save()
        Topic.objects.update(under_replicated_count=0)

    def look(self) -> None:
        """The collector reads all partitions again."""
        ClusterState.objects.update(topics_at_ms=now_ms() + 1_000)

    def carry_out_restart(self, name: str) -> None:
        """What worker and reconcile do to a process whose restart is wished."""
        row = ManagedProcess.objects.get(name=name)
        assert row.request == "restart"
        row.request, row.pid, row.started_at = "", row.pid + 1_000, timezone.now()
        row.save()

    def end(self, name: str, sentence: str) -> None:
        ended = {"request": "", "pid": None, "observed": "exited", "sentence": sentence}
        ManagedProcess.objects.filter(name=name).update(**ended)

    def wished(self) -> list[str]:
        return list(ManagedProcess.objects.filter(request="restart").values_list("name", flat=True))


@pytest.fixture
def stage(db) -> Cluster:
    return Cluster()


def begun_by(actor) -> RollingRestart:
    """As planned and confirmed now."""
    planned = restart_plan()
    plan = planned.as_plan()
    do_begin(actor, planned, plan, confirmation_of(plan, actor))
    return RollingRestart.objects.latest("pk")
