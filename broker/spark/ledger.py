"""What a query has written to its topics: the newest batch decided, and by whom; kept in Kafka itself.

A batch is written by many tasks, each in a transaction of its own, because a transaction has one producer. So that all
of them count or none, they are committed in two phases. A task writes its records, leaves its transaction open and
hands its identity to the driver. When all have, the driver *decides*: one record with the batch's number and the
identities, as the committed offset of a group that is named after the query, and in the topic of decisions.py, which
does not forget; both in one transaction. Only then are the tasks' transactions committed. From the decision on,
committing is all anybody may do with them; before it, aborting.

Why a batch is there once, whatever dies when:

* Before the decision nothing of the batch is committed. Whoever runs it again finds no decision, aborts the tasks'
  transactions as it takes over (below) and writes it anew.
* After the decision whoever runs it again finds it, writes nothing, and commits what is not committed yet. To end a
  transaction again as it ended is no error, so this can be repeated at any time.
* Two drivers (the older one paused, or cut off): a run of a query *takes over* the ledger before its first task touches
  any transaction. That raises the epoch of the ledger's own producer, which a decision needs: the older driver can
  decide before that moment, and then the newer one sees it, or never again. Runs are told apart by Spark's run id.
* Two attempts of a task have different transactional ids; only the attempt that Spark has chosen is in the decision.
  Spark counts attempts anew when it tries a whole stage again (SPARK-24552), so an id that holds a transaction open is
  not taken, whatever its number says.
  What the others left open is aborted, after each batch and by a take-over: the driver lists it with its epochs, then
  makes sure that it has not been replaced, then aborts what is still of those epochs; a newer driver's tasks have
  others.
* A transaction that timed out would be aborted behind a decision's back, so no batch is decided unless each of its
  transactions is open, is the one the task wrote, and has MARGIN_MS left. A driver that dies after the decision must be
  back within this margin; a batch of which a part was aborted is refused, not repeated: LostPartError says what to do.
* A batch below the newest decided one comes from an older copy of the checkpoint. What it holds now may be something
  else; it is refused.
"""

import base64
import json
import random
import re
import time
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import accumulate, count, pairwise

from broker.client.cluster import ClusterConnections
from broker.client.coordinators import Coordinators
from broker.client.transactions import (
    ONGOING,
    UNDECIDED,
    ProducerIdentity,
    commit_offset,
    describe_transaction,
    end_transaction,
    init_producer,
    open_transactions,
)
from broker.common.errors import ApiError, BarnabasError, ErrorCode, error_code_of
from broker.protocol.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from broker.protocol.messages.find_coordinator import CoordinatorType
from broker.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from broker.spark.decisions import PARTITION, CommitDecisions

#: Time a transaction must have left when its batch is decided.
MARGIN_MS = 60_000
#: The same, of transactions that are short, as a share of their time.
MARGIN_SHARE = 0.5
#: Of the ledger's own producer; its transactions take milliseconds.
_LEDGER_TIMEOUT_MS = 60_000
#: Kafka's default of offset.metadata.max.bytes.
_METADATA_BYTES_MAX = 4_096
#: How long another task's take-over is waited for before it counts as dead.
_STABLE_PATIENCE_S = 3.0
_TAKE_OVER_TIMEOUT_S = 60.0
_FENCED = (ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.INVALID_TXN_STATE)
#: The newest version that asks for one group.
_ONE_GROUP = 7
_NO_BATCH = -1


class SinkError(BarnabasError):
    """A batch cannot be written now, or not by this driver."""


class OldCheckpointError(SinkError):
    """The query continues from an older copy of its checkpoint, so its batch may contain other records now."""


class TooManyTasksError(SinkError):
    """The tasks of a batch do not fit the ledger's record."""


class LostPartError(SinkError):
    """A decided batch is in the topics in part only: its driver was away for longer than its transactions lived."""


@dataclass(frozen=True)
class CommitDecision:
    """The ledger's record. `producers` wrote `batch`; `run` is the query's run that may decide the next one."""

    run: str = ""
    committer: ProducerIdentity | None = None
    batch: int = _NO_BATCH
    producers: tuple[ProducerIdentity, ...] = ()

    def to_text(self) -> str:
        """Write the decision; some 1,500 tasks fit into an offset's metadata."""
        assert self.committer is not None, "no run has taken over"
        who = [self.committer.producer_id, self.committer.epoch]
        name = self.committer.transactional_id
        tasks: list[tuple[int, ...]] = [
            (*_task_of(name, task.transactional_id), task.producer_id, task.epoch) for task in self.producers
        ]
        fields = {"batch": self.batch, "run": self.run, "by": who, "tasks": _packed(tasks)}
        return json.dumps(fields, separators=(",", ":"))


def parse_decision(name: str, text: str, offset: int = 0) -> CommitDecision:
    """Parse a decision. `offset` was committed with it; in older ledgers only that names the batch."""
    document = json.loads(text)
    tasks = _unpacked(document["tasks"])
    producers = tuple(ProducerIdentity(_id_of(name, task, attempt), *who) for task, attempt, *who in tasks)
    batch = document.get("batch", offset - 1)
    return CommitDecision(document["run"], ProducerIdentity(name, *document["by"]), batch, producers)


