"""Attacks by who reaches ZooKeeper: topics whose names are no names, states that are no states."""

import json
import time
from collections.abc import Iterator

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException

from tests.bench.attacks.aim import Aim
from tests.fuzz.values import hostile_names

_ASSIGNMENT = {
    "version": 3,
    "topic_id": "AAAAAAAAAAAAAAAAAAAABw",
    "partitions": {"0": [1]},
    "adding_replicas": {},
    "removing_replicas": {},
}


def hostile_topics(aim: Aim) -> Iterator[None]:
    """Topics made behind the brokers' back: names that are paths or too long, assignments that are none."""
    zookeeper = KazooClient(aim.zookeeper)
    zookeeper.start()
    values = [json.dumps(_ASSIGNMENT).encode(), b"", b"{", b"[]", b'{"version":3,"partitions":{"x":["y"]}}', bytes(900)]
    names = [name.replace("/", "\u2044") for name in hostile_names(aim.outside) if name and "\0" not in name]
    while True:
        for number, name in enumerate(names):
            for path in (f"/brokers/topics/{name}", f"/config/topics/{name}", f"/admin/delete_topics/{name}"):
                try:
                    zookeeper.create(path, values[number % len(values)])
                except (KazooException, ValueError):
                    continue
            yield
            time.sleep(0.02)
        time.sleep(0.2)


ATTACKS = {"topics made in ZooKeeper": hostile_topics}
