"""A batch that would unpack to hundreds of megabytes is left out and told, and reading goes on behind it."""

import time

import pytest

from broker.records.batch import Compression
from console.cluster.records.query import RecordQuery
from console.cluster.records.reading import read_page
from console.cluster.records.search import UNLIMITED, SearchReader
from tests.conformance.gateway.real import kafka_gateway
from tests.produced_batches import append_batch

_BOMB_BYTES = 64 * 1024 * 1024
_DEADLINE_S = 30


@pytest.fixture
def gateway(running_brokers):
    gateway = kafka_gateway(running_brokers)
    yield gateway
    gateway.close()


@pytest.fixture
def topic(gateway, topic_name):
    gateway.create_topic(topic_name, 1, 1)
    return topic_name


@pytest.fixture
def bombed(gateway, running_brokers, topic):
    """Offsets 0 and 4 can be read; 1 to 3 are batches of which no person is shown anything."""
    append_batch(running_brokers.bootstrap_servers, topic, [b"first"], Compression.NONE)
    bomb = bytes(_BOMB_BYTES)
    append_batch(running_brokers.bootstrap_servers, topic, [bomb], Compression.GZIP)
    append_batch(running_brokers.bootstrap_servers, topic, [bomb, b"beside it"], Compression.ZSTD)
    append_batch(running_brokers.bootstrap_servers, topic, [b"last"], Compression.GZIP)
    return topic


@pytest.mark.parametrize("place", ["oldest", "newest"])
def test_a_page_says_which_batches_were_left_out_and_shows_the_others(gateway, bombed, place):
    page = read_page(gateway, bombed, 1, RecordQuery(place=place, limit=50))
    assert sorted(record.value for record in page.records) == [b"first", b"last"]
    assert page.note.startswith("Left out: partition 0, offset 1 (")
    assert "; partition 0, offsets 2 to 3 (" in page.note
    assert "limit of 16777216 bytes" in page.note


def test_a_file_of_a_search_that_left_out_a_batch_is_no_whole_one(gateway, bombed):
    reader, turns = SearchReader(gateway, bombed, 1, RecordQuery(search="st", place="oldest"), UNLIMITED), []
    while not turns or not turns[-1].ended:
        turns.append(reader.turn())
    reader.close()
    assert [record.value for turn in turns for record in turn.records] == [b"first", b"last"]
    assert "Left out: partition 0, offset 1 (" in turns[-1].note
    assert "They hold 2 records." in turns[-1].summary


def test_a_record_inside_of_such_a_batch_is_not_there_and_the_next_one_is(gateway, bombed):
    page = read_page(gateway, bombed, 1, RecordQuery(place="offset", offset=3, partition=0, limit=1))
    assert page.records == ()
    assert "offsets 2 to 3" in page.note


def test_many_batches_just_below_the_bound_are_read_one_at_a_time(gateway, running_brokers, topic):
    value = bytes(10 * 1024 * 1024)
    for _ in range(5):
        append_batch(running_brokers.bootstrap_servers, topic, [value], Compression.GZIP)
    stream, offsets = gateway.open_records(topic, {0: 0}, True), []
    until = time.monotonic() + _DEADLINE_S
    try:
        while len(offsets) < 5 and time.monotonic() < until:
            read = stream.read(0.2, 1)
            assert len(read) <= 1
            offsets += [item.offset for item in read]
    finally:
        stream.close()
    assert offsets == [0, 1, 2, 3, 4]
