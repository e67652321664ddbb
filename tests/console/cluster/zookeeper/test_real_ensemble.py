"""A real ensemble is changed under a running broker: it stays registered in one session, and topics can be made."""

import os
import random
import signal

import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from django.conf import settings

from console.cluster.zookeeper.actions import do_change_ensemble
from console.cluster.zookeeper.advance import advance, modes_of
from console.cluster.zookeeper.change_views import plan_now
from console.cluster.zookeeper.ensemble import EnsembleChangeKind
from console.cluster.zookeeper.models import EnsembleChange
from console.kit.gateway.errors import GatewayError
from console.kit.gateway.zookeeper.znodes import KazooGateway, secret_reader
from console.processes import os_process
from console.processes.actions import do_start, do_stop
from console.processes.models import ManagedProcess
from console.processes.readiness import port_answers
from console.processes.registry import add_process
from console.processes.step import step
from console.processes.tasks import reconcile_host
from tests.barnabas_cluster import BrokerProcess, await_true
from tests.console.confirming import confirmation_of
from tests.zookeeper_server import free_ports

pytestmark = [pytest.mark.timeout(300)]
DEADLINE_S = 90


class Ensemble:
    """The managed ZooKeeper servers of the test, looked after as the worker would."""

    def __init__(self, gateway: KazooGateway, operator):
        self.gateway = gateway
        self.operator = operator

    def change(self, kind: EnsembleChangeKind, replaced: int | None = None) -> EnsembleChange:
        """Begun as planned, and beats until it is over."""
        planned = plan_now(kind, replaced)
        do_change_ensemble(self.operator, planned, confirmation_of(planned.plan, self.operator))
        change = EnsembleChange.objects.get(state="running")

        def is_over() -> bool:
            reconcile_host(settings.HOST_NAME)
            change.refresh_from_db()
            if change.is_open:
                advance(change)
            change.refresh_from_db()
            return not change.is_open

        await_true(is_over, f"the change; it says: {change.sentence}", DEADLINE_S)
        return change

    def modes(self) -> dict[int, str]:
        try:
            return modes_of(self.gateway.ensemble())
        except GatewayError:
            return {}

    def await_leader(self, but: int | None = None) -> int:
        def leaders() -> list[int]:
            return [number for number, mode in self.modes().items() if mode == "leader" and number != but]

        await_true(leaders, "a leader", DEADLINE_S)
        return leaders()[0]


def quiet_port() -> int:
    """With its neighbours, and those for quorum and elections, below what outgoing connections are given."""
    for _ in range(100):
        first = random.randrange(15_000, 30_000)
        wanted = (first + more + distance for more in range(5) for distance in (0, 707, 1707))
        if not any(port_answers(port) for port in wanted):
            return first
    raise AssertionError("no free ports for an ensemble")


@pytest.fixture
def ensemble_of_one(db, settings, tmp_path, monkeypatch, operator):
    settings.DATA_DIR, settings.LOG_DIR, settings.RUN_DIR = tmp_path, tmp_path / "logs", tmp_path / "run"
    settings.ZOOKEEPER_SECRET_FILE = tmp_path / "secrets" / "zookeeper-super"
    monkeypatch.setattr("console.processes.tasks.enqueue", lambda *_: None)
    client = quiet_port()
    row = add_process(
        "zookeeper",
        "zookeeper",
        {
            "directory": str(tmp_path / "zookeeper"),
            "client_port": client,
            "super_password_file": str(settings.ZOOKEEPER_SECRET_FILE),
        },
    )
    gateway = KazooGateway(f"127.0.0.1:{client}", secret_reader(settings.ZOOKEEPER_SECRET_FILE))
    settings.ZOOKEEPER_GATEWAY = gateway
    ensemble = Ensemble(gateway, operator)
    try:
        do_start(operator, row)
        await_true(lambda: step("zookeeper").observed == "running", "ZooKeeper", DEADLINE_S)
        yield ensemble
    finally:
        gateway.close()
        for token in ManagedProcess.objects.exclude(run_token="").values_list("run_token", flat=True):
            os_process.kill_family(token)
        os_process.forget_ended(set())


@pytest.mark.long
def test_an_ensemble_that_was_grown_comes_back_as_it_was(ensemble_of_one, tmp_path):
    """What ZooKeeper wrote at the reconfig is not written over when its servers are started again."""
    ensemble = ensemble_of_one
    ensemble.change(EnsembleChangeKind.GROW)
    before = ensemble.gateway.ensemble()
    files = {path: path.read_text() for path in tmp_path.glob("zookeeper*/zoo.cfg")}
    rows = list(ManagedProcess.objects.all())
    for wish, observed in ((do_stop, "stopped"), (do_start, "running")):
        for row in rows:
            wish(ensemble.operator, row)
        await_true(lambda seen=observed: {step(row.name).observed for row in rows} == {seen}, observed, DEADLINE_S)

    ensemble.await_leader()
    assert ensemble.gateway.ensemble().members == before.members
    assert {path: path.read_text() for path in files} == files
    assert len(files) == 3
    assert "server." not in files[tmp_path / "zookeeper" / "zoo.cfg"]


@pytest.fixture
def broker(ensemble_of_one, tmp_path):
    port, metrics_port = free_ports(2)
    connect = ensemble_of_one.gateway.ensemble().members[0].address
    process = BrokerProcess(1, port, metrics_port, tmp_path / "broker", connect)
    process.start()
    try:
        process.await_healthy()
        yield process
    finally:
        process.stop()


@pytest.mark.long
def test_an_ensemble_is_changed_and_loses_its_leader_under_a_running_broker(ensemble_of_one, broker):
    ensemble = ensemble_of_one
    session = ensemble.gateway.look("/brokers/ids/1").ephemeral_owner
    admin = AdminClient({"bootstrap.servers": f"127.0.0.1:{broker.port}"})

    def works(topic: str) -> None:
        """ZooKeeper takes writes of the broker, in the session that it began with."""
        admin.create_topics([NewTopic(topic, 1, 1)], request_timeout=60)[topic].result(60)
        view = ensemble.gateway.look("/brokers/ids/1")
        assert view.ephemeral_owner == session
        assert ensemble.gateway.look(f"/brokers/topics/{topic}").value

    works("before")
    assert ensemble.change(EnsembleChangeKind.GROW).sentence == "Done: the ensemble is servers 1, 2 and 3."
    assert sorted(ensemble.modes().values()) == ["follower", "follower", "leader"]
    works("grown")

    leader = ensemble.await_leader()
    name = "zookeeper" if leader == 1 else f"zookeeper-{leader}"
    os.kill(ManagedProcess.objects.get(name=name).pid, signal.SIGKILL)
    ensemble.await_leader(but=leader)
    works("without-the-leader")

    replaced = ensemble.change(EnsembleChangeKind.REPLACE, leader)
    assert replaced.state == "done"
    assert ensemble.gateway.ensemble().numbers == {1, 2, 3, 4} - {leader}
    assert not ManagedProcess.objects.filter(name=name).exists()
    works("replaced")

    assert ensemble.change(EnsembleChangeKind.SHRINK).state == "done"
    (last,) = ensemble.gateway.ensemble().numbers
    assert ensemble.await_leader() == last
    assert ManagedProcess.objects.filter(kind="zookeeper").count() == 1
    works("shrunk")
    row = ManagedProcess.objects.get(kind="zookeeper")
    first_pid = row.pid
    os.kill(first_pid, signal.SIGKILL)
    await_true(lambda: step(row.name).pid not in (None, first_pid), "the last server again", DEADLINE_S)
    ensemble.await_leader()
    works("restarted")
