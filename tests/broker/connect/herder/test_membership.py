"""What a worker says of its group while it cannot be reached: each trouble once, and when it is over."""

import time
from concurrent.futures import Future
from types import SimpleNamespace

from broker.client.errors import BrokerUnreachable
from broker.common.errors import ApiError, ErrorCode
from broker.connect.group.wire import Assignment, encode_assignment
from broker.connect.herder import membership
from broker.connect.herder.membership import GroupWorker
from broker.connect.storage.configurations import Configurations
from tests.barnabas_cluster import await_true

_TRIES = 3


class Member:
    """Away for some tries, then without a coordinator for some, then there."""

    def __init__(self):
        self._left = [BrokerUnreachable(f"refused, {n}") for n in range(_TRIES)]
        self._left += [ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE, "not yet")] * _TRIES
        self.heard_at = time.monotonic()
        self.is_member = False

    def _ask(self):
        if self._left:
            raise self._left.pop(0)

    def join(self, _protocols):
        self._ask()
        return SimpleNamespace(protocol="sessioned", is_leader=False, generation=1, members={})

    def sync(self, _parts):
        self.is_member = True
        return encode_assignment(Assignment("leader", "http://leader:1/"), 2)

    def heartbeat(self):
        self._ask()
        if not self.is_member:
            raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID, "who are you")

    def leave(self):
        return


class Log:
    def __init__(self):
        self.lines = []

    def warning(self, event, **_facts):
        self.lines.append(event)

    info = error = exception = warning


def test_a_group_that_is_away_is_told_once_for_each_trouble_and_once_when_it_is_back(monkeypatch):
    log, member = Log(), Member()
    monkeypatch.setattr(membership, "_log", log)
    monkeypatch.setattr(membership, "_PAUSE_S", 0.001)
    settings = SimpleNamespace(
        connect_protocol="sessioned", session_timeout_ms=10_000, heartbeat_interval_ms=1,
        task_shutdown_graceful_timeout_ms=0, scheduled_rebalance_max_delay_ms=0,
    )  # fmt: skip

    def run_only(_units):
        done = Future()
        done.set_result(None)
        return done

    herder = SimpleNamespace(settings=settings, configurations=Configurations(), run_only=run_only, heard=lambda: None)
    worker = GroupWorker(herder, member, "http://here:1/", lambda: None)
    worker.start()
    try:
        await_true(lambda: "joined" in log.lines, "joined")
    finally:
        worker.stop()
    # It says no for two reasons: it has no coordinator, and knows us no more.
    assert log.lines == ["group not reached", "group says no", "group says no", "group reached again", "joined"]
