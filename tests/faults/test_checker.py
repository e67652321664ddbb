"""A checker that finds nothing proves nothing: each kind of damage, planted, is found and named."""

import json
from dataclasses import asdict, replace

from tests.faults.checker import check, faults_in_log
from tests.faults.history import (
    Assigned,
    BrokersSeen,
    CommitSeen,
    CommitTried,
    ControllerSeen,
    Extent,
    Fault,
    HistoryWriter,
    Outcome,
    Policy,
    Produced,
    Seen,
    StateSeen,
    Stored,
    TopicDeclared,
    read_history,
    record_name,
)

AT = (0.0, 0.0)


def produced(number, offset, outcome=Outcome.OK, **changes) -> Produced:
    operation = Produced(
        producer="p",
        number=number,
        topic="t",
        partition=0,
        key=None,
        digest=f"digest-{number}",
        acks="all",
        is_idempotent=True,
        may_repeat=False,
        outcome=outcome,
        offset=offset,
        error="",
        began=AT,
        ended=AT,
    )
    return replace(operation, **changes)


def seen(number, offset, reader="final", **changes) -> Seen:
    return replace(Seen(reader, "t", 0, offset, None, record_name("p", number), f"digest-{number}", AT), **changes)


def history(*events, policy=Policy.KEEP, start=0):
    return [TopicDeclared("t", policy), Extent("final", "t", 0, start, 100), *events]


def violations(*events, **settings):
    return check(history(*events, **settings)).violations


def test_what_is_where_it_was_acknowledged_is_right():
    assert violations(produced(1, 0), produced(2, 1), seen(1, 0), seen(2, 1)) == []


def test_an_unknown_outcome_may_be_there_or_not():
    unknown = [produced(number, -1, Outcome.UNKNOWN) for number in (1, 2)]
    assert violations(*unknown, seen(1, 0)) == []


def test_a_lost_acknowledged_record_is_found():
    (first,) = violations(produced(1, 0), produced(2, 1), seen(1, 0))
    assert first.startswith("I1 lost: p/2 was acknowledged at t-0@1")


def test_a_record_that_moved_is_found():
    result = violations(produced(1, 0), seen(1, 7))
    assert [partition.partition(":")[0] for partition in result] == ["I1 lost"]


def test_a_changed_byte_is_found():
    result = violations(produced(1, 0), seen(1, 0, digest="other"))
    assert [partition.partition(":")[0] for partition in result] == ["I1 changed", "I3"]


def test_acks_that_the_faults_may_undo_are_not_missed():
    lost = [produced(1, 0, acks="1"), produced(2, 1), seen(2, 1)]
    assert violations(*lost) == []
    assert len(check(history(*lost), surviving_acks=("all", "1")).violations) == 1


def test_a_record_written_twice_by_an_idempotent_producer_is_found():
    result = violations(produced(1, 0), seen(1, 0), seen(1, 1))
    assert result == ["I1 twice: p/1 is there 2 times"]


def test_a_producer_that_retries_without_idempotence_may_write_twice():
    assert violations(produced(1, 0, may_repeat=True, is_idempotent=False), seen(1, 0), seen(1, 1)) == []


def test_a_record_that_failed_and_is_read_is_found():
    (first,) = violations(produced(1, -1, Outcome.FAILED), seen(1, 0))
    assert first.startswith("I2: p/1 had failed")


def test_an_offset_that_meant_two_records_to_two_readers_is_found():
    (first,) = violations(seen(1, 0, reader="live"), seen(2, 0))
    assert first == "I3: t-0@0 is p/1 (read by live) and p/2 (read by final)"


def test_a_replica_with_other_bytes_is_found():
    (first,) = violations(produced(1, 0), seen(1, 0), seen(1, 0, reader="files of broker 2", digest="other"))
    assert "read by files of broker 2" in first


