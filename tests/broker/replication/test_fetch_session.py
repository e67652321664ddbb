"""Fetch sessions (KIP-227): what each request of a session means, what of it is answered, and who keeps a place."""

from dataclasses import dataclass
from itertools import count
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.common.errors import ApiError, ErrorCode
from broker.common.limits import FETCH_SESSION_EVICTION_MS
from broker.replication.fetch_session import NO_SESSION, FetchSessions, Opening

TOPIC_ID = UUID(int=7)
LONG = FETCH_SESSION_EVICTION_MS + 1


@dataclass
class AskedPartition:
    partition: int
    fetch_offset: int = 0


@dataclass
class Read:
    partition_index: int
    high_watermark: int = 5
    last_stable_offset: int = 5
    log_start_offset: int = 0
    error_code: int = 0
    preferred_read_replica: int = -1
    diverging_epoch: object = None
    records: bytes = b""


class Story:
    """A client's requests against one set of sessions."""

    def __init__(self, **limits: int):
        self.sessions = FetchSessions(count(1).__next__, **limits)
        self.now_ms = 0

    def begin(self, session_id, epoch, *wanted, forgotten=(), topic="t", by_id=False, principal=""):
        wanted = [(topic, item if isinstance(item, AskedPartition) else AskedPartition(item)) for item in wanted]
        forgotten = [(topic, partition) for partition in forgotten]
        return self.sessions.begin(Opening(session_id, epoch, wanted, forgotten, by_id, principal), self.now_ms)

    def ask(self, session_id, epoch, *arguments, reads=(), **more):
        """(session id, answered partitions); a partition not in `reads` is as it was."""
        return self.finish(self.begin(session_id, epoch, *arguments, **more), *reads)

    def finish(self, fetch, *reads):
        by_partition = {read.partition_index: read for read in reads}
        answers = [
            (topic, by_partition.get(partition.partition, Read(partition.partition)))
            for topic, partition in fetch.partitions
        ]
        session_id, answered = fetch.finish(answers)
        return session_id, [answer.partition_index for _, answer in answered]

    def refusal(self, *request, **more) -> ErrorCode:
        with pytest.raises(ApiError) as refused:
            self.begin(*request, **more)
        return refused.value.code


def asked_by(fetch) -> list[tuple[int, int]]:
    return [(partition.partition, partition.fetch_offset) for _, partition in fetch.partitions]


def test_a_client_without_sessions_is_answered_in_full_every_time():
    story = Story()
    assert [story.ask(NO_SESSION, -1, 0, 1) for _ in range(2)] == [(NO_SESSION, [0, 1])] * 2
    assert len(story.sessions) == 0


def test_the_first_request_of_a_session_is_answered_in_full_and_the_next_only_with_news():
    story = Story()
    assert story.ask(NO_SESSION, 0, 0, 1) == (1, [0, 1])
    assert story.ask(1, 1) == (1, [])
    assert story.ask(1, 2, reads=[Read(1, records=b"r")]) == (1, [1])


@pytest.mark.parametrize(
    ("what", "read"),
    [
        ("records", Read(0, records=b"r")),
        ("a new high watermark", Read(0, high_watermark=6)),
        ("a new log start offset", Read(0, log_start_offset=1)),
        ("an error", Read(0, error_code=ErrorCode.NOT_LEADER_OR_FOLLOWER)),
        ("a replica nearby", Read(0, preferred_read_replica=2)),
        ("a divergence", Read(0, diverging_epoch=object())),
    ],
)
def test_a_partition_is_answered_when_there_is_news_of_it(what, read):
    story = Story()
    story.ask(NO_SESSION, 0, 0, 1)
    assert story.ask(1, 1, reads=[read]) == (1, [0]), what


def test_what_was_told_once_is_not_told_again():
    story = Story()
    story.ask(NO_SESSION, 0, 0)
    assert story.ask(1, 1, reads=[Read(0, high_watermark=9)]) == (1, [0])
    assert story.ask(1, 2, reads=[Read(0, high_watermark=9)]) == (1, [])


@pytest.mark.parametrize("special", [{"error_code": 6}, {"diverging_epoch": object()}])
def test_a_partition_is_told_of_again_when_its_error_is_over(special):
    story = Story()
    story.ask(NO_SESSION, 0, 0)
    story.ask(1, 1, reads=[Read(0, **special)])
    assert story.ask(1, 2) == (1, [0])
    assert story.ask(1, 3) == (1, [])


