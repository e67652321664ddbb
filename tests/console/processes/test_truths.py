"""Four truths, one honest state: one line per situation."""

import pytest

from console.processes.states import Observed
from console.processes.truths import ClusterTruth, ProcessState, RegistrationState, Truths, honest_state

NOW = 1_000_000_000
ABSENT = ClusterTruth(RegistrationState.ABSENT, "it is not registered in ZooKeeper", NOW)
CLIENT = ClusterTruth(RegistrationState.NONE, "it is a client")
UNKNOWN = ClusterTruth(RegistrationState.UNKNOWN, "the collector has not looked of late")


def present(replicas: int | None = 12, in_sync: int | None = 12, partitions_at_ms: int = NOW) -> ClusterTruth:
    return ClusterTruth(RegistrationState.PRESENT, "it is registered", NOW, partitions_at_ms, replicas, in_sync)


def truths(observed: Observed, cluster: ClusterTruth, **given) -> Truths:
    usual = {"now_ms": NOW, "sentence": "since 12:03", "running_since_ms": NOW - 100_000}
    return Truths(observed=observed, cluster=cluster, **(usual | given))


RUNNING, EXITED, STOPPED = Observed.RUNNING, Observed.EXITED, Observed.STOPPED
TABLE = [
    # it runs, and the cluster …
    (truths(RUNNING, present()), ProcessState.HEALTHY, "all 12 partitions in sync"),
    (truths(RUNNING, present(None, None)), ProcessState.HEALTHY, "it is registered"),
    (truths(RUNNING, CLIENT), ProcessState.HEALTHY, "since 12:03"),
    (truths(RUNNING, present(1_200, 7)), ProcessState.CATCHING_UP, "7 of 1,200 partitions in sync"),
    (truths(RUNNING, present(0, 0)), ProcessState.REGISTERED, "it holds no partition yet"),
    (
        truths(RUNNING, present(partitions_at_ms=NOW - 200_000)),
        ProcessState.REGISTERED,
        "its partitions have not been read since it came",
    ),
    (
        truths(RUNNING, UNKNOWN),
        ProcessState.RUNNING,
        "since 12:03; what the cluster says is not known: the collector has not looked of late",
    ),
    (truths(RUNNING, ABSENT), ProcessState.UNREGISTERED, "it answers, but it is not registered in ZooKeeper"),
    (
        truths(RUNNING, ABSENT, running_since_ms=NOW - 2_000),
        ProcessState.STARTING,
        "it answers; the cluster has not been asked since: it is not registered in ZooKeeper yet",
    ),
    # it dies again and again
    (
        truths(RUNNING, present(), deaths=3, running_since_ms=NOW - 59_000),
        ProcessState.FLAPPING,
        "died 3 times within 10 minutes; since 12:03",
    ),
    (truths(RUNNING, present(), deaths=3), ProcessState.HEALTHY, "all 12 partitions in sync"),
    (truths(EXITED, ABSENT, deaths=4), ProcessState.FLAPPING, "died 4 times within 10 minutes; since 12:03"),
    (truths(EXITED, ABSENT, deaths=2), ProcessState.EXITED, "since 12:03"),
    # it is gone
    (truths(STOPPED, ABSENT), ProcessState.STOPPED, "since 12:03"),
    (truths(STOPPED, UNKNOWN), ProcessState.STOPPED, "since 12:03"),
    (
        truths(EXITED, present()),
        ProcessState.DEAD_REGISTERED,
        "the cluster counts on it until its session ends; since 12:03",
    ),
    (
        truths(STOPPED, present()),
        ProcessState.DEAD_REGISTERED,
        "the cluster counts on it until its session ends; since 12:03",
    ),
    (truths(STOPPED, present(), ended_ms=NOW - 1_999), ProcessState.STOPPED, "since 12:03"),
    (truths(Observed.FAILED, ABSENT), ProcessState.FAILED, "since 12:03"),
    # on the way
    (truths(Observed.STARTING, ABSENT), ProcessState.STARTING, "since 12:03"),
    (truths(Observed.STOPPING, present()), ProcessState.STOPPING, "since 12:03"),
    # it does not answer
    (truths(Observed.UNRESPONSIVE, present()), ProcessState.UNRESPONSIVE, "since 12:03"),
    (truths(Observed.UNRESPONSIVE, present(), suspended=True), ProcessState.SUSPENDED, "since 12:03"),
]


@pytest.mark.parametrize(("known", "state", "sentence"), TABLE, ids=lambda value: str(value)[:40])
def test_one_honest_state_follows_from_four_truths(known, state, sentence):
    honest = honest_state(known)
    assert (honest.state, honest.sentence) == (state, sentence)


def test_every_state_is_reached_by_the_table():
    assert {state for _, state, _ in TABLE} == set(ProcessState)