def test_what_a_reader_saw_and_is_gone_is_found():
    (first,) = violations(seen(1, 0, reader="live"))
    assert first.startswith("I1 unseen again: p/1")


def test_an_order_turned_round_is_found():
    (first,) = violations(produced(1, 1), produced(2, 0), seen(1, 1), seen(2, 0))
    assert first.startswith("I4: p sent 1 before 2")


def test_retention_may_remove_what_is_before_the_start_only():
    kept = [produced(1, 0), produced(2, 1), seen(2, 1)]
    assert violations(*kept, policy=Policy.RETAIN, start=1) == []
    assert len(violations(*kept, policy=Policy.RETAIN, start=0)) == 1


def test_retention_never_empties_a_partition():
    (first,) = violations(produced(1, 0), policy=Policy.RETAIN, start=1)
    assert first == "I1 lost: t-0 is empty"


def test_compaction_may_remove_what_a_later_record_of_the_key_replaces():
    first, last = produced(1, 0, key="k"), produced(2, 1, key="k")
    assert violations(first, last, seen(2, 1, key="k"), policy=Policy.COMPACT) == []
    (only,) = violations(first, last, seen(1, 0, key="k"), policy=Policy.COMPACT)
    assert only.startswith("I1 lost: p/2")


def test_a_history_is_read_as_it_was_written(tmp_path):
    events = history(produced(1, 0), seen(1, 0))
    writer = HistoryWriter(tmp_path / "history")
    for event in events:
        writer.note(event)
    writer.close()
    assert check(read_history(tmp_path / "history")).counts == check(events).counts


def test_each_kind_of_event_is_read_as_it_was_written(tmp_path):
    events = [
        *history(produced(1, 0), seen(1, 0)),
        Extent("final", "t", 0, 0, 2),
        Fault("kill -9 [1]", AT),
        Assigned("g", "m", [["t", 0]], AT),
        CommitTried("g", "m", "t", 0, 7, Outcome.UNKNOWN, AT, AT),
        CommitSeen("g", "t", 0, -1, AT, AT),
        StateSeen("t", 0, 1, 3, [1, 2], 4, 5, 6, AT),
        ControllerSeen(-1, 4, AT),
        BrokersSeen([1, 2], 9, AT),
        Stored(1, "t", 0, 0, 9, 3, "digest"),
    ]
    writer = HistoryWriter(tmp_path / "history")
    for event in events:
        writer.note(event)
    writer.close()
    as_json = [json.dumps(asdict(event)) for event in events]
    assert [json.dumps(asdict(event)) for event in read_history(tmp_path / "history")] == as_json


def test_errors_in_a_brokers_log_are_found(tmp_path):
    log = tmp_path / "broker.log"
    log.write_text('level=info event="broker started"\nlevel=error event="request failed"\n')
    assert [partition.partition("level")[2] for partition in faults_in_log(log)] == ['=error event="request failed"']


def test_an_offset_acknowledged_by_one_and_given_again_is_no_damage():
    again = [produced(1, 0, acks="1"), produced(2, 0), seen(2, 0)]
    assert violations(*again) == []
    assert len(check(history(*again), surviving_acks=("all", "1")).violations) > 0


def test_a_reader_that_is_given_an_offset_again_is_found():
    (first,) = violations(seen(1, 0, reader="live"), seen(1, 0, reader="live"), seen(1, 0))
    assert first == "I3: live was given t-0@0 after 0"


def test_a_record_acknowledged_without_an_offset_may_be_anywhere_but_not_nowhere():
    assert violations(produced(1, -1), seen(1, 5)) == []
    (problem,) = violations(produced(1, -1), produced(2, 5), seen(2, 5))
    assert problem.startswith("I1 lost: p/1")


def test_an_unclean_election_may_take_records_back():
    taken = [produced(1, 0), produced(2, 0), seen(1, 0, reader="live"), seen(2, 0)]
    assert violations(*taken, policy=Policy.UNCLEAN) == []
    assert violations(*taken) != []