def test_a_later_request_names_only_what_changed():
    story = Story()
    story.ask(NO_SESSION, 0, 0, 1, 2)
    changed = story.begin(1, 1, AskedPartition(1, 10), AskedPartition(3, 4), forgotten=[0])
    assert asked_by(changed) == [(1, 10), (2, 0), (3, 4)]
    assert story.finish(changed) == (1, [3])
    assert asked_by(story.begin(1, 2)) == [(1, 10), (2, 0), (3, 4)]
    assert story.sessions.partition_count == 3


def test_a_partition_both_named_and_forgotten_is_forgotten():
    story = Story()
    story.ask(NO_SESSION, 0, 0, 1)
    assert asked_by(story.begin(1, 1, 1, forgotten=[1])) == [(0, 0)]


def test_partitions_that_gave_records_are_read_last_next_time():
    story = Story()
    story.ask(NO_SESSION, 0, 0, 1, 2)
    story.ask(1, 1, reads=[Read(0, records=b"r")])
    assert asked_by(story.begin(1, 2)) == [(1, 0), (2, 0), (0, 0)]


def test_no_partition_starves_where_a_request_has_room_for_one():
    story = Story()
    story.ask(NO_SESSION, 0, 0, 1, 2)
    served = []
    for epoch in range(1, 7):
        fetch = story.begin(1, epoch)
        first = fetch.partitions[0][1].partition
        served.extend(story.finish(fetch, Read(first, records=b"r"))[1])
    assert served == [0, 1, 2, 0, 1, 2]


@pytest.mark.parametrize(
    ("session_id", "epoch", "by_id", "code"),
    [
        (2, 1, False, ErrorCode.FETCH_SESSION_ID_NOT_FOUND),
        (NO_SESSION, 1, False, ErrorCode.FETCH_SESSION_ID_NOT_FOUND),
        (1, 2, False, ErrorCode.INVALID_FETCH_SESSION_EPOCH),
        (1, -2, False, ErrorCode.INVALID_FETCH_SESSION_EPOCH),
        (1, 1, True, ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR),
    ],
)
def test_trap_44_a_request_that_does_not_fit_its_session_is_refused_and_changes_nothing(session_id, epoch, by_id, code):
    story = Story()
    story.ask(NO_SESSION, 0, 0)
    assert story.refusal(session_id, epoch, 5, by_id=by_id, topic=TOPIC_ID if by_id else "t") == code
    assert asked_by(story.begin(1, 1)) == [(0, 0)]


def test_a_session_of_ids_is_not_asked_by_name():
    story = Story()
    story.ask(NO_SESSION, 0, 0, by_id=True, topic=TOPIC_ID)
    assert story.refusal(1, 1, 0) == ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR


def test_a_request_that_comes_twice_is_refused_the_second_time():
    story = Story()
    story.ask(NO_SESSION, 0, 0)
    story.ask(1, 1)
    assert story.refusal(1, 1) == ErrorCode.INVALID_FETCH_SESSION_EPOCH


def test_a_request_that_waits_while_the_next_one_comes_is_refused():
    story = Story()
    story.ask(NO_SESSION, 0, 0)
    waiting = story.begin(1, 1)
    story.ask(1, 2)
    with pytest.raises(ApiError) as refused:
        story.finish(waiting)
    assert refused.value.code == ErrorCode.INVALID_FETCH_SESSION_EPOCH


@pytest.mark.parametrize(("epoch", "expected"), [(-1, (NO_SESSION, [0])), (0, (2, [0]))])
def test_epochs_minus_one_and_zero_end_the_session_they_name(epoch, expected):
    story = Story()
    story.ask(NO_SESSION, 0, 0, 1)
    assert story.ask(1, epoch, 0) == expected
    assert story.refusal(1, 1) == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_a_session_that_forgot_everything_ends():
    story = Story()
    story.ask(NO_SESSION, 0, 0)
    assert story.ask(1, 1, forgotten=[0]) == (NO_SESSION, [])
    assert (len(story.sessions), story.sessions.partition_count) == (0, 0)


def test_a_session_of_nothing_yet_is_told_its_first_partition_by_the_next_request():
    story = Story()
    assert story.ask(NO_SESSION, 0) == (1, [])
    assert story.ask(1, 1, 0) == (1, [0])
    assert story.sessions.partition_count == 1


