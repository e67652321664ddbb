"""One run: a few brokers, ZooKeeper and clients under a simulated clock, all drawn from one seed.

The cluster comes up and gets its topics; then clients work while faults strike; then everything is made whole, the
clients come to their end, every ISR must be full again within bounded time, and what is there is checked.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cached_property, lru_cache
from pathlib import Path
from random import Random
from uuid import UUID

from broker.audit.increment import AUDIT_TOPIC
from broker.common.cluster import LeaderAndIsr
from broker.common.replica_assignment import ReplicaAssignment
from broker.common.types import TopicPartition
from broker.runtime.topics.internal_topics import INTERNAL_TOPICS, OFFSETS_TOPIC, TRANSACTION_TOPIC
from broker.zookeeper import znodes
from tests.simulation import checkers, counted
from tests.simulation.broker_process import BrokerProcess
from tests.simulation.committed import Committed
from tests.simulation.committed_reads import committed_records, whole_batches
from tests.simulation.consumers import decode_batches
from tests.simulation.directed import inflict_directed
from tests.simulation.disk import Disk
from tests.simulation.ensemble import Ensemble
from tests.simulation.epochs import EpochWatch
from tests.simulation.faults import Fault, draw_count, draw_faults, draw_foreign_hands
from tests.simulation.handed_over import HandOvers
from tests.simulation.history import History
from tests.simulation.holders import Holders
from tests.simulation.holdings import Holdings
from tests.simulation.load import Load, min_insync
from tests.simulation.network import Network
from tests.simulation.passes import Passes
from tests.simulation.scenarios import Scenario
from tests.simulation.served import Service
from tests.simulation.settings import SESSION_TIMEOUT_MS, draw_brokers, draw_settings, draw_upgrade
from tests.simulation.sockets import Machine
from tests.simulation.syscalls import Syscalls
from tests.simulation.timeline import Timeline
from tests.simulation.topics import BY_NAME, LASTING

_MS = 1_000
_S = 1_000_000

#: Faults strike during so long a time, and a little longer for each of them: they meet each other and what those before
#: them have left. A run whose three faults are spread over 20 s sees none at work for most of it.
_CHAOS_US_MIN = 5 * _S
_CHAOS_US_FOR_EACH_FAULT = 600 * _MS
_CHAOS_US_MAX = 20 * _S
#: Work goes on for so long after the last fault has ended.
CALM_US = 2 * _S
#: By then every ISR must be full again and every client answered.
HEALED_WITHIN_US = 40 * _S
#: Until then all that was counted is to be told.
_TOLD_WITHIN_US = 30 * _S
_LOOK_EVERY_US = 200 * _MS
#: What a broker may need, after it was disturbed, to answer as fast as before.
_RECOVERED_US = 500 * _MS
_STEPS_MAX = 5_000_000


#: The world looks at all of them again and again, and few have changed.
_decoded_state = lru_cache(4_096)(znodes.decode_state)
_decoded_topic = lru_cache(4_096)(znodes.decode_topic)


class _Ended(Exception):
    """A violation has ended the run."""


class World:
    """Everything of one run. `run` returns the history; whoever made the directory removes it."""

    def __init__(self, seed: int, directory: Path, disk: Disk, syscalls: Syscalls, scenario: Scenario | None = None):
        self._random = Random(f"world {seed}")
        self.settings = draw_settings(self._fork())
        #: The beginnings of the names of those at work; empty: all.
        self.clients = () if scenario is None else scenario.clients
        if scenario is not None:
            self.settings |= scenario.settings
        self._is_counted = counted.is_asked_for()
        if self._is_counted:
            self.settings |= counted.SETTINGS
        self.timeline = Timeline()
        self.history = History(self.timeline)
        self.committed = Committed(self.history)
        self.holdings = Holdings(
            self.history,
            lambda: self.timeline.now_us,
            lambda topic: min_insync(topic, self.settings),
            self._isr_of,
        )
        self.passes = Passes(self.history)
        self.internet: dict[str, Machine] = {}
        #: When a wall clock was last set right, or wrong.
        self.clocks_wrong_at_us = 0
        self.network = Network(self.timeline, self._fork())
        self.ensemble = Ensemble(self.timeline)
        self.disk = disk
        self.syscalls = syscalls
        syscalls.on_excess = self.history.violate
        self.epochs = EpochWatch(self.history)
        self.ensemble.on_transaction = self.epochs.on_transaction
        self.ensemble.on_session_over = lambda number, why: self.history.add("zookeeper", why, session=f"{number:#x}")
        self.brokers = [
            BrokerProcess(self, number, directory / f"broker-{number}", self._fork())
            for number in range(1, (draw_brokers(self._fork()) if scenario is None else scenario.brokers) + 1)
        ]
        self.holders = Holders(self)
        self._chaos_us, self.faults = self._draw_faults(self._fork(), scenario, seed)
        self.service = Service(self)
        self.hand_overs = HandOvers(self)
        raise_after_s = draw_upgrade(self._fork()) if scenario is None else scenario.raise_after_s
        self.load = Load(self, self._fork(), raise_after_s)

    def _fork(self) -> Random:
        return Random(self._random.random())

    def _draw_faults(self, random: Random, scenario: Scenario | None, seed: int) -> tuple[int, list[Fault]]:
        """How long faults strike, and the faults."""
        if scenario is not None:
            return scenario.chaos_us, scenario.draw_faults(random)
        count = draw_count(random)
        chaos_us = min(_CHAOS_US_MAX, _CHAOS_US_MIN + count * _CHAOS_US_FOR_EACH_FAULT)
        by_foreign_hands = draw_foreign_hands(Random(f"foreign hands {seed}"), chaos_us)
        drawn = [*draw_faults(random, count, chaos_us), *by_foreign_hands]
        return chaos_us, sorted(drawn, key=lambda fault: fault.at_us)

    # -- the course of a run

    def run(self, faults: list[Fault] | None = None, *, ends_at_violation: bool = False) -> History:
        """`faults` instead of those drawn; `ends_at_violation` where it matters only whether there is one."""
        self._ends_at_violation = ends_at_violation
        with suppress(_Ended):
            self._run(self.faults if faults is None else faults)
        return self.history

    def _run(self, faults: list[Fault]) -> None:
        self._come_up()
        began_us = self.timeline.now_us
        for fault in faults:
            self.timeline.plan(began_us + fault.at_us, lambda fault=fault: inflict_directed(self, fault))
        self._look_now_and_then()
        self._run_for(self._chaos_us)
        self._heal()
        self._run_for(CALM_US)
        self._finish_work()
        if self._is_counted:
            self._run_until(self._is_all_told_for_good, _TOLD_WITHIN_US)
        self._check()

    def _come_up(self) -> None:
        for process in self.brokers:
            process.start()
        self.load.begin()
        if not self._run_until(lambda: self.load.is_prepared, 20 * _S):
            raise AssertionError("the cluster did not come up")
        self.load.go_on(self.clients)

    def _heal(self) -> None:
        self.history.add("WORLD", "everything is made whole")
        self.network.mend_all()
        self.ensemble.regain_quorum()
        for process in self.brokers:
            process.mend_disk()
            self.set_clock(process, 0)
            process.resume()
            process.start()

    def set_clock(self, process: BrokerProcess, offset_ms: int) -> None:
        """Have the wall clock of a broker's machine be so far ahead."""
        if process.machine.wall_offset_ms != offset_ms:
            process.machine.wall_offset_ms = offset_ms
            self.clocks_wrong_at_us = self.timeline.now_us

    def _finish_work(self) -> None:
        self.history.add("WORLD", "clients come to their end")
        self.load.end()
        if not self._run_until(lambda: not self._unhealed(), HEALED_WITHIN_US):
            for reason in self._unhealed():
                self.history.violate(f"not healed within {HEALED_WITHIN_US // _S} s: {reason}")

    def _run_until(self, condition: Callable[[], bool], limit_us: int) -> bool:
        end_us = self.timeline.now_us + limit_us
        while not condition():
            if self.timeline.now_us >= end_us:
                return False
            self._run_for(100 * _MS)
        return True

    def _run_for(self, duration_us: int) -> None:
        over: list[bool] = []
        self.timeline.plan_in(duration_us, lambda: over.append(True))
        violations = self.history.violations if self._ends_at_violation else ()
        self.timeline.run(lambda: over or violations, _STEPS_MAX)
        if self._is_ended:
            raise _Ended

    @property
    def _is_ended(self) -> bool:
        return self._ends_at_violation and bool(self.history.violations)

    # -- what there is

    @property
    def running(self) -> list[BrokerProcess]:
        return [process for process in self.brokers if process.is_running]

    @property
    def session_timeout_us(self) -> int:
        return SESSION_TIMEOUT_MS * _MS

    @cached_property
    def partitions(self) -> list[TopicPartition]:
        return [TopicPartition(name, number) for name, count in self._counts() for number in range(count)]

    def _counts(self) -> list[tuple[str, int]]:
        """Internal topics as well: whoever coordinates is struck as any other leader."""
        internal = [(OFFSETS_TOPIC, "offsets.topic"), (TRANSACTION_TOPIC, "transaction.state.log")]
        counts = [(topic.name, topic.partitions) for topic in LASTING]
        return counts + [(name, int(self.settings[f"{prefix}.num.partitions"])) for name, prefix in internal]

    @cached_property
    def coordinated_partitions(self) -> list[TopicPartition]:
        return [partition for partition in self.partitions if partition.topic in INTERNAL_TOPICS]

    def is_undisturbed(self, broker_id: int, since_us: int) -> bool:
        """Whether that broker has been up, awake, and as near as always, and nothing happened to it since then."""
        process = self.process_of(broker_id)
        if not process.is_started or process.is_paused or process.is_in_disk_trouble:
            return False
        if self.network.is_slow(process.name):
            return False
        return process.disturbed_at_us < since_us - _RECOVERED_US

    def raises_epochs_everywhere(self) -> bool:
        """Whether all brokers know that the end of a transaction raises epochs, so that none that starts knows less."""
        return len(self.running) == len(self.brokers) and all(process.raises_epochs for process in self.brokers)

    def has_steady_clocks_since(self, since_us: int) -> bool:
        """Whether all wall clocks have been right since then."""
        return self.clocks_wrong_at_us < since_us and not any(p.machine.wall_offset_ms for p in self.brokers)

    def is_in_disk_trouble(self, name: str) -> bool:
        """`thread` is any broker's."""
        return any(broker.is_in_disk_trouble for broker in self.brokers if name in (broker.name, "thread"))

    def may_lack_offsets(self, log: str) -> bool:
        """Whether a power cut has shortened a segment of the log at /<broker>/<life>/<partition> that others follow."""
        broker, _, partition = Path(log).parts[-3:]
        return any(partition in process.shortened_logs for process in self.brokers if process.name == broker)

    @property
    def controller(self) -> BrokerProcess | None:
        node = self.ensemble.tree.nodes.get(znodes.CONTROLLER)
        return self.process_of(znodes.decode_controller(node.data)) if node else None

    def leader_of(self, partition: TopicPartition) -> BrokerProcess | None:
        state = self.state_of(partition)
        return self.process_of(state.leader) if state else None

    def _isr_of(self, partition: TopicPartition) -> set[str]:
        state = self.state_of(partition)
        return {f"broker-{broker_id}" for broker_id in state.isr} if state else set()

    def process_of(self, broker_id: int) -> BrokerProcess | None:
        return next((process for process in self.brokers if process.broker_id == broker_id), None)

    def states(self) -> Iterator[tuple[TopicPartition, LeaderAndIsr, ReplicaAssignment]]:
        """Of every partition that has one, with the replicas it is assigned to."""
        for assignment in self._assignments():
            for number in assignment.partitions:
                partition = TopicPartition(assignment.topic, number)
                state = self.state_of(partition)
                if state is not None:
                    yield partition, state, assignment.of(number)

    def state_of(self, partition: TopicPartition) -> LeaderAndIsr | None:
        node = self.ensemble.tree.nodes.get(znodes.state_path(partition))
        return _decoded_state(partition, node.data, node.version) if node else None

    def _assignments(self) -> list:
        names = sorted(self.ensemble.tree.get(znodes.TOPICS).children)
        return [_decoded_topic(name, self.ensemble.tree.get(znodes.topic_path(name)).data) for name in names]

    # -- what is looked at while the run goes on

    def _look_now_and_then(self) -> None:
        for process in self.running:
            self.look_into(process)
        self.service.look()
        self.hand_overs.look()
        self.timeline.plan_in(_LOOK_EVERY_US, self._look_now_and_then)

    def look_into(self, process: BrokerProcess) -> None:
        """What a replica holds below its high watermark is committed, whoever leads."""
        for topic_id, partition, data in process.committed_since_last_look():
            for header, records in decode_batches(data):
                by_client = not (header.is_control or partition.topic in INTERNAL_TOPICS)
                seen = partition.partition, header.partition_leader_epoch, records
                self.committed.see(process.name, topic_id, *seen, by_client=by_client)

    def _unhealed(self) -> list[str]:
        reasons = [f"{process.name} does not serve" for process in self.brokers if not process.is_started]
        reasons += [f"{name} is still at work" for name in self.load.at_work()]
        deleting = self.ensemble.tree.get(znodes.DELETE_TOPICS).children
        reasons += [f"topic {name} is still being deleted" for name in sorted(deleting)]
        reasons += self._incomplete_isrs()
        if not reasons:
            reasons = [reason for process in self.brokers for reason in process.unsettled(self._assigned_to(process))]
        return reasons

    def _incomplete_isrs(self) -> list[str]:
        collected = []
        for assignment in self._assignments():
            for number, replicas in sorted(assignment.partitions.items()):
                partition = TopicPartition(assignment.topic, number)
                state = self.state_of(partition)
                if number in assignment.adding or number in assignment.removing:
                    collected.append(f"{partition} is on the move still: {assignment}")
                elif state is None or sorted(state.isr) != sorted(replicas) or state.leader < 0:
                    collected.append(f"{partition} on {replicas} is {state}")
        return collected

    def _assigned_to(self, process: BrokerProcess) -> dict[TopicPartition, UUID]:
        return {
            TopicPartition(assignment.topic, number): assignment.topic_id
            for assignment in self._assignments()
            for number, replicas in assignment.partitions.items()
            if process.broker_id in replicas
        }

    # -- the end

    def _is_all_told_for_good(self) -> bool:
        """Every leader has told the audit what it has counted, and still has a moment later: some are elected late."""
        if not self._is_all_told():
            return False
        self._run_for(CALM_US)
        return self._is_all_told() and not self._unhealed()

    def _is_all_told(self) -> bool:
        return not any(process.waiting_to_be_told() for process in self.running)

    def _check(self) -> None:
        for process in self.running:
            self.look_into(process)
        readable, committed, begins, ends = {}, {}, {}, {}
        for assignment in self._assignments():
            for number in sorted(assignment.partitions):
                partition = TopicPartition(assignment.topic, number)
                logs = {p.name: p.log_below_high_watermark(partition) for p in self.running if p.hosts(partition)}
                checkers.check_replicas_agree(self.history, partition, logs)
                begins[partition], data = max(logs.values(), default=(0, b""), key=lambda log: (log[0], len(log[1])))
                ends[partition] = max(
                    (p.high_watermark_of(partition) for p in self.running if p.hosts(partition)), default=0
                )
                if self._is_counted and assignment.topic == AUDIT_TOPIC:
                    committed[partition] = self._committed_records(partition, data)
                if assignment.topic in BY_NAME:
                    readable[partition] = self._values(data)
                    committed[partition] = self._committed_records(partition, data)
        checkers.check_acknowledged(self.history, readable, begins)
        checkers.check_exactly_once(self.history, readable)
        checkers.check_only_what_was_sent(self.history, readable)
        checkers.check_copies(self.history, committed)
        if self._is_counted:
            counted.check_counts(self.history, counted.ledger_of(committed), committed, ends)
        committed = {where: records for where, records in committed.items() if where.topic in BY_NAME}
        values = {where: [record.value.decode() for record in records] for where, records in committed.items()}
        self.load.transactions.check(values)
        self._summarize(readable, self.load.transactions.interleaved(values))

    def _values(self, data: bytes) -> dict[int, str]:
        result = [records for header, records in decode_batches(data) if not header.is_control]
        return {record.offset: record.value.decode() for records in result for record in records}

    def _committed_records(self, partition: TopicPartition, data: bytes) -> list:
        records, open_count = committed_records(whole_batches(data))
        if open_count:
            self.history.violate(f"{open_count} transactions are open in {partition} though no producer is there")
        return records

    def _summarize(self, readable: dict, interleaved: int) -> None:
        acknowledged = sum(len(entry.facts["values"]) for entry in self.history.of("acknowledged"))
        records = json.dumps({str(where): len(values) for where, values in readable.items()})
        outcomes = dict(sorted(Counter(event.outcome for event in self.load.transactions.all).items()))
        self.history.add(
            "WORLD", "is over", acknowledged=acknowledged, records=records, transactions=outcomes,
            interleaved=interleaved, commits=self.load.offsets.count, joins=len(self.history.of("joins")),
        )  # fmt: skip
