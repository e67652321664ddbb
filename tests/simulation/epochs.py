"""Watches what is written to ZooKeeper: epochs only grow, and an epoch has one leader."""

import json
import re

from broker.common.types import TopicPartition
from broker.zookeeper import znodes
from tests.simulation.history import History
from tests.simulation.znode_tree import Change

_STATE = re.compile(r"/brokers/topics/(?P<topic>[^/]+)/partitions/(?P<partition>\d+)/state")
_SILENT = ("/config", "/brokers/seqid", "/latest_producer_id_block")


class EpochWatch:
    """Told of every transaction."""

    def __init__(self, history: History):
        self._history = history
        self._controller_epoch = 0
        self._states: dict[str, dict] = {}
        #: Who ever led a partition of that name, by epoch.
        self._leaders: dict[str, dict[int, set[int]]] = {}

    def has_led(self, broker_id: int, partition: TopicPartition, leader_epoch: int) -> bool:
        """Whether the broker was leader in that epoch, of this topic or another of the same name."""
        return broker_id in self._leaders.get(znodes.state_path(partition), {}).get(leader_epoch, ())

    @property
    def elections(self) -> int:
        return sum(map(len, self._leaders.values()))

    def on_transaction(self, zxid: int, changes: list[Change]) -> None:
        for change in changes:
            if not change.path.startswith(_SILENT):
                self._history.add("zookeeper", change.what, path=change.path, zxid=zxid, data=_short(change.data))
            if change.path == "/controller_epoch" and change.what == "set":
                self._on_controller_epoch(int(change.data))
            elif _STATE.fullmatch(change.path):
                self._on_state(change)

    def _on_controller_epoch(self, epoch: int) -> None:
        if epoch <= self._controller_epoch:
            self._history.violate(f"the controller epoch goes from {self._controller_epoch} to {epoch}")
        self._controller_epoch = epoch

    def _on_state(self, change: Change) -> None:
        if change.what == "deleted":
            self._states.pop(change.path, None)
            return
        state, before = json.loads(change.data), self._states.get(change.path)
        epochs = self._leaders.setdefault(change.path, {})
        epochs.setdefault(state["leader_epoch"], set()).add(state["leader"])
        self._states[change.path] = state
        if state["leader"] >= 0 and state["leader"] not in state["isr"]:
            self._history.violate(f"{change.path}: the leader is not in sync: {state}")
        if before is None:
            return
        for epoch in ("leader_epoch", "controller_epoch"):
            if state[epoch] < before[epoch]:
                self._history.violate(f"{change.path}: {epoch} falls: {before} to {state}")
        if state["leader_epoch"] == before["leader_epoch"] and state["leader"] != before["leader"]:
            self._history.violate(f"{change.path}: another leader in the same epoch: {before} to {state}")


def _short(data: bytes) -> str:
    return data.decode(errors="replace")[:200].replace("\n", " ")
