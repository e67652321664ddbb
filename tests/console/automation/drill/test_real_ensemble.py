"""Drills of a real ensemble of three: a follower, the leader and the quorum are lost, and what must hold does."""

import contextlib
import os
import signal

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from broker.common.clock import SystemClock
from console.automation.drill.actions import do_begin
from console.automation.drill.advance import advance
from console.automation.drill.faults import Fault, FaultTarget
from console.automation.drill.models import Drill
from console.automation.drill.plan import drill_plan
from console.automation.drill.queries import find_target, outlook
from console.kit.gateway.errors import GatewayError
from console.kit.gateway.zookeeper.four_letter_words import describe_zookeeper
from console.processes import os_process
from console.processes.actions import do_start
from console.processes.models import ManagedProcess
from console.processes.os_process import find_leader, look
from console.processes.registry import add_process
from console.processes.tasks import reconcile_host
from console.shell.collector.collector import Collector
from tests.barnabas_cluster import BrokerProcess, Cluster, await_true
from tests.conformance.gateway.real import kafka_gateway
from tests.console.confirming import confirmation_of
from tests.zookeeper_server import free_ports, prepare_ensemble

pytestmark = [pytest.mark.timeout(400)]
DEADLINE_S = 120


@pytest.fixture
def clock() -> SystemClock:
    """Real processes take real time."""
    return SystemClock()


class Stage:
    """Three managed servers, looked after by the reconcile, the collector and the beat as fast as they can."""

    def __init__(self, operator, directory, settings):
        settings.DRILLS, settings.DATA_DIR = True, directory
        settings.RUN_DIR, settings.LOG_DIR = directory / "run", directory / "logs"
        settings.ZOOKEEPER_SECRET_FILE = directory / "secrets" / "zookeeper-super"
        self.operator, self.host, self.collector = operator, settings.HOST_NAME, None
        addresses = prepare_ensemble(directory / "zookeeper", 3)
        self.connect = ",".join(f"{address.host}:{address.client_port}" for address in addresses)
        for number, address in enumerate(addresses, 1):
            ports = {"quorum_port": address.quorum_port, "election_port": address.election_port}
            spec = {
                "directory": str(directory / "zookeeper" / str(number)),
                "client_port": address.client_port,
                **ports,
            }
            do_start(operator, add_process("zookeeper", f"zookeeper-{number}", {**spec, "number": number}))

    def await_whole(self) -> None:
        def is_whole() -> bool:
            reconcile_host(self.host)
            self.look()
            return sorted(self.modes().values()) == ["follower", "follower", "leader"] and not (
                ManagedProcess.objects.exclude(state__in=("healthy", "running")).exists()
            )

        await_true(is_whole, "three servers that serve", DEADLINE_S)

    def look(self) -> None:
        for tier in ("zookeeper", "brokers", "topics", "groups", "brokers"):
            with contextlib.suppress(GatewayError):  # a tier of the collector goes on, too
                self.collector.look(tier)
        self.collector.beat()

    def modes(self) -> dict[str, str]:
        """Of those that serve, by name."""
        names = {process.ports[0]: process.name for process in ManagedProcess.objects.filter(kind="zookeeper")}
        views = describe_zookeeper(self.connect)
        return {names[int(view.address.rpartition(":")[2])]: view.mode for view in views if view.mode}

    def one_that(self, mode: str) -> str:
        return next(name for name, item in self.modes().items() if item == mode)

    def identity(self, name: str) -> os_process.ProcessIdentity:
        row = ManagedProcess.objects.get(name=name)
        return os_process.ProcessIdentity(row.pid, row.create_time, row.run_token)

    def begin(self, whom: str, fault: Fault, seconds: int) -> Drill:
        await_true(lambda: self.planned(whom, fault, seconds)[2].obstacle == "", "nothing is in the way", DEADLINE_S)
        first, seen, plan = self.planned(whom, fault, seconds)
        do_begin(self.operator, plan, first, fault, seconds, seen, confirmation_of(plan, self.operator))
        return Drill.objects.get(state="running")

    def planned(self, whom: str, fault: Fault, seconds: int):
        """Of what the collector has just seen."""
        self.look()
        target = (
            find_target(FaultTarget.ZOOKEEPER_LEADER, "")
            if whom == "leader"
            else find_target(FaultTarget.PROCESS, self.one_that(whom))
        )
        seen = outlook(target.process, fault, seconds)
        return target, seen, drill_plan(fault, target, seconds, seen)

    def beat(self, drill: Drill) -> Drill:
        reconcile_host(self.host)
        self.look()
        drill.refresh_from_db()
        if drill.is_open:
            advance(drill)
        drill.refresh_from_db()
        return drill

    def until(self, drill: Drill, *phases: str) -> None:
        """Beats until it is in one of the phases, or over."""
        await_true(lambda: self.beat(drill).phase in phases or not drill.is_open, f"{phases}", DEADLINE_S)

    def to_its_end(self, drill: Drill) -> Drill:
        await_true(lambda: not self.beat(drill).is_open, "the drill is over", DEADLINE_S)
        assert drill.state == "done", drill.sentence
        self.await_whole()
        return drill


