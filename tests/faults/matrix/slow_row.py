"""A follower that does not keep up."""

import threading
import time

from confluent_kafka import Producer

from tests.barnabas_cluster import await_true
from tests.faults.matrix.stage import Stage

_LAG_S = 2.0
#: The session outlives the pause: the follower is slow, not gone.
PATIENT = {"replica.lag.time.max.ms": str(int(_LAG_S * 1000)), "zookeeper.session.timeout.ms": "6000"}
_PAUSE_S = 4.2
_BURSTS = 8
_BURST_S = 0.6
#: Out after one and a half of the lag allowed at most, and the machine may be busy.
_ACK_S_MAX = 1.5 * _LAG_S + 1.5


def slow_follower(stage: Stage) -> None:
    """It leaves the ISR by time, which bounds what producers wait; then it stutters and holds nobody up for long.

    At last it stands still while it is in sync, and the two others die: what it does not have was not acknowledged.
    """
    slow, leader = stage.random.sample(stage.others(), 2)
    stage.create("watched", [(leader, *stage.others(leader))])
    with _Prober(stage, "watched") as prober:
        at = stage.suspend(slow)
        stage.await_isr("watched", 0, stage.others(slow), _PAUSE_S)
        stage.measured["out"] = time.monotonic() - at
        if stage.watch.broker_epoch(slow) < 0:
            stage.violations.append("the follower was taken for dead, not for slow")
        stage.stay_until(at + _PAUSE_S)
        stage.resume(slow)
        stage.await_whole()
        for _ in range(_BURSTS):
            at = stage.suspend(slow)
            stage.stay_until(at + _BURST_S)
            at = stage.resume(slow)
            stage.stay_until(at + _BURST_S / 2)
    stage.measured["slowest ack"] = prober.slowest_s
    if prober.slowest_s > _ACK_S_MAX:
        stage.violations.append(f"acks=all took {prober.slowest_s:.1f} s, {_ACK_S_MAX:.1f} are allowed")
    stage.await_whole()
    stage.await_progress()
    at = stage.suspend(slow)
    stage.stay_until(at + _BURST_S)
    stage.kill(*stage.others(slow))
    for other in stage.others(slow):
        stage.expire_session(other)
    stage.resume(slow)
    for partition in range(6):
        stage.await_leader("kept", partition, [slow])
    stage.expect_too_few_in_sync("alone", slow, "kept", stage.random.randrange(6))


class _Prober:
    """Writes one record at a time with acks=all and remembers the longest wait."""

    def __init__(self, stage: Stage, topic: str):
        settings = {"bootstrap.servers": stage.cluster.bootstrap_servers, "acks": "all", "linger.ms": 0, "log_level": 0}
        self._producer = Producer(settings)
        self._topic = topic
        self._stage = stage
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._probe, daemon=True)
        self.acknowledged = 0
        self.slowest_s = 0.0

    def __enter__(self) -> "_Prober":
        """Returns when the first record is acknowledged: a follower of a partition nobody writes to is never late."""
        self._thread.start()
        await_true(lambda: self.acknowledged, "the prober gets an answer")
        return self

    def __exit__(self, *_error: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _probe(self) -> None:
        number = 0
        while not self._is_over.is_set():
            began = time.monotonic()
            self._producer.produce(self._topic, f"probe/{number}|".encode(), on_delivery=self._delivered)
            self._producer.flush(30)
            self.slowest_s = max(self.slowest_s, time.monotonic() - began)
            number += 1
            self._is_over.wait(0.05)

    def _delivered(self, error, _message) -> None:
        if error is not None:
            self._stage.violations.append(f"a probe failed: {error}")
        else:
            self.acknowledged += 1
