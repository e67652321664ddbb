"""A batch of many tasks is in its topic once, wherever its driver dies and however often it is run again."""

import itertools

import pyarrow as pa
import pytest
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewTopic

from broker.client.cluster import ClusterConnections, parse_bootstrap_servers
from broker.client.coordinators import Coordinators
from broker.client.leaders import Leaders
from broker.client.transactions import ProducerIdentity, end_transaction, init_producer, open_transactions
from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.records.batch import Compression
from broker.spark import ledger as ledgers
from broker.spark.client_settings import read_sink_settings
from broker.spark.decisions import CommitDecisions, DecisionsError
from broker.spark.ledger import (
    CommitDecision,
    LostPartError,
    SinkCommitLog,
    SinkError,
    TooManyTasksError,
    parse_decision,
)
from broker.spark.ledger_names import DECISIONS_TOPIC
from broker.spark.record_encoding import EncodedRows
from broker.spark.task_producer import TaskProducer
from broker.spark.transactional_sink import SinkOptions, StreamWriter, TaskResult
from tests.barnabas_cluster import running_cluster
from tests.broker.connect.mock_cluster import all_records

TASKS = 2

_names = (f"out-{number}" for number in itertools.count())


class Killed(BaseException):
    """Stands for kill -9: nothing after it runs."""


class MortalCoordinators(Coordinators):
    """Dies at a request: before it is sent, or when its answer is there."""

    def __init__(self, cluster: ClusterConnections, life: int | None = None, *, after_answer: bool = False):
        super().__init__(cluster)
        self._life = life
        self._after_answer = after_answer

    def ask(self, *request, **more):
        dies = self._life == 0
        if self._life is not None:
            self._life -= 1
        if dies and not self._after_answer:
            raise Killed
        answer = super().ask(*request, **more)
        if dies:
            raise Killed
        return answer


class Run:
    """A run of the query: its driver, and its tasks one after the other."""

    def __init__(self, cluster: ClusterConnections, topic: str, name: str, coordinators: Coordinators | None = None):
        self._leaders = Leaders(cluster)
        self._coordinators = coordinators or Coordinators(cluster)
        self.ledger = SinkCommitLog(f"sink-{topic}", cluster, self._coordinators)
        self.name = name
        self.at = TopicPartition(topic, 0)

    def write(self, batch: int, attempt: int = 0, timeout_ms: int = 900_000):
        """What the tasks hand to the driver; None when the batch is written."""
        producers = []
        for task in range(TASKS):
            if self.ledger.enter(self.name).batch == batch:
                return None
            who = init_producer(self._coordinators, self.ledger.free_id(task, attempt), timeout_ms)
            row = pa.array([b"%d/%d" % (batch, task)], pa.binary())
            producer = TaskProducer(self._leaders, self._coordinators, who, Compression.NONE)
            producer.write({self.at: EncodedRows(row, row, None)})
            producers.append(who)
        return producers

    def commit(self, batch: int, producers) -> None:
        if producers is not None:
            self.ledger.decide(self.name, batch, producers)
        self.ledger.finish(batch)

    def run(self, batch: int) -> None:
        self.commit(batch, self.write(batch))


@pytest.fixture(scope="module")
def bootstrap_servers(tmp_path_factory, zookeeper):
    with running_cluster(tmp_path_factory.mktemp("cluster"), zookeeper=zookeeper) as cluster:
        yield cluster.bootstrap_servers


@pytest.fixture(scope="module")
def cluster(bootstrap_servers):
    with ClusterConnections(parse_bootstrap_servers(bootstrap_servers)) as cluster:
        yield cluster


@pytest.fixture
def topic(bootstrap_servers):
    name = next(_names)
    admin = AdminClient({"bootstrap.servers": bootstrap_servers})
    admin.create_topics([NewTopic(name, 1)])[name].result(20)
    return name


def written(bootstrap_servers: str, topic: str) -> list[bytes]:
    """What a reader of committed records finds, by librdkafka's default."""
    return sorted(message.value() for message in all_records(bootstrap_servers, topic))


BATCHES = [b"%d/%d" % (batch, task) for batch in range(3) for task in range(TASKS)]


