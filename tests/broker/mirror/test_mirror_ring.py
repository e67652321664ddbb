"""Three clusters: mirrors make a ring, or go there and back and in from a third; each record comes everywhere once."""

import uuid
from contextlib import ExitStack, contextmanager

import pytest

from tests.barnabas_cluster import await_true, running_cluster
from tests.broker.mirror.conftest import Side
from tests.broker.mirror.running import begun, properties

pytestmark = pytest.mark.long
PARTITIONS, RECORDS = 2, 20


@pytest.fixture(scope="module")
def west(tmp_path_factory, zookeeper):
    with running_cluster(tmp_path_factory.mktemp("west"), zookeeper=zookeeper) as running:
        yield Side("west", running)


@pytest.fixture
def sides(north, south, west):
    return {item.alias: item for item in (north, south, west)}


@pytest.fixture
def topic():
    return f"t-{uuid.uuid4().hex[:10]}"


RING = (("north", "south"), ("south", "west"), ("west", "north"))
FAN_IN = (("north", "south"), ("south", "north"), ("west", "south"))


@contextmanager
def second_generation(sides, flows, topic, place, **config):
    file = properties(
        place / "mm2.properties",
        **{
            "clusters": ", ".join(sides),
            **{f"{alias}.bootstrap.servers": side.bootstrap for alias, side in sides.items()},
            **{f"{source}->{target}.enabled": "true" for source, target in flows},
            "topics": f"(.*\\.)?{topic}",
            "replication.factor": "1",
            "refresh.topics.interval.seconds": "1",
            "emit.heartbeats.enabled": "false",
            "emit.checkpoints.enabled": "false",
            **config,
        },
    )  # fmt: skip
    with begun("connect-mirror-maker", file, log=place / "log"):
        yield


@contextmanager
def first_generation(sides, flows, topic, place):
    with ExitStack() as stack:
        for source, target in flows:
            consumer = properties(
                place / f"{source}-{target}-consumer",
                **{"bootstrap.servers": sides[source].bootstrap, "group.id": f"{target}-{topic}",
                   "auto.offset.reset": "earliest"},
            )  # fmt: skip
            producer = properties(place / f"{target}-producer", **{"bootstrap.servers": sides[target].bootstrap})
            words = ("--consumer.config", consumer, "--producer.config", producer, "--include", topic)
            stack.enter_context(
                begun("kafka-mirror-maker", *words, "--offset.commit.interval.ms", "200", log=place / source)
            )
        yield


def write(side, topic, turn):
    """One partition after the other."""
    written = [f"{side.alias} {turn} {number}" for number in range(RECORDS)]
    for partition in range(PARTITIONS):
        side.write(topic, written[partition::PARTITIONS], partition)
    return {value.encode() for value in written}


def values(side, topic):
    return [value for partition in range(PARTITIONS) for value in side.values(topic, partition)]


def has(side, topic):
    return topic in side.admin.list_topics(timeout=10).topics


def reaches(flows, sides):
    """Alias → the aliases whose records come there, its own among them."""
    results = {alias: {alias} for alias in sides}
    for _ in sides:
        for source, target in flows:
            results[target] |= results[source]
    return results


def assert_each_once_everywhere(sides, flows, topic):
    written = {alias: set() for alias in sides}
    reached = reaches(flows, sides)
    for turn in range(2):
        for alias, side in sides.items():
            written[alias] |= write(side, topic, turn)
        for alias, side in sides.items():
            wanted = set().union(*(written[item] for item in reached[alias]))
            await_true(lambda side=side, wanted=wanted: set(values(side, topic)) == wanted, f"all is in {alias}", 90)
    for alias, side in sides.items():
        there = values(side, topic)
        assert len(there) == len(set(there)), f"{alias} has records twice"


NAMES_STAY = {"replication.policy.class": "IdentityReplicationPolicy"}


@pytest.mark.parametrize("flows", [RING, FAN_IN], ids=["a ring", "there and back, and a third one in"])
@pytest.mark.parametrize("generation", ["at least once", "exactly once", "the first generation"])
def test_where_names_stay_every_record_comes_everywhere_once(sides, topic, tmp_path, flows, generation):
    for side in sides.values():
        side.create(topic, PARTITIONS)
    if generation == "the first generation":
        mirror = first_generation(sides, flows, topic, tmp_path)
    else:
        support = {"exactly.once.source.support": "enabled"} if generation == "exactly once" else {}
        mirror = second_generation(sides, flows, topic, tmp_path, **NAMES_STAY, **support)
    with mirror:
        assert_each_once_everywhere(sides, flows, topic)
        ends = {alias: len(values(side, topic)) for alias, side in sides.items()}
        for side in sides.values():
            write(side, topic, "last")
        for alias, side in sides.items():
            more = RECORDS * len(reaches(flows, sides)[alias])
            await_true(lambda at=alias, side=side, more=more: len(values(side, topic)) >= ends[at] + more, "last", 90)
            assert len(values(side, topic)) == ends[alias] + more, "nothing came round"


def test_with_prefixes_each_cluster_has_copies_of_both_others_and_none_of_its_own(sides, topic, tmp_path):
    for side in sides.values():
        side.create(topic, PARTITIONS)
    with second_generation(sides, RING, topic, tmp_path):
        written = {alias: write(side, topic, 0) for alias, side in sides.items()}
        for (first, second), (_, third) in zip(RING, (*RING[1:], RING[0]), strict=True):
            for at, copy in ((second, f"{first}.{topic}"), (third, f"{second}.{first}.{topic}")):
                await_true(lambda at=at, copy=copy: has(sides[at], copy), f"{copy} is made", 60)
                await_true(
                    lambda at=at, copy=copy, first=first: sorted(values(sides[at], copy)) == sorted(written[first]),
                    f"{copy} has all", 60,
                )  # fmt: skip
        for side in sides.values():
            mine = [item for item in side.admin.list_topics(timeout=10).topics if topic in item]
            assert len(mine) == 3