@pytest.fixture
def stage(operator, tmp_path, settings, monkeypatch):
    monkeypatch.setattr("console.automation.drill.decide.BEFORE_MS", 0)
    stage = Stage(operator, tmp_path, settings)
    try:
        yield stage
    finally:
        tokens = ManagedProcess.objects.exclude(run_token="").values_list("run_token", flat=True)
        held = Drill.objects.exclude(holder_token="").values_list("holder_token", flat=True)
        for token in [*held, *tokens]:
            os_process.kill_family(token)
        os_process.forget_ended(set())


def test_a_leader_whose_drill_nobody_goes_on_with_leads_or_follows_again(stage, cluster, clock):
    """No beat comes for as long as the fault lasts, as if every worker had died."""
    stage.collector = Collector(cluster, lambda: describe_zookeeper(stage.connect), clock.now_ms)
    stage.await_whole()
    drill = stage.begin("leader", Fault.PAUSE, 5)
    held = stage.identity(drill.name)
    stage.until(drill, "fault")
    await_true(lambda: look(held).suspended, "the leader is paused")
    await_true(lambda: "leader" in stage.modes().values(), "another leads")
    await_true(lambda: not look(held).suspended, "it goes on without anybody")
    stage.to_its_end(drill)
    assert drill.table[0].measured in ("2", "3")
    assert find_leader(drill.holder_token) is None


class Ledger:
    """What the brokers have acknowledged."""

    def __init__(self, bootstrap_servers: str):
        self._client = {"bootstrap.servers": bootstrap_servers}
        self._producer = Producer({**self._client, "enable.idempotence": True, "linger.ms": 0})
        self.acknowledged: list[bytes] = []

    def write(self) -> None:
        """One that is acknowledged, however long that takes."""
        self._producer.produce("orders", str(len(self.acknowledged)).encode(), partition=0, on_delivery=self._delivered)
        self._producer.flush(60)

    def _delivered(self, error, message) -> None:
        assert error is None, error
        self.acknowledged.append(message.value())

    def read(self) -> list[bytes]:
        consumer = Consumer({**self._client, "group.id": "reader", "enable.partition.eof": True})
        consumer.assign([TopicPartition("orders", 0, 0)])
        data: list[bytes] = []
        with contextlib.closing(consumer):
            while (message := consumer.poll(30)) is not None and not message.error():
                data.append(message.value())
        return data


@pytest.fixture
def cluster_on(stage, tmp_path, clock):
    """Three brokers on the ensemble, looked at by the console's own gateway."""
    ports = free_ports(6)
    brokers = [
        BrokerProcess(number, *ports[2 * number - 2 : 2 * number], tmp_path / f"broker-{number}", stage.connect)
        for number in (1, 2, 3)
    ]
    cluster = Cluster(stage, brokers)
    stage.collector = Collector(kafka_gateway(cluster), lambda: describe_zookeeper(stage.connect), clock.now_ms)
    try:
        await_true(lambda: reconcile_host(stage.host) or len(stage.modes()) == 3, "the ensemble serves", DEADLINE_S)
        for broker in brokers:
            broker.start()
        for broker in brokers:
            broker.await_healthy()
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
        new = NewTopic("orders", 1, 3, config={"min.insync.replicas": "2"})
        admin.create_topics([new])["orders"].result(30)
        stage.await_whole()
        yield cluster
    finally:
        cluster.stop_brokers()


def _controllers(cluster: Cluster) -> int:
    """Brokers that say of themselves that they are it."""
    return sum("_is_controller 1.0" in broker.get("/metrics") for broker in cluster.brokers)


def must_hold(cluster: Cluster, ledger: Ledger) -> None:
    """All are registered, one of them is controller and says so, and what was acknowledged is there, once."""
    gateway = kafka_gateway(cluster)
    await_true(lambda: [broker.id for broker in gateway.describe_cluster().brokers] == [1, 2, 3], "three brokers", 60)
    await_true(lambda: _controllers(cluster) == 1, "one controller", 60)
    ledger.write()
    assert ledger.read() == ledger.acknowledged


@pytest.mark.long
def test_brokers_outlast_a_follower_the_leader_and_the_quorum(stage, cluster_on):
    ledger = Ledger(cluster_on.bootstrap_servers)
    ledger.write()
    for whom, fault in (
        ("follower", Fault.PAUSE),
        ("leader", Fault.PAUSE),
        ("follower", Fault.KILL),
        ("leader", Fault.KILL),
    ):
        drill = stage.begin(whom, fault, 10)
        while drill.is_open:
            stage.beat(drill)
            ledger.write()
        assert drill.state == "done", drill.sentence
        stage.await_whole()
        must_hold(cluster_on, ledger)

    drill = stage.begin("follower", Fault.PAUSE, 60)
    stage.until(drill, "fault")
    await_true(lambda: "follower" in stage.modes().values() and drill.name not in stage.modes(), "one is lost", 60)
    second = stage.identity(stage.one_that("follower"))
    os.kill(second.pid, signal.SIGSTOP)
    try:
        await_true(lambda: not stage.modes(), "the quorum is lost", 60)
        stage.until(drill, "putting back", "recovering")
        assert "ZooKeeper server" in drill.early
        await_true(lambda: len(stage.modes()) == 2, "two are a quorum again", 60)
    finally:
        os.kill(second.pid, signal.SIGCONT)
    stage.to_its_end(drill)
    must_hold(cluster_on, ledger)