def test_the_epoch_after_the_largest_is_one():
    story = Story()
    story.ask(NO_SESSION, 0, 0)
    story.sessions._sessions[1].epoch = 2**31 - 1
    story.ask(1, 2**31 - 1)
    assert story.ask(1, 1) == (1, [])


def test_an_id_in_use_is_not_given_again():
    ids = iter([5, 5, 6])
    story = Story()
    story.sessions = FetchSessions(ids.__next__)
    assert [story.ask(NO_SESSION, 0, 0)[0] for _ in range(2)] == [5, 6]


def opens(story: Story, size: int) -> int:
    return story.ask(NO_SESSION, 0, *range(size))[0]


@pytest.mark.parametrize(
    ("held", "new", "waited_ms", "is_taken"),
    [
        # partitions of the session in the only place, of the one that wants it
        (2, 9, 0, False),  # young and in use
        (2, 3, LONG, True),  # old, and smaller
        (2, 2, LONG, False),  # old, but not smaller
    ],
)
def test_a_place_goes_to_who_is_worth_more(held, new, waited_ms, is_taken):
    story = Story(sessions_max=1)
    opens(story, held)
    story.now_ms = waited_ms
    story.ask(1, 1)
    assert opens(story, new) == (2 if is_taken else NO_SESSION)
    assert (1 in story.sessions._sessions) is not is_taken


def test_a_place_nobody_used_for_long_goes_to_anybody():
    story = Story(sessions_max=2)
    opens(story, 9)
    opens(story, 9)
    story.now_ms = LONG
    story.ask(1, 1)
    assert opens(story, 1) == 3
    assert story.sessions._sessions.keys() == {1, 3}


def test_sessions_remember_no_more_partitions_than_they_may():
    story = Story(partitions_max=10)
    assert opens(story, 11) == NO_SESSION
    assert opens(story, 6) == 1
    assert opens(story, 5) == NO_SESSION
    assert opens(story, 4) == 2
    assert story.refusal(2, 1, 4) == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert (len(story.sessions), story.sessions.partition_count) == (1, 6)


requests = st.tuples(
    st.sampled_from(["open", "next", "wrong", "close"]),
    st.integers(1, 4),
    st.lists(st.integers(0, 5), max_size=4),
    st.lists(st.integers(0, 5), max_size=2),
    st.lists(st.integers(0, 5), max_size=3),
)


@given(st.lists(requests, max_size=40))
def test_a_client_that_keeps_what_it_was_told_always_knows_every_high_watermark(steps):
    """Whatever is asked in whatever order, within the limits: what the client believes is what the broker read."""
    story = Story(sessions_max=3, partitions_max=8)
    marks = dict.fromkeys(range(6), 0)
    believed: dict[int, dict[int, int]] = {}
    epochs: dict[int, int] = {}
    for kind, session_id, wanted, forgotten, moved in steps:
        for partition in moved:
            marks[partition] += 1
        epoch = {"open": 0, "close": -1, "wrong": 99}.get(kind, epochs.get(session_id, 1))
        try:
            fetch = story.begin(session_id, epoch, *wanted, forgotten=forgotten)
            answers = [
                (topic, Read(partition.partition, high_watermark=marks[partition.partition]))
                for topic, partition in fetch.partitions
            ]
            answered_id, answered = fetch.finish(answers)
        except ApiError:
            continue
        if answered_id != NO_SESSION:
            view = believed[answered_id] = {} if kind == "open" else believed[answered_id]
            view.update({answer.partition_index: answer.high_watermark for _, answer in answered})
            assert all(view[partition.partition] == marks[partition.partition] for _, partition in fetch.partitions)
            epochs[answered_id] = 1 if kind == "open" else epoch + 1
        assert len(story.sessions) <= 3
        held = [len(session.partitions) for session in story.sessions._sessions.values()]
        assert story.sessions.partition_count == sum(held) <= 8


def test_another_principal_that_guesses_the_id_of_a_session_neither_goes_on_with_it_nor_ends_it():
    story = Story()
    session_id, _ = story.ask(0, 0, 0, 1, principal="User:alice")
    assert story.refusal(session_id, 1, principal="User:bob") == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    for epoch in (0, -1):
        story.ask(session_id, epoch, 0, principal="User:bob")
    assert story.ask(session_id, 1, principal="User:alice") == (session_id, [])
    assert story.ask(session_id, -1, principal="User:alice")[0] == NO_SESSION
    assert story.refusal(session_id, 2, principal="User:alice") == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
