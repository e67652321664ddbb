"""What a row of the matrix plays on: a cluster under load, the faults that can be done to it, and the waiting until it
is whole again. Everything is noted in the history as it happens.
"""

import contextlib
import json
import random
import signal
import time
from collections.abc import Callable, Iterable

import psutil
from confluent_kafka import ElectionType, KafkaException
from confluent_kafka import TopicPartition as KafkaTopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, ResourceType
from kazoo.client import KazooClient

from broker.common.cluster import LeaderAndIsr
from broker.common.errors import ErrorCode
from broker.common.types import TopicPartition
from broker.zookeeper.earlier_session import NOTE_FILE
from tests.barnabas_cluster import BrokerProcess, Cluster, await_true
from tests.faults.history import Fault, HistoryWriter, Policy, TopicDeclared, now
from tests.faults.matrix.late_client import LateProducer
from tests.faults.matrix.zookeeper_watch import ZooKeeperWatch

#: How long a fault may keep a cluster busy after it is over. A bound on waiting; the table has the figures.
WHOLE_WITHIN_S = 40
_OPERATION_S = 10


class Stage:
    """`measured` are the row's own figures in seconds, `violations` what it saw that may not be."""

    def __init__(self, cluster: Cluster, history: HistoryWriter, seed: int):
        self.cluster = cluster
        self.random = random.Random(seed)
        self.history = history
        self.watch = ZooKeeperWatch(cluster.zookeeper.connect, history)
        self.replicas: dict[TopicPartition, tuple[int, ...]] = {}
        self.measured: dict[str, float] = {}
        self.violations: list[str] = []
        self._suspended: set[int] = set()
        #: Waits until the load goes on; set by whoever runs it.
        self.await_progress: Callable[[], None] = lambda: None

    def admin(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self.cluster.bootstrap_servers, "log_level": 0})

    # -- topics

    def create(self, topic: str, replicas: list[tuple[int, ...]], policy: Policy = Policy.KEEP, **config: str) -> None:
        """A topic with the given replicas of each partition, the preferred leader first; returns when all are in sync.

        Keys of `config` are written with underscores.
        """
        settings = {key.replace("_", "."): value for key, value in config.items()}
        assigned = [list(replica) for replica in replicas]
        new = NewTopic(topic, len(replicas), replica_assignment=assigned, config=settings)
        admin = self.admin()
        admin.create_topics([new])[topic].result(30)
        self.history.note(TopicDeclared(topic, policy))
        self.follow(topic, replicas)
        self.await_whole()

    def create_led_by(self, topic: str, leaders: list[int]) -> None:
        """A topic with one partition for each of `leaders`, led by it, on all brokers."""
        self.create(topic, [(leader, *self.others(leader)) for leader in leaders])

    def lead_as_preferred(self, topic: str) -> None:
        """Every partition of the topic, whole at the moment, is led by its first replica when this returns."""
        replicas = {item.partition: replica for item, replica in self.replicas.items() if item.topic == topic}
        partitions = [KafkaTopicPartition(topic, index) for index in replicas]

        def is_led() -> bool:
            if all(self.state(topic, index).leader == replica[0] for index, replica in replicas.items()):
                return True
            # The controller may have changed, and refuses who has just come into an ISR until it hears of it.
            with contextlib.suppress(KafkaException):
                admin = self.admin()
                admin.elect_leaders(ElectionType.PREFERRED, partitions).result(WHOLE_WITHIN_S)
            return False

        await_true(is_led, f"{topic} is led by its preferred replicas", WHOLE_WITHIN_S)

    def follow(self, topic: str, replicas: list[tuple[int, ...]]) -> None:
        """Count these partitions among those that have to be whole."""
        partitions = {TopicPartition(topic, index): replica for index, replica in enumerate(replicas)}
        self.replicas |= partitions
        self.watch.watch(partitions)

    def expect_too_few_in_sync(self, name: str, broker_id: int, topic: str, partition: int) -> None:
        """Who leads alone refuses acks=all where two are needed; what it refuses may never be read (I2)."""
        await_true(
            lambda: self._refused(f"{name}-{time.monotonic_ns()}", broker_id, topic, partition) > 0,
            f"broker {broker_id} refuses acks=all for {topic}-{partition}",
        )

    def _refused(self, name: str, broker_id: int, topic: str, partition: int) -> int:
        broker = self.broker(broker_id)
        producer = LateProducer(name, broker.port, topic, "all", self.history, broker.host)
        for _ in range(5):
            producer.send(partition)
        return producer.outcomes().count(ErrorCode.NOT_ENOUGH_REPLICAS)

    def follow_internal(self, topic: str, partitions: int) -> None:
        """An internal topic, placed by the brokers themselves on all of them."""
        self.follow(topic, [tuple(self.others())] * partitions)

    def await_topic_can_be_created(self, name: str) -> float:
        """Seconds until a new topic with one replica exists, asked again and again; noted if over 10."""
        began = time.monotonic()
        while (refusal := self._refusal_of(name)) and time.monotonic() < began + WHOLE_WITHIN_S:
            time.sleep(0.1)
        assert not refusal, f"topic {name} cannot be created: {refusal}"
        took = time.monotonic() - began
        if took > _OPERATION_S:
            self.violations.append(f"I9: topic {name} was created after {took:.1f} s, {_OPERATION_S} are allowed")
        return took

    def _refusal_of(self, topic: str) -> str:
        """Why it cannot be created at the moment; nothing when it has been. Asked by a client that knows nothing yet:
        librdkafka goes on waiting for a controller it has once heard of.
        """
        admin = self.admin()
        try:
            admin.create_topics([NewTopic(topic, 1, 1)], request_timeout=5)[topic].result(6)
        except KafkaException as error:
            arg = error.args[0]
            return "" if arg.name() == "TOPIC_ALREADY_EXISTS" else str(arg)
        return ""

    # -- looking

    def topic_config(self, topic: str, key: str) -> str:
        """The value that is in effect for a key of the topic's configuration."""
        resource = ConfigResource(ResourceType.TOPIC, topic)
        admin = self.admin()
        return admin.describe_configs([resource])[resource].result(_OPERATION_S)[key].value

    def state(self, topic: str, partition: int = 0) -> LeaderAndIsr:
        return self.watch.state(TopicPartition(topic, partition))

    def broker(self, broker_id: int) -> BrokerProcess:
        return self.cluster.broker(broker_id)

    def led_by(self, broker_id: int, topic: str) -> list[int]:
        """Partitions of the topic that the broker leads."""
        mine = [replica.partition for replica in self.replicas if replica.topic == topic]
        return [index for index in mine if self.state(topic, index).leader == broker_id]

    def others(self, *broker_ids: int) -> list[int]:
        return [broker.broker_id for broker in self.cluster.brokers if broker.broker_id not in broker_ids]

    # -- faults

    def note(self, what: str) -> float:
        """The monotonic time at which it happened."""
        at = now()
        self.history.note(Fault(what, at))
        return at[1]

    def kill(self, *broker_ids: int) -> float:
        """kill -9, all of them before the first has ended."""
        for broker_id in broker_ids:
            self._suspended.discard(broker_id)
            self.broker(broker_id).process.send_signal(signal.SIGKILL)
        at = self.note(f"kill -9 {list(broker_ids)}")
        for broker_id in broker_ids:
            self.broker(broker_id).process.wait()
        return at

    def kill_and_expire(self, broker_id: int) -> float:
        """kill -9, and its ZooKeeper session ended at once, so that its partitions are led by others soon."""
        at = self.kill(broker_id)
        self.expire_session(broker_id)
        return at

    def expire_session(self, broker_id: int) -> None:
        """End its ZooKeeper session as if it had timed out; the broker, if it lives, is told so."""
        note = json.loads((self.broker(broker_id).directory / "logs" / NOTE_FILE).read_text())
        identity = note["session_id"], bytes.fromhex(note["password"])
        client = KazooClient(self.cluster.zookeeper.connect, client_id=identity, timeout=5)
        client.start(timeout=10)
        client.stop()
        client.close()
        self.note(f"ended the session of {broker_id}")

    def stop(self, broker_id: int) -> float:
        """As an operator does, by SIGTERM; seconds until the process has ended."""
        at = self.note(f"told {broker_id} to stop")
        status = self.broker(broker_id).stop()
        if status:
            self.violations.append(f"I10: broker {broker_id} ended with status {status}")
        return self.note(f"{broker_id} has stopped") - at

    def suspend(self, *broker_ids: int) -> float:
        for broker_id in broker_ids:
            self.broker(broker_id).process.send_signal(signal.SIGSTOP)
            self._suspended.add(broker_id)
        return self.note(f"stopped {list(broker_ids)}")

    def resume(self, *broker_ids: int) -> float:
        for broker_id in broker_ids:
            self.broker(broker_id).process.send_signal(signal.SIGCONT)
            self._suspended.discard(broker_id)
        return self.note(f"continued {list(broker_ids)}")

    def start(self, *broker_ids: int) -> float:
        for broker_id in broker_ids:
            self.broker(broker_id).start()
        return self.note(f"started {list(broker_ids)}")

    def heal(self) -> None:
        """Whatever is down runs again and serves."""
        self.resume(*self._suspended.copy())
        for broker in self.cluster.brokers:
            if broker.process.poll() is not None:
                self.start(broker.broker_id)
        for broker in self.cluster.brokers:
            broker.await_healthy()

    # -- waiting

    def stay_until(self, monotonic_s: float) -> None:
        """Let a fault last as long as the row says."""
        time.sleep(max(0.0, monotonic_s - time.monotonic()))

    def await_leader(self, topic: str, partition: int, among: Iterable[int], within_s: float = WHOLE_WITHIN_S) -> int:
        """Who leads, once it is one of `among`."""
        wanted, names = TopicPartition(topic, partition), set(among)
        await_true(lambda: self.watch.state(wanted).leader in names, f"{wanted} is led by one of {names}", within_s)
        return self.watch.state(wanted).leader

    def await_isr(self, topic: str, partition: int, isr: Iterable[int], within_s: float = WHOLE_WITHIN_S) -> None:
        wanted, names = TopicPartition(topic, partition), set(isr)
        await_true(lambda: set(self.watch.state(wanted).isr) == names, f"the ISR of {wanted} is {names}", within_s)

    def await_controller(self, among: Iterable[int]) -> int:
        names = set(among)
        await_true(lambda: self.watch.controller() in names, f"one of {names} is controller", WHOLE_WITHIN_S)
        return self.watch.controller()

    def await_whole(self) -> None:
        """Every partition is led and all its replicas are in sync."""
        try:
            await_true(lambda: not self._broken(), "all partitions are whole", WHOLE_WITHIN_S)
        except AssertionError:
            raise AssertionError(f"not whole within {WHOLE_WITHIN_S} s: {self._broken()}") from None

    def is_whole(self) -> bool:
        return not self._broken()

    def _broken(self) -> dict[TopicPartition, LeaderAndIsr | None]:
        states = {replica: self.watch.state(replica) for replica in self.replicas}
        return {
            item: state
            for item, state in states.items()
            if state is None or state.leader < 0 or set(state.isr) != set(self.replicas[item])
        }

    # -- what processes hold

    def holdings(self) -> dict[int, tuple[int, int]]:
        """By process id: how many threads and open files."""
        processes = [psutil.Process(broker.process.pid) for broker in self.cluster.brokers]
        return {process.pid: (process.num_threads(), process.num_fds()) for process in processes}

    def compare_holdings(self, before: dict[int, tuple[int, int]], threads_more: int = 8, files_more: int = 60) -> None:
        """I9: a process that has lived through the fault has not kept what it opened for it."""
        for pid, (threads, files) in self.holdings().items():
            if pid in before and threads > before[pid][0] + threads_more:
                self.violations.append(f"I9: process {pid} had {before[pid][0]} threads, now {threads}")
            if pid in before and files > before[pid][1] + files_more:
                self.violations.append(f"I9: process {pid} had {before[pid][1]} files open, now {files}")
