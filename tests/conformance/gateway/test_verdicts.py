"""What a group of a real cluster is called while it dies, is reset, loses its coordinator, and comes back."""

import time

import pytest
from confluent_kafka import Consumer

from console.kit.gateway.errors import GatewayError
from console.shell.collector.collector import Collector
from console.state.consumers.models import ConsumerGroup
from console.state.history.models import Change
from tests.barnabas_cluster import await_true
from tests.conformance.gateway.real import kafka_gateway

PLACE = ("bills", 0)


class ShiftedClock:
    """The time of this machine, and what a test has moved it on."""

    def __init__(self) -> None:
        self.shift_ms = 0

    def now_ms(self) -> int:
        return int(time.time() * 1_000) + self.shift_ms


class Watched:
    """A collector of a real cluster; `verdicts` are all that the group was called since they were cleared."""

    def __init__(self, cluster) -> None:
        self.gateway, self.clock = kafka_gateway(cluster), ShiftedClock()
        self.collector = Collector(self.gateway, list, self.clock.now_ms)
        self.verdicts: set[str] = set()

    def look(self) -> ConsumerGroup | None:
        """A look that no broker answers is none."""
        for tier in ("brokers", "topics", "groups"):
            try:
                self.collector.look(tier)
            except GatewayError:
                return None
        group = ConsumerGroup.objects.filter(name="nightly").first()
        if group is not None:
            self.verdicts.add(group.verdict)
        return group

    def until(self, is_so, what: str) -> None:
        await_true(lambda: (group := self.look()) is not None and is_so(group), what)

    def minutes_later(self, minutes: int) -> None:
        self.clock.shift_ms += minutes * 60_000

    def append(self, count: int) -> None:
        for number in range(count):
            self.gateway.produce_record(*PLACE, None, b"%d" % number)

    def set_offset(self, offset: int) -> None:
        """As the page's reset does."""
        await_true(lambda: self._is_set(offset), "the coordinator takes the offset")
        self.until(lambda group: group.partitions.get().committed == offset, "the offset is seen")

    def _is_set(self, offset: int) -> bool:
        try:
            return not self.gateway.groups.commit_offsets("nightly", {PLACE: offset}).why
        except GatewayError:
            return False


def read_all(servers: str, watched: Watched) -> None:
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": "nightly",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe([PLACE[0]])
    try:
        end = watched.gateway.groups.bounds([PLACE])[PLACE].next
        await_true(
            lambda: (message := consumer.poll(0.2)) is not None and message.offset() == end - 1, "it has read all"
        )
        consumer.commit(asynchronous=False)
        watched.until(lambda group: group.lag == 0 and group.verdict == "ok", "the group has read all, and is well")
    finally:
        consumer.close()


@pytest.mark.long
@pytest.mark.django_db
def test_a_dead_group_is_abandoned_whatever_is_done_to_it_until_it_reads(three_brokers):
    cluster = three_brokers
    watched = Watched(cluster)
    watched.gateway.create_topic(PLACE[0], 1, 2)
    await_true(lambda: watched.look() is None and watched.gateway.groups.bounds([PLACE]), "the topic is led")
    watched.append(20)
    read_all(cluster.bootstrap_servers, watched)
    watched.until(lambda group: group.state == "Empty", "its member has left")

    watched.append(20)
    watched.until(lambda group: group.lag == 20, "records wait")
    watched.minutes_later(3)
    watched.until(lambda group: group.verdict == "abandoned", "nobody reads them")

    watched.verdicts.clear()
    watched.set_offset(0)
    for _ in range(3):
        watched.minutes_later(1)
        watched.look()
    assert watched.verdicts == {"abandoned"}
    assert Change.objects.filter(kind="offsets", object_name="nightly", topic=PLACE[0]).exists()

    dead = watched.gateway.groups.describe_one("nightly").coordinator
    cluster.broker(dead).kill()
    watched.until(lambda group: group.coordinator != dead, "another broker coordinates the group")
    watched.set_offset(5)
    watched.append(5)
    cluster.broker(dead).start()
    cluster.broker(dead).await_healthy()
    watched.set_offset(30)
    watched.minutes_later(3)
    watched.until(lambda group: group.lag == 15, "fifteen records wait")
    assert watched.verdicts == {"abandoned"}

    read_all(cluster.bootstrap_servers, watched)
