"""One broker of ours and one of Apache Kafka's, set alike, each with a listener for users without any right."""

import contextlib
import functools
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.apache_kafka import running_kafka
from tests.barnabas_cluster import running_cluster
from tests.reference.comparison import Processes, Reference
from tests.reference.dialogues.messages import request_of
from tests.reference.dialogues.speaker import Speaker
from tests.reference.dialogues.tools import Tools, our_tools, tools_of
from tests.zookeeper_server import free_ports

_ALIKE = {
    "super.users": "User:ANONYMOUS",
    "sasl.enabled.mechanisms": "PLAIN",
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "1000",
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.num.partitions": "3",
}
_LOGIN = 'org.apache.kafka.common.security.plain.PlainLoginModule required user_limited="limited";'
_READY_WITHIN_S = 60.0
#: By side: host, port, and the port where users log in.
_places: dict[str, tuple[str, int, int]] = {}


@contextlib.contextmanager
def running_ours() -> Iterator[None]:
    """Run our broker; `outcome_of_ours` speaks with it."""
    (login_port,) = free_ports(1)
    overrides = _ALIKE | {
        "listeners": f"PLAINTEXT://127.0.0.1:{{port}},LOGIN://127.0.0.1:{login_port}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,LOGIN:SASL_PLAINTEXT",
        "listener.name.login.plain.sasl.jaas.config": _LOGIN,
        "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
    }
    with running_cluster(overrides=overrides) as cluster:
        place = ("127.0.0.1", cluster.brokers[0].port, login_port)
        _make_ready(Speaker(*place, our_tools))
        _places["ours"] = place
        yield
    del _places["ours"]


def outcome_of_ours(case: dict) -> dict:
    """Return what our broker, or our tools where the case says, make of a dialogue."""
    return _speaker(case.get("at", "ours"), our_tools).outcome(case)


class _KafkaSide:
    def __init__(self, tools: Tools):
        self._tools = tools

    def outcomes(self, cases: list[dict]) -> list[dict]:
        return [_speaker(case.get("at", "kafka"), self._tools).outcome(case) for case in cases]


@functools.lru_cache
def _at(place: tuple[str, int, int], tools: Tools) -> Speaker:
    return Speaker(*place, tools)


def _speaker(where: str, tools: Tools) -> Speaker:
    """Return who speaks with the broker `where`; dialogues of both kinds of tools there keep apart by their numbers."""
    return _at(_places[where], tools)


@contextlib.contextmanager
def running_reference(program: Reference) -> Iterator[Reference]:
    """Run Kafka's broker."""
    (login_port,) = free_ports(1)
    overrides = _ALIKE | {
        "listeners": f"{{}},LOGIN://127.0.0.1:{login_port}",
        "listener.security.protocol.map": "{},LOGIN:SASL_PLAINTEXT",
        "listener.name.login.plain.sasl.jaas.config": _LOGIN,
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    }
    with (
        tempfile.TemporaryDirectory(prefix="reference-") as directory,
        running_kafka(Path(directory), overrides=overrides) as servers,
    ):
        place = ("127.0.0.1", int(servers.rpartition(":")[2]), login_port)
        tools = tools_of(program)
        _make_ready(Speaker(*place, tools))
        _places["kafka"] = place
        yield _KafkaSide(tools)
    del _places["kafka"]


def _make_ready(speaker: Speaker) -> None:
    """Wait until both coordinators have their topics."""
    group = ("FIND_COORDINATOR", {"key": "ready", "key_type": 0}, 2)
    transaction = ("FIND_COORDINATOR", {"key": "ready", "key_type": 1}, 2)
    offsets = ("OFFSET_FETCH", {"group_id": "ready", "topics": None}, 5)
    producer = ("INIT_PRODUCER_ID", {"transactional_id": "ready", "transaction_timeout_ms": 1000}, 1)
    with speaker.connected() as connection:
        for api, body, version in (group, transaction, offsets, producer):
            deadline = time.monotonic() + _READY_WITHIN_S
            while True:
                response: Any = connection.exchange(request_of(api, version, body), version)
                if not response.error_code:
                    break
                assert time.monotonic() < deadline, f"{api}: error {response.error_code}"
                time.sleep(0.05)


BROKERS = Processes(running_ours, running_reference)
