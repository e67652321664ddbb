"""What the collector's tiers are made of: what they share, the work of one tier, and observers of what the looks see.

It lies here because observers are handed groups as well as topics and brokers.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

from console.kit.common.hook_point import HookPoint
from console.kit.gateway.brokers.interface import ReplicaSizes
from console.kit.gateway.interface import ClusterGateway
from console.state.clusters.broker_rows import BrokerRow
from console.state.clusters.topic_rows import TopicRow
from console.state.consumers.rows import GroupRow


class TierLook(NamedTuple):
    """A tier's work, done on its thread: `look` again and again, `finish` when no tier runs any more.

    `look` returns True for what should be looked at again soon. `failed` is handed the sentence of its exception.
    """

    look: Callable[[], bool | None]
    failed: Callable[[str], None] = lambda _error: None
    finish: Callable[[], None] = lambda: None


class ClusterObserver:
    """What a feature does with that which the looks see; each method is called on the thread of its tier."""

    def saw_brokers(self, brokers: Mapping[int, BrokerRow], controller_id: int | None) -> None: ...

    def saw_topics(
        self,
        topics: Mapping[str, TopicRow],
        moved: Iterable[str],
        settings: Mapping[str, tuple[tuple[str, str], ...]],
    ) -> None:
        """Take the topics.

        `moved`: those with another leader, replica or ISR; `settings`: of topics with known ones.
        """

    def saw_groups(self, changed: Iterable[GroupRow], groups: Collection[str]) -> None: ...


class TierContext:
    """What the tiers of one collector share."""

    def __init__(self, gateway: ClusterGateway, clock_ms: Callable[[], int]):
        self.gateway = gateway
        self.clock_ms = clock_ms
        #: As they were read at `topics_at_ms`; 0: not yet.
        self.topics: Mapping[str, TopicRow] = {}
        self.topics_at_ms = 0
        #: Kept until the next look at the topics, which writes them.
        self.sizes: ReplicaSizes = {}
        #: Appended per second, all brokers together; None until two looks could be compared.
        self.bytes_per_second: float | None = None
        self.observers = [observer(self) for observer in OBSERVERS]


OBSERVERS = HookPoint[Callable[[TierContext], ClusterObserver]]("console.state.consumers.tiers.OBSERVERS")