def test_batches_are_there_once_each(cluster, bootstrap_servers, topic):
    run = Run(cluster, topic, "first")
    for batch in range(3):
        run.run(batch)
        run.run(batch)
    assert written(bootstrap_servers, topic) == BATCHES


@pytest.mark.timeout(300)
@pytest.mark.parametrize("after_answer", [False, True], ids=["before a request", "before its answer"])
def test_batch_is_there_once_wherever_its_driver_dies(cluster, bootstrap_servers, topic, after_answer):
    Run(cluster, topic, "before").run(0)
    deaths = 0
    for life in itertools.count():
        mortal = MortalCoordinators(cluster, life, after_answer=after_answer)
        batch = life + 1
        try:
            Run(cluster, topic, f"mortal-{life}", mortal).run(batch)
        except Killed:
            deaths += 1
        else:
            break
        Run(cluster, topic, f"next-{life}").run(batch)
    assert deaths > 10
    Run(cluster, topic, "last").run(batch + 1)
    values = written(bootstrap_servers, topic)
    assert sorted(values) == sorted(b"%d/%d" % (number, task) for number in range(batch + 2) for task in range(TASKS))
    assert open_transactions(cluster, f"sink-{topic}") == []


def test_driver_that_was_replaced_decides_no_more(cluster, bootstrap_servers, topic):
    older, newer = Run(cluster, topic, "older"), Run(cluster, topic, "newer")
    late = older.write(0)
    producers = newer.write(0)
    with pytest.raises(SinkError, match="another driver of the query has taken over"):
        older.commit(0, late)
    newer.commit(0, producers)
    assert written(bootstrap_servers, topic) == BATCHES[:TASKS]


def test_decision_of_a_driver_that_is_replaced_is_found(cluster, bootstrap_servers, topic):
    older, newer = Run(cluster, topic, "older"), Run(cluster, topic, "newer")
    older.ledger.decide("older", 0, older.write(0))
    assert newer.write(0) is None
    newer.ledger.finish(0)
    older.ledger.finish(0)
    assert written(bootstrap_servers, topic) == BATCHES[:TASKS]


def test_attempt_that_was_not_chosen_is_aborted(cluster, bootstrap_servers, topic):
    run = Run(cluster, topic, "only")
    run.write(0, attempt=1)
    run.run(0)
    assert len(open_transactions(cluster, f"sink-{topic}")) == TASKS
    run.ledger.sweep("only")
    assert written(bootstrap_servers, topic) == BATCHES[:TASKS]
    assert open_transactions(cluster, f"sink-{topic}") == []


def test_batch_whose_transaction_was_ended_by_another_is_not_decided(cluster, bootstrap_servers, topic):
    run = Run(cluster, topic, "only")
    producers = run.write(0)
    init_producer(Coordinators(cluster), producers[0].transactional_id, 60_000)
    with pytest.raises(SinkError, match="is not open any more, or another's"):
        run.ledger.decide("only", 0, producers)
    Run(cluster, topic, "next").run(0)
    assert written(bootstrap_servers, topic) == BATCHES[:TASKS]


def test_twin_of_a_task_in_a_repeated_stage_leaves_the_chosen_transaction_alone(cluster, bootstrap_servers, topic):
    """Spark counts its attempts from 0 again."""
    run = Run(cluster, topic, "only")
    chosen = run.write(0, attempt=0)
    twins = run.write(0, attempt=0)
    run.commit(0, chosen)
    run.ledger.sweep("only")
    assert {state.transactional_id for state in chosen}.isdisjoint(twin.transactional_id for twin in twins)
    assert written(bootstrap_servers, topic) == BATCHES[:TASKS]
    assert open_transactions(cluster, f"sink-{topic}") == []


def test_ids_are_used_again_once_their_transactions_have_ended(cluster, topic):
    run = Run(cluster, topic, "only")
    ids = []
    for batch in range(2):
        producers = run.write(batch)
        run.commit(batch, producers)
        ids.append([producer.transactional_id for producer in producers])
    assert ids[0] == ids[1]


def forget_group(bootstrap_servers: str, name: str) -> None:
    """As its expiry does, offsets.retention.minutes after the last commit."""
    admin = AdminClient({"bootstrap.servers": bootstrap_servers})
    admin.delete_consumer_groups([name])[name].result(20)


