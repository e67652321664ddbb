"""The groups of a source, one after the other: what is refused for one keeps no other from its place."""

from types import SimpleNamespace

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.mirror import checkpoint_keeper
from broker.mirror.batches import CopiedRun
from broker.mirror.mirror_state import MirrorState
from broker.mirror.naming import TopicNaming
from broker.mirror.records import MirrorPosition, PositionRecord, written

ORDERS = TopicPartition("orders", 0)


class Groups:
    """Of both clusters; what belongs to the group `bad` is refused."""

    commits: dict[str, dict] = {}

    def __init__(self, refuses):
        self._refuses = refuses

    def listed(self):
        return [SimpleNamespace(group_id=name) for name in ("bad", "good")]

    def described(self, group):
        return SimpleNamespace(state="Empty")

    def committed(self, group):
        self._answer(group, "committed")
        return {ORDERS: 5}

    def commit(self, group, offsets):
        self._answer(group, "commit")
        self.commits[group] = offsets

    def _answer(self, group, what):
        if (group, what) == ("bad", self._refuses):
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


class ReadBook(MirrorState):
    def __init__(self, _cluster):
        super().__init__()
        position = MirrorPosition(9, 0, None, "east.orders")
        self.apply(*written(PositionRecord("east->west", ORDERS, position, (CopiedRun(0, 10, 9),))))

    def read_to_end(self):
        """It is."""


@pytest.mark.parametrize("refuses", ["committed", "commit"])
def test_a_group_that_is_refused_holds_up_no_other(monkeypatch, refuses):
    monkeypatch.setattr(checkpoint_keeper, "GroupClient", lambda cluster: Groups(cluster))
    monkeypatch.setattr(checkpoint_keeper, "MirrorLedger", ReadBook)
    monkeypatch.setattr(Groups, "commits", {})
    keeper = checkpoint_keeper.CheckpointKeeper(
        lambda: refuses, lambda: refuses, SimpleNamespace(produce=lambda *_: None, flush=lambda _: 0),
        TopicNaming("east", "west"), "east->west", {"bad", "good"}, commits=True,
    )  # fmt: skip
    keeper.look()
    assert Groups.commits == {"good": {TopicPartition("east.orders", 0): 15}}
