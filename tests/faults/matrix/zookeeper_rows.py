"""ZooKeeper that forgets a broker, or that is not there."""

import time

from tests.barnabas_cluster import await_true
from tests.faults.matrix.stage import WHOLE_WITHIN_S, Stage

_QUORUM_LOST_S = 12.0


def expire_sessions(stage: Stage) -> None:
    """The session of each broker in turn, and of all at once; no process ends, and nothing that was held is dropped."""
    everybody = stage.others()
    for each in stage.random.sample(everybody, len(everybody)):
        _expire(stage, [each])
        stage.await_whole()
    _expire(stage, everybody)
    stage.await_whole()


def _expire(stage: Stage, broker_ids: list[int]) -> None:
    before = {each: stage.watch.broker_epoch(each) for each in broker_ids}
    began = time.monotonic()
    for each in broker_ids:
        stage.expire_session(each)
    for each in broker_ids:
        await_true(
            lambda each=each: stage.watch.broker_epoch(each) > before[each],
            f"broker {each} is registered anew",
            WHOLE_WITHIN_S,
        )
    took = time.monotonic() - began
    stage.measured["registered"] = max(took, stage.measured.get("registered", 0.0))


def lose_the_quorum(stage: Stage) -> None:
    """Two of three servers stand still, the leader among them: clients are served on by whoever led."""
    servers = stage.cluster.zookeeper.servers
    leader = stage.cluster.zookeeper.leader()
    still = [leader, next(server for server in servers if server is not leader)]
    states = {each: stage.watch.state(each) for each in stage.replicas}
    at = stage.note("stopped two ZooKeeper servers of three")
    for server in still:
        server.suspend()
    try:
        while time.monotonic() < at + _QUORUM_LOST_S:
            stage.await_progress()
    finally:
        for server in still:
            server.resume()
        back = stage.note("continued the ZooKeeper servers")
    await_true(lambda: stage.watch.is_connected, "ZooKeeper answers again", WHOLE_WITHIN_S)
    stage.measured["quorum"] = time.monotonic() - back
    for each, before in states.items():
        after = stage.watch.state(each)
        if set(after.isr) != set(before.isr) and after.leader_epoch == before.leader_epoch:
            stage.found.append(f"the ISR of {each} changed from {before.isr} to {after.isr} by an outage of ZooKeeper")
