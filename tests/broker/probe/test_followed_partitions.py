"""What the probe makes of a round's outcome: where it is counted, what a broker's end means, what is told of it."""

from broker.probe.fault_attribution import SILENT_MS
from broker.probe.followed_partitions import TROUBLED_MS, FollowedPartitions, Topology
from broker.probe.ledger import LOST_AFTER_MS
from broker.probe.record import ProbeMark, decode, encode
from broker.probe.spread import PartitionState
from broker.records.record import decode_records

ADDRESSES = {number: ("127.0.0.1", 9091 + number) for number in (1, 2, 3)}


def topology(*brokers, leaders=(1, 2, 3), identity="a"):
    partitions = tuple(PartitionState(at, leader, (1, 2, 3), (1, 2, 3)) for at, leader in enumerate(leaders))
    return Topology({broker: ADDRESSES[broker] for broker in brokers}, dict.fromkeys(brokers), partitions, identity)


def book_of(*brokers):
    book = FollowedPartitions("now")
    book.learn(topology(*brokers))
    book.tick(0, 60_000)
    return book


def round_trip(book, broker, partition, offset, at_ms=10):
    mark = book.sending(partition, at_ms)
    book.written(broker, partition, mark.number, offset, 2.0)
    book.fetched(broker, partition, [mark], offset + 1, 0, offset + 1, at_ms + 5)
    book.well(partition)


def test_a_record_is_counted_for_the_whole_its_broker_and_its_partition():
    book = book_of(1, 2, 3)
    round_trip(book, 2, 1, 0)
    total = book.tallies.total
    assert {name for name, tally in total.items() if tally.written} == {"whole", "broker/2", "partition/1"}
    assert [total[name].read for name in ("whole", "broker/2", "partition/1")] == [1, 1, 1]
    assert total["whole"].end_to_end.count == total["whole"].produce.count == 1


def test_records_of_another_life_are_nothing_to_it():
    book = book_of(1, 2, 3)
    round_trip(book, 1, 0, 5)
    book.fetched(1, 0, [ProbeMark("before", 0, 0), ProbeMark("before", 0, 1)], 9, 0, 9, 20)
    whole = book.tallies.total["whole"]
    assert (whole.read, whole.lost, whole.duplicated) == (1, 0, 0)


def test_reading_begins_where_the_first_record_is_written():
    book = book_of(1, 2, 3)
    assert book.partitions[0].position is None
    book.written(1, 0, book.sending(0, 0).number, 41, 1.0)
    assert book.partitions[0].position == 41


def test_a_topic_that_is_made_anew_has_lost_nothing():
    book = book_of(1, 2, 3)
    book.written(1, 0, book.sending(0, 0).number, 41, 1.0)
    book.learn(topology(1, 2, 3, identity="another"))
    round_trip(book, 1, 0, 0)
    assert book.tallies.total["whole"].lost == 0


def test_a_broker_that_left_is_missed_as_long_as_it_is_a_replica():
    book = book_of(1, 2, 3)
    book.learn(topology(1, 2, leaders=(1, 2, 1)))
    assert set(book.addresses) == {1, 2, 3}
    book.learn(Topology({1: ADDRESSES[1]}, {1: None}, (PartitionState(0, 1, (1,), (1,)),), "a"))
    assert set(book.addresses) == {1}
    assert "broker/3" not in book.tallies.total


def test_a_partition_that_waits_for_a_silent_replica_is_told_with_that_broker_and_a_leader_is_not_blamed():
    book = book_of(1, 2, 3)
    for at_ms in range(250, int(SILENT_MS + TROUBLED_MS), 250):
        book.watch.ask(3)
        book.answered(1)
        mark = book.sending(0, at_ms)
        book.not_written(1, 0, mark.number, at_ms, "timed out", is_refused=False)
        book.tick(at_ms, 60_000 + at_ms)
    (trouble,) = book.troubled(SILENT_MS + TROUBLED_MS)
    assert (trouble["partition"], trouble["blamed"]) == (0, [3])
    brokers = book.status(0, 0, 0)["brokers"]
    assert [broker for broker, status in brokers.items() if "blamed_at_ms" in status] == ["3"]
    assert book.tallies.total["broker/3"].silent_ms >= SILENT_MS


def test_nobody_is_asked_for_a_partition_without_a_leader_and_it_counts():
    book = book_of(1, 2, 3)
    book.learn(topology(1, 2, 3, leaders=(1, 2, -1)))
    book.count_leaderless(10)
    assert book.tallies.total["partition/2"].not_written == 1
    assert "partition/0" not in book.tallies.total


def test_minutes_are_told_when_they_are_over_and_from_when_somebody_wants_them():
    book = book_of(1, 2, 3)
    round_trip(book, 1, 0, 0)
    assert book.status(0, 0, 0)["minutes"] == []
    book.tick(1, 180_000)
    ((begins_ms, parts),) = book.status(0, 0, 0)["minutes"]
    assert (begins_ms, parts["whole"]["written"]) == (60_000, 1)
    assert book.status(0, 0, 60_001)["minutes"] == []


def mirroring():
    book = FollowedPartitions("now", has_mirror=True)
    book.learn(topology(1, 2, 3))
    book.tick(0, 60_000)
    return book


def sent(book, offset, at_ms=0):
    mark = book.sending(0, at_ms)
    book.written(1, 0, mark.number, offset, 1.0)
    return mark


def test_what_a_mirror_drops_doubles_and_turns_round_is_told_of_the_mirror_alone():
    book = mirroring()
    book.mirror_looked(0, "")
    marks = [sent(book, offset) for offset in range(6)]
    book.mirrored([marks[0], marks[2], marks[1], marks[4], marks[4], marks[5]], 30)
    book.mirror_looked(LOST_AFTER_MS, "")
    assert book.tallies.total["mirror"].lost == 0
    book.mirror_looked(LOST_AFTER_MS + 1, "")
    mirror, whole = book.tallies.total["mirror"], book.tallies.total["whole"]
    assert (mirror.read, mirror.lost, mirror.duplicated, mirror.reordered) == (5, 1, 1, 1)
    assert (whole.lost, whole.duplicated, whole.reordered) == (0, 0, 0)
    assert mirror.end_to_end.count == 5


def test_what_a_mirror_that_stands_still_has_not_brought_is_waited_for_and_not_lost():
    book = mirroring()
    book.mirror_looked(0, "")
    sent(book, 0)
    book.mirror_looked(10 * LOST_AFTER_MS, "")
    assert book.status(0, 0, 0)["mirror"] == {"waiting": 1, "error": ""}
    assert book.tallies.total["mirror"].lost == 0


def test_what_was_sent_before_the_mirror_was_read_is_not_looked_for_there():
    book = mirroring()
    sent(book, 0)
    book.mirror_looked(1, "no broker answers")
    sent(book, 1)
    book.mirror_looked(2, "")
    later = sent(book, 2)
    book.mirrored([later], 3)
    book.mirror_looked(2 * LOST_AFTER_MS, "")
    assert (book.tallies.total["mirror"].read, book.tallies.total["mirror"].lost) == (1, 0)


def test_a_record_is_what_was_put_into_it_and_others_are_none():
    (record,) = decode_records(encode(ProbeMark("run", 2, 7), 1_000))
    assert decode(record.value) == ProbeMark("run", 2, 7)
    assert len(record.value) == 120
    assert [decode(value) for value in (None, b"", b"[]", b"{}", b"\xff", b"[" * 10_000)] == [None] * 6
