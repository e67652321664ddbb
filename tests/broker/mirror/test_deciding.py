"""What a mirror decides without asking anybody: names, topics, settings, rules, where to go on, what a file says."""

import re
import uuid

import pytest

from broker.common.bounded_patterns import BoundedPattern
from broker.common.errors import StartupError
from broker.common.types import TopicPartition
from broker.connect.mirror_flows import read_flows
from broker.mirror.batches import CopiedRun
from broker.mirror.groups import CheckpointWay, move
from broker.mirror.mirror_state import MirrorState
from broker.mirror.naming import NameFilter, TopicNaming, copied_topics
from broker.mirror.place import SourcePartition, resume
from broker.mirror.records import (
    HistoryRecord,
    MirrorPosition,
    PositionRecord,
    ProducerRecord,
    SettingsRecord,
    understood,
    written,
)
from broker.mirror.runs import Runs
from broker.mirror.settings import SeenValue
from broker.mirror.topics import TopicAcl, decide, rules_to_make

EVERY = NameFilter((BoundedPattern(re.compile(".*")),), (BoundedPattern(re.compile("secret.*")),))


def test_a_topic_that_came_from_the_target_is_not_sent_back():
    naming = TopicNaming("east", "west")
    topics = ["orders", "west.orders", "north.west.orders", "secret", "__consumer_offsets", "mm2-configs.x.internal"]
    assert copied_topics(topics, EVERY, naming) == {"orders": "east.orders"}


def test_a_name_of_which_it_cannot_be_said_whether_it_is_copied_is_told_and_holds_up_no_other():
    hostile, slow = "a" * 60 + "-", BoundedPattern(re.compile("(a+)+"))
    for chosen in (NameFilter((slow,), ()), NameFilter((BoundedPattern(re.compile("a.*")),), (slow,))):
        assert hostile not in chosen
        assert list(chosen.not_said(["ab", hostile])) == [hostile]
        assert "too many ways to match" in chosen.not_said([hostile])[hostile]
    assert "aa" in NameFilter((slow,), ())


@pytest.mark.parametrize("topic", ["us-west-orders", "us-east-us-west-orders", "a-us-west-orders"])
def test_a_topic_that_came_from_the_target_is_known_where_aliases_hold_the_separator(topic):
    naming = TopicNaming("us-east", "us-west", separator="-")
    assert copied_topics([topic, "us-east-orders", "xus-west-orders", "orders-us-west"], EVERY, naming) == {
        name: f"us-east-{name}" for name in ("us-east-orders", "xus-west-orders", "orders-us-west")
    }


def test_names_may_stay_and_beats_never_do():
    kept = copied_topics(["orders", "heartbeats", "west.orders"], EVERY, TopicNaming("east", "west", keeps_names=True))
    assert kept == {"orders": "orders", "heartbeats": "east.heartbeats", "west.orders": "west.orders"}


def test_copies_are_made_and_grow_and_never_shrink():
    names = {"a": "e.a", "b": "e.b", "c": "e.c", "n" * 249: f"e.{'n' * 249}"}
    changes = decide(names, {"a": 3, "b": 5, "c": 1, "n" * 249: 1}, {"e.b": 2, "e.c": 4})
    assert (changes.create, changes.grow) == ({"e.a": 3}, {"e.b": 5})
    assert "251 characters" in changes.refused["n" * 249]


def test_who_may_do_all_may_read_a_copy_and_nobody_may_write_it():
    of_source = [
        TopicAcl("orders", "User:a", "*", "ALL", "ALLOW"),
        TopicAcl("orders", "User:b", "*", "WRITE", "ALLOW"),
        TopicAcl("orders", "User:c", "*", "READ", "DENY"),
        TopicAcl("other", "User:d", "*", "READ", "ALLOW"),
    ]
    there = [TopicAcl("e.orders", "User:c", "*", "READ", "DENY")]
    assert rules_to_make(of_source, there, {"orders": "e.orders"}) == [
        TopicAcl("e.orders", "User:a", "*", "READ", "ALLOW")
    ]


TOPIC_ID = uuid.uuid4()


def position(offset):
    return MirrorPosition(offset, 3, TOPIC_ID, "copy")


def test_a_copy_that_was_made_anew_gets_all_again():
    kept = position(7)._replace(copy_id=uuid.uuid4())
    source = SourcePartition(TOPIC_ID, 5, 9, 9)
    assert resume(kept, source, from_end=True, copy_id=kept.copy_id) == (7, None)
    offset, notice = resume(kept, source, from_end=True, copy_id=uuid.uuid4())
    assert (offset, "copy was recreated" in notice) == (5, True)


def test_where_records_went_in_another_life_of_topic_or_copy_says_nothing():
    book, partition = MirrorState(), TopicPartition("orders", 0)
    first = MirrorPosition(9, 3, TOPIC_ID, "copy", uuid.uuid4())
    second = first._replace(next_offset=5, copy_id=uuid.uuid4())
    for record in (
        PositionRecord("a->b", partition, first, (CopiedRun(0, 100, 9),)),
        HistoryRecord("a->b", partition, "0.1", (CopiedRun(3, 3, 2),), first.life),
        HistoryRecord("a->b", partition, "0.2", (CopiedRun(0, 50, 2),), second.life),
        PositionRecord("a->b", partition, second, (CopiedRun(2, 52, 3),)),
    ):
        book.apply(*written(record))
    assert book.runs("a->b", partition).spread(9) == [CopiedRun(0, 50, 5)]