def is_task_id(text: str) -> bool:
    """Return whether it ends as the id of a task does: no ledger may be named so."""
    return re.search(r"-\d+\.\d+$", text) is not None


def _id_of(name: str, task: int, attempt: int) -> str:
    return f"{name}-{task}.{attempt}"


def _task_of(name: str, transactional_id: str) -> tuple[int, int]:
    task, attempt = transactional_id.removeprefix(f"{name}-").split(".")
    return int(task), int(attempt)


def _packed(tasks: list[tuple[int, ...]]) -> str:
    """Pack the tasks by columns, each number as its step from the one before, which leaves hardly anything of tasks in
    order.
    """
    columns = [[after - before for before, after in pairwise((0, *column))] for column in zip(*tasks, strict=True)]
    return base64.b64encode(zlib.compress(json.dumps(columns, separators=(",", ":")).encode(), 9)).decode()


def _unpacked(text: str) -> list[tuple[int, ...]]:
    columns = json.loads(zlib.decompress(base64.b64decode(text)))
    return list(zip(*(accumulate(column) for column in columns), strict=True))


class SinkCommitLog:
    """Sink commit log of one query, or of one of its outputs. `name` is its group, its producer, and how its tasks' ids
    begin.

    Every method may raise ApiError and BrokerUnreachable.
    """

    def __init__(self, name: str, cluster: ClusterConnections, coordinators: Coordinators):
        self.name = name
        self._cluster = cluster
        self._coordinators = coordinators
        self._decisions = CommitDecisions(cluster, coordinators)

    def free_id(self, task: int, attempt: int) -> str:
        """Return a free transactional id for an attempt of a task.

        Two that ask at one moment may hear the same: whoever begins first is fenced before it has written anything.
        """
        return next(name for number in count(attempt) if self._is_free(name := _id_of(self.name, task, number)))

    def _is_free(self, transactional_id: str) -> bool:
        try:
            state = describe_transaction(self._coordinators, transactional_id)
        except ApiError as error:
            if error.code is ErrorCode.TRANSACTIONAL_ID_NOT_FOUND:
                return True
            raise
        return state.transaction_state not in UNDECIDED

    def enter(self, run: str) -> CommitDecision:
        """Return the last decision, after fencing every run but `run`."""
        deadline = time.monotonic() + _TAKE_OVER_TIMEOUT_S
        while True:
            decision = self._read_when_stable()
            if decision is not None and decision.run == run:
                return decision
            try:
                return self._take_over(run)
            except ApiError as error:
                if error.code not in _FENCED or time.monotonic() > deadline:
                    raise
                # Another task of the run does the same: one of them will have it, all others find it done.
                time.sleep(random.uniform(0.02, 0.3))

    def _take_over(self, run: str) -> CommitDecision:
        self._decisions.prepare()
        committer = init_producer(self._coordinators, self.name, _LEDGER_TIMEOUT_MS)
        decision = self._read()
        if decision.run != run:
            abandoned = self._open_tasks(keep=decision.producers)
            # Refused if yet another driver has come meanwhile: what is listed may be of its tasks.
            committer = init_producer(self._coordinators, self.name, _LEDGER_TIMEOUT_MS, committer)
            self._abort(abandoned)
        decision = replace(decision, run=run, committer=committer)
        self._write(decision, committer)
        return decision

    def decide(self, run: str, batch: int, producers: Iterable[ProducerIdentity]) -> None:
        """Decide the batch as written. SinkError if another driver took over, or a transaction is not open.

        TooManyTasksError for more than a decision has room for.
        """
        decision = self._read()
        if decision.run != run:
            raise SinkError(f"{self.name}: another driver of the query has taken over")
        if batch <= decision.batch:
            raise OldCheckpointError(f"{self.name}: batch {decision.batch} is written already, this is batch {batch}")
        producers = tuple(producers)
        for producer in producers:
            self._check_open(producer)
        committer = init_producer(self._coordinators, self.name, _LEDGER_TIMEOUT_MS, decision.committer)
        self._write(CommitDecision(run, committer, batch, producers), committer)

    def finish(self, batch: int) -> None:
        """Commit the transactions that the decision on `batch` names. Repeating it is no error. LostPartError if it is
        too late.
        """
        decision = self._read()
        if decision.batch != batch:
            raise SinkError(f"{self.name}: batch {decision.batch} is decided, not {batch}")
        for producer in decision.producers:
            try:
                end_transaction(self._coordinators, producer, commit=True)
            except ApiError as error:
                raise LostPartError(
                    f"{self.name}: batch {batch} was decided and {producer.transactional_id} cannot be committed any "
                    f"more ({error.message}), so that a part of it is missing. To have the batch written again, "
                    f"run: python -m broker stream-ledger --forget {self.name}; what did arrive of it then comes twice."
                ) from error

    def finish_if_decided(self, batch: int) -> None:
        """Finish the batch if it was decided earlier; for one that was rerun without output."""
        if self._read().batch == batch:
            self.finish(batch)

    def sweep(self, run: str) -> None:
        """Abort, between batches, transactions that repeated tasks left open; no-op if another driver has
        taken over.
        """
        abandoned = self._open_tasks()
        if abandoned and self._read().run == run:
            self._abort(abandoned)

    def _open_tasks(self, keep: Iterable[ProducerIdentity] = ()) -> list[ProducerIdentity]:
        """Return producers with an open transaction as a task of this query, in their current epoch."""
        kept = {producer.transactional_id for producer in keep}
        of_task = re.compile(re.escape(self.name) + r"-\d+\.\d+")
        identities = []
        for transactional_id in open_transactions(self._cluster, f"{self.name}-"):
            if of_task.fullmatch(transactional_id) and transactional_id not in kept:
                state = describe_transaction(self._coordinators, transactional_id)
                identities.append(ProducerIdentity(transactional_id, state.producer_id, state.producer_epoch))
        return identities

    def _abort(self, producers: Iterable[ProducerIdentity]) -> None:
        """Abort the producers' transactions; one with another epoch by now is left alone."""
        for producer in producers:
            try:
                init_producer(self._coordinators, producer.transactional_id, _LEDGER_TIMEOUT_MS, producer)
            except ApiError as error:
                if error.code not in _FENCED:
                    raise

    def is_undecided(self, run: str, batch: int) -> bool:
        """Return whether `run` may decide on the batch and has not; False when in doubt."""
        decision = self._read_when_stable(0)
        return decision is not None and decision.run == run and decision.batch < batch

    def _check_open(self, producer: ProducerIdentity) -> None:
        state = describe_transaction(self._coordinators, producer.transactional_id)
        left_ms = state.transaction_start_time_ms + state.transaction_timeout_ms - time.time_ns() // 1_000_000
        is_its_own = (state.producer_id, state.producer_epoch) == (producer.producer_id, producer.epoch)
        if state.transaction_state != ONGOING or not is_its_own:
            raise SinkError(f"the transaction of {producer.transactional_id} is not open any more, or another's")
        if left_ms < min(MARGIN_MS, MARGIN_SHARE * state.transaction_timeout_ms):
            raise SinkError(f"{producer.transactional_id} times out in {left_ms} ms, which is too soon to commit it")

    def forget(self) -> None:
        """Forget the decisions, as if nothing had been written; a running query cannot decide any more."""
        committer = init_producer(self._coordinators, self.name, _LEDGER_TIMEOUT_MS)
        self._decisions.write(committer, self.name, None)
        end_transaction(self._coordinators, committer, commit=True)
        self._coordinators.ask(
            CoordinatorType.GROUP,
            self.name,
            DeleteGroupsRequest(groups_names=[self.name]),
            _error_of_deletion,
        )

    def _write(self, decision: CommitDecision, committer: ProducerIdentity) -> None:
        """Write the decision in a transaction of the producer it names as its committer."""
        text = decision.to_text()
        if len(text) > _METADATA_BYTES_MAX:
            count = len(decision.producers)
            raise TooManyTasksError(f"{count} tasks are too many for one batch: coalesce the rows first")
        self._decisions.write(committer, self.name, text)
        commit_offset(self._coordinators, committer, self.name, PARTITION, decision.batch + 1, text)
        end_transaction(self._coordinators, committer, commit=True)

    def _read_when_stable(self, patience_s: float = _STABLE_PATIENCE_S) -> CommitDecision | None:
        """Read the decision; None while a transaction on the ledger stays open."""
        deadline = time.monotonic() + patience_s
        while True:
            try:
                return self._read(once=True)
            except ApiError as error:
                if error.code is not ErrorCode.UNSTABLE_OFFSET_COMMIT:
                    raise
                if time.monotonic() >= deadline:
                    return None
                time.sleep(0.05)

    def _read(self, *, once: bool = False) -> CommitDecision:
        """Read the decision. `once`: an open transaction on the ledger is not waited for."""
        request = OffsetFetchRequest(group_id=self.name, topics=None, require_stable=True)
        answer = self._coordinators.ask(
            CoordinatorType.GROUP,
            self.name,
            request,
            lambda response: 0 if once else _error_of(response),
            version_max=_ONE_GROUP,
        )
        if once and (code := _error_of(answer)):
            raise ApiError(error_code_of(code))
        partitions = [
            partition for topic in answer.topics for partition in topic.partitions if partition.committed_offset >= 0
        ]
        if partitions:
            newest = max(partitions, key=lambda partition: partition.committed_offset)
            return parse_decision(self.name, newest.metadata or "", newest.committed_offset)
        text = self._decisions.newest(self.name, once=once)
        return CommitDecision() if text is None else parse_decision(self.name, text)


def _error_of_deletion(answer: DeleteGroupsResponse) -> int:
    code = answer.results[0].error_code
    return ErrorCode.NONE if code == ErrorCode.GROUP_ID_NOT_FOUND else code


def _error_of(answer: OffsetFetchResponse) -> int:
    codes = [partition.error_code for topic in answer.topics for partition in topic.partitions]
    return answer.error_code or next((code for code in codes if code), 0)