def test_decision_outlives_the_offsets_of_its_group(cluster, bootstrap_servers, topic):
    """The driver died behind its decision, and the next came when the group was forgotten."""
    older = Run(cluster, topic, "older")
    older.ledger.decide("older", 0, older.write(0))
    forget_group(bootstrap_servers, older.ledger.name)
    newer = Run(cluster, topic, "newer")
    assert newer.write(0) is None
    newer.ledger.finish(0)
    assert written(bootstrap_servers, topic) == BATCHES[:TASKS]


def test_older_checkpoint_is_known_when_the_group_is_forgotten(cluster, bootstrap_servers, topic):
    run = Run(cluster, topic, "only")
    for batch in range(3):
        run.run(batch)
    forget_group(bootstrap_servers, run.ledger.name)
    assert Run(cluster, topic, "restored").ledger.enter("restored").batch == 2


def test_decision_outlives_the_topics_it_wrote_to(cluster, bootstrap_servers, topic):
    run = Run(cluster, topic, "only")
    run.run(0)
    admin = AdminClient({"bootstrap.servers": bootstrap_servers})
    admin.delete_topics([topic])[topic].result(20)
    assert Run(cluster, topic, "next").ledger.enter("next").batch == 0


def test_query_believes_that_there_is_no_decision_only_once_others_are_decided(cluster, bootstrap_servers, topic):
    """What is behind an open transaction of the topic cannot be read yet, and may be about this query."""
    run = Run(cluster, topic, "only")
    run.run(0)
    open_one = init_producer(Coordinators(cluster), f"other-{topic}", 60_000)
    CommitDecisions(cluster, Coordinators(cluster)).write(open_one, f"other-{topic}", "{}")
    run.run(1)
    forget_group(bootstrap_servers, run.ledger.name)
    with pytest.raises(ApiError) as refused:
        CommitDecisions(cluster, Coordinators(cluster)).newest(run.ledger.name, once=True)
    assert refused.value.code is ErrorCode.UNSTABLE_OFFSET_COMMIT
    end_transaction(Coordinators(cluster), open_one, commit=False)
    assert Run(cluster, topic, "next").ledger.enter("next").batch == 1


def test_batch_is_written_again_once_its_ledger_is_forgotten(cluster, bootstrap_servers, topic):
    run = Run(cluster, topic, "only")
    run.run(0)
    run.ledger.forget()
    run.ledger.forget()
    Run(cluster, topic, "next").run(0)
    assert written(bootstrap_servers, topic) == sorted(BATCHES[:TASKS] * 2)


def test_topic_of_decisions_that_would_forget_is_refused(bootstrap_servers, cluster):
    decisions = CommitDecisions(cluster, Coordinators(cluster))
    decisions.prepare()
    admin = AdminClient({"bootstrap.servers": bootstrap_servers})
    set_cleanup_policy(admin, "delete")
    try:
        with pytest.raises(DecisionsError, match="set it to compact"):
            decisions.prepare()
    finally:
        set_cleanup_policy(admin, "compact")


def set_cleanup_policy(admin: AdminClient, policy: str) -> None:
    wanted = ConfigResource(
        ConfigResource.Type.TOPIC,
        DECISIONS_TOPIC,
        incremental_configs=[ConfigEntry("cleanup.policy", policy, incremental_operation=AlterConfigOpType.SET)],
    )
    admin.incremental_alter_configs([wanted])[wanted].result(20)


def test_batch_is_not_decided_when_its_transactions_are_about_to_time_out(cluster, topic, monkeypatch):
    run = Run(cluster, topic, "only")
    producers = run.write(0, timeout_ms=30_000)
    monkeypatch.setattr("broker.spark.ledger.MARGIN_MS", 31_000)
    monkeypatch.setattr("broker.spark.ledger.MARGIN_SHARE", 1)
    with pytest.raises(SinkError, match="times out in"):
        run.ledger.decide("only", 0, producers)


