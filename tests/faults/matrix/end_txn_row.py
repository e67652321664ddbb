"""Coordinators die in the middle of what they coordinate: of a rebalance, and of the end of a transaction."""

from broker.coordinator.partitions import partition_for
from tests.barnabas_cluster import await_true
from tests.faults.matrix.committer import (
    ATOMIC,
    REPLICAS,
    TRANSACTIONS,
    TRANSACTIONS_PARTITIONS,
    Committer,
    check_atomic,
)
from tests.faults.matrix.group_row import kill_the_coordinator
from tests.faults.matrix.stage import WHOLE_WITHIN_S, Stage

_LOOPS = 25
#: From the client's call to the last marker written.
_END_S = 0.02


def kill_both_coordinators(stage: Stage) -> None:
    """Half of the kills each; what is asked of groups and of transactions is asked after all of them."""
    kill_the_coordinator(stage)
    stage.create(ATOMIC, REPLICAS)
    committer = Committer("ending", stage.cluster.bootstrap_servers)
    committer.start()
    try:
        await_true(lambda: committer.count or committer.failure, "a first transaction is committed", WHOLE_WITHIN_S)
        stage.follow_internal(TRANSACTIONS, TRANSACTIONS_PARTITIONS)
        stage.await_whole()
        stage.measured["transaction coordinator"] = max(_kill_once(stage, committer) for _ in range(_LOOPS))
    finally:
        committer.stop()
    check_atomic(stage, committer)


def _kill_once(stage: Stage, committer: Committer) -> float:
    """Seconds until the next transaction was committed."""
    partition = partition_for(committer.name, TRANSACTIONS_PARTITIONS)
    coordinator = stage.state(TRANSACTIONS, partition).leader
    committer.is_ending.clear()
    committer.is_ending.wait(WHOLE_WITHIN_S)
    began = stage.note("a transaction is being ended")
    stage.stay_until(began + stage.random.uniform(0, _END_S))
    before = committer.count
    at = stage.kill_and_expire(coordinator)
    await_true(lambda: committer.count > before + 1 or committer.failure, "transactions go on", WHOLE_WITHIN_S)
    took = stage.note("transactions go on") - at
    stage.start(coordinator)
    stage.heal()
    stage.await_whole()
    return took
