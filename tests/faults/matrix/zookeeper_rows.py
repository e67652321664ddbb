"""ZooKeeper that forgets a broker, or that is not there."""

import time

from tests.barnabas_cluster import await_true
from tests.faults.matrix.stage import WHOLE_WITHIN_S, Stage

_QUORUM_LOST_S = 12.0


def expire_sessions(stage: Stage) -> None:
    """The session of each broker in turn, and of all at once; no process ends, and nothing that was held is dropped."""
    everybody = stage.others()
    for item in stage.random.sample(everybody, len(everybody)):
        _expire(stage, [item])
        stage.await_whole()
    _expire(stage, everybody)
    stage.await_whole()


def _expire(stage: Stage, broker_ids: list[int]) -> None:
    before = {broker_id: stage.watch.broker_epoch(broker_id) for broker_id in broker_ids}
    began = time.monotonic()
    for broker_id in broker_ids:
        stage.expire_session(broker_id)
    for broker_id in broker_ids:
        await_true(
            lambda broker_id=broker_id: stage.watch.broker_epoch(broker_id) > before[broker_id],
            f"broker {broker_id} is registered anew",
            WHOLE_WITHIN_S,
        )
    took = time.monotonic() - began
    stage.measured["registered"] = max(took, stage.measured.get("registered", 0.0))


def lose_the_quorum(stage: Stage) -> None:
    """Two of three servers stand still, the leader among them: clients are served on by whoever led."""
    servers = stage.cluster.zookeeper.servers
    leader = stage.cluster.zookeeper.leader()
    still = [leader, next(server for server in servers if server is not leader)]
    states = {replica: stage.watch.state(replica) for replica in stage.replicas}
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
    for item, before in states.items():
        after = stage.watch.state(item)
        if set(after.isr) != set(before.isr) and after.leader_epoch == before.leader_epoch:
            stage.violations.append(
                f"the ISR of {item} changed from {before.isr} to {after.isr} by an outage of ZooKeeper"
            )