@pytest.mark.parametrize(
    ("kept", "source", "wanted", "word"),
    [
        (None, SourcePartition(TOPIC_ID, 5, 9, None), 5, None),
        (position(7), SourcePartition(TOPIC_ID, 5, 9, 9), 7, None),
        (position(7), SourcePartition(uuid.uuid4(), 0, 90, None), 0, "recreated"),
        (position(3), SourcePartition(TOPIC_ID, 5, 9, 9), 5, "deleted before"),
        (position(8), SourcePartition(TOPIC_ID, 0, 20, 6), 6, "lost its records from 6"),
        (position(30), SourcePartition(TOPIC_ID, 2, 9, None), 2, "copied again"),
    ],
)
def test_it_goes_on_where_both_still_agree(kept, source, wanted, word):
    resumed = resume(kept, source, from_end=False)
    assert resumed.offset == wanted
    assert (resumed.notice is None) if word is None else (word in resumed.notice)


P = TopicPartition("orders", 0)


def test_a_group_of_a_topic_with_the_same_name_in_both_goes_on_at_the_earlier_place():
    there = {P: CheckpointWay(P, Runs([CopiedRun(0, 100, 50)]))}
    back = {P: CheckpointWay(P, Runs([CopiedRun(0, 10, 30)]))}
    (line,) = move({P: 20}, there, back)
    assert (line.target, line.offset, line.is_exact) == (P, 10, True)
    (unknown,) = move({TopicPartition("else", 1): 5}, there, back)
    assert (unknown.target, unknown.reason) == (None, "it is not copied")


@pytest.mark.parametrize(
    "record",
    [
        PositionRecord("a->b", P, position(5), (CopiedRun(1, 2, 3),)),
        HistoryRecord("a->b", P, "0.7", (CopiedRun(1, 2, 3), CopiedRun(9, 9, 9))),
        ProducerRecord(77, ("one", "two"), None),
        SettingsRecord("a->b", "t", "a.t", {"x": SeenValue("1", 7)}, {"x": SeenValue(None, 1 << 50)}),
    ],
)
def test_what_is_written_is_understood(record):
    assert understood(*written(record)) == record


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (None, b"{}"), (b"{", b"{}"), (b"[]", b"[]"), (b'["position"]', b"{}"), (b'["producer", "x"]', b"{}"),
        (b'["position", "f", "t", 0]', b'{"next": -1, "leader_epoch": 0, "target": "t", "runs": []}'),
        (b'["position", "f", "t", 0]', b'{"next": 1, "leader_epoch": 0, "target": 5, "runs": []}'),
        (b'["history", "f", "t", 0, "s"]', b'{"runs": [[1, 2]]}'), (b'["producer", 1]', b'{"clusters": [1]}'),
        (b'["settings", "f", "t"]', b'{"copy": "t", "source": [], "target": {}}'),
        (b'["settings", "f", "t"]', b'{"copy": "t", "source": {"x": [1, 1]}, "target": {}}'),
        (b'["settings", "f", "t"]', b'{"copy": "t", "source": {"x": ["1"]}, "target": {}}'),
    ],
)  # fmt: skip
def test_what_was_not_written_by_a_mirror_is_left_out(key, value):
    assert understood(key, value) is None


FILE = {
    "clusters": "a, b", "a.bootstrap.servers": "one:1", "b.bootstrap.servers": "two:2", "a->b.enabled": "true",
    "topics": "x", "a->b.topics": "y", "tasks.max": "3", "b.exactly.once.source.support": "enabled",
    "security.protocol": "SSL", "a.security.protocol": "PLAINTEXT",
}  # fmt: skip


def test_of_a_file_the_more_particular_setting_counts():
    (flow,) = read_flows(FILE, [])
    config = flow.connectors["MirrorSourceConnector"]
    assert (flow.name, config["topics"], config["tasks.max"], config["exactly.once.enabled"]) == (
        "a->b",
        "y",
        "3",
        "true",
    )
    assert config["source.cluster.security.protocol"] == "PLAINTEXT"
    assert config["target.cluster.security.protocol"] == flow.target_client["security.protocol"] == "SSL"
    assert config["source.cluster.bootstrap.servers"] == "one:1"


@pytest.mark.parametrize(
    ("change", "only", "word"),
    [
        ({"clusters": "a"}, [], "at least two"),
        ({"b.bootstrap.servers": ""}, [], "b.bootstrap.servers is missing"),
        ({"a->b.enabled": "false"}, [], "a->b.enabled = true"),
        ({}, ["c"], "--clusters c"),
    ],
)
def test_what_a_file_lacks_is_said(change, only, word):
    with pytest.raises(StartupError, match=re.escape(word)):
        read_flows({**FILE, **change}, only)