def test_part_that_was_lost_after_the_decision_is_said(cluster, bootstrap_servers, topic):
    run = Run(cluster, topic, "only")
    producers = run.write(0)
    run.ledger.decide("only", 0, producers)
    init_producer(Coordinators(cluster), producers[1].transactional_id, 60_000)
    with pytest.raises(LostPartError, match=r"a part of it is missing\. .*stream-ledger --forget"):
        run.ledger.finish(0)
    assert written(bootstrap_servers, topic) == BATCHES[:1]


def test_failed_batch_is_aborted_only_while_it_is_undecided(cluster, topic):
    run = Run(cluster, topic, "only")
    producers = run.write(0)
    assert run.ledger.is_undecided("only", 0)
    assert not run.ledger.is_undecided("another", 0)
    run.ledger.decide("only", 0, producers)
    assert not run.ledger.is_undecided("only", 0)


def test_driver_that_was_replaced_aborts_nothing_of_its_successor(cluster, bootstrap_servers, topic):
    """It stood still between its last batch and the sweep behind it."""
    older, newer = Run(cluster, topic, "older"), Run(cluster, topic, "newer")
    older.run(0)
    producers = newer.write(1)
    newer.ledger.decide("newer", 1, producers)
    older.ledger.sweep("older")
    newer.ledger.finish(1)
    assert written(bootstrap_servers, topic) == BATCHES[: 2 * TASKS]


def test_driver_that_is_replaced_while_it_takes_over_aborts_nothing_of_its_successor(
    cluster, bootstrap_servers, topic, monkeypatch
):
    producers = []
    older, newer = Run(cluster, topic, "older"), Run(cluster, topic, "newer")

    def find_when_the_newer_one_has_written(*request):
        monkeypatch.undo()
        producers.extend(newer.write(0))
        return open_transactions(*request)

    monkeypatch.setattr(ledgers, "open_transactions", find_when_the_newer_one_has_written)
    monkeypatch.setattr(ledgers, "_TAKE_OVER_TIMEOUT_S", -1)
    with pytest.raises(ApiError):
        older.write(0)
    newer.commit(0, producers)
    assert written(bootstrap_servers, topic) == BATCHES[:TASKS]


def test_sweep_leaves_alone_a_query_whose_name_begins_the_same(cluster, bootstrap_servers, topic):
    run = Run(cluster, topic, "only")
    run.run(0)
    coordinators = Coordinators(cluster)
    other = init_producer(coordinators, f"sink-{topic}-eu-0.0", 60_000)
    row = pa.array([b"of another"], pa.binary())
    TaskProducer(Leaders(cluster), coordinators, other, Compression.NONE).write({run.at: EncodedRows(row, row, None)})
    run.ledger.sweep("only")
    end_transaction(coordinators, other, commit=True)
    assert b"of another" in written(bootstrap_servers, topic)


def test_decided_batch_is_finished_though_nothing_of_it_is_left_to_read(cluster, bootstrap_servers, topic):
    """What it read was compacted away before its driver came back."""
    before = Run(cluster, topic, "before")
    before.ledger.decide("before", 0, before.write(0))
    client = read_sink_settings({"kafka.bootstrap.servers": bootstrap_servers})
    writer = StreamWriter(SinkOptions(client, topic, None, None))
    writer.commit([TaskResult(before.ledger.name, "after", 0)], 0)
    assert written(bootstrap_servers, topic) == BATCHES[:TASKS]


def test_decision_has_room_for_a_thousand_tasks():
    name = "barnabas-sink-" + "0" * 36 + ".topics"
    producers = tuple(
        ProducerIdentity(f"{name}-{task}.{task % 50 == 0:d}", 2**40 + task * 2, 3) for task in range(1_000)
    )
    decision = CommitDecision("1" * 36, ProducerIdentity(name, 3_999, 7), 12, producers)
    text = decision.to_text()
    assert len(text) < 4_096
    assert parse_decision(name, text) == decision


def test_batch_of_more_tasks_than_fit_is_refused(cluster, topic, monkeypatch):
    run = Run(cluster, topic, "only")
    producers = run.write(0)
    monkeypatch.setattr(ledgers, "_METADATA_BYTES_MAX", 50)
    with pytest.raises(TooManyTasksError, match="2 tasks are too many for one batch"):
        run.ledger.decide("only", 0, producers)
