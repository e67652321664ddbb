"""What a follower asks of a leader, and which answers count."""

from uuid import UUID

import pytest

from broker.common.limits import PARTITIONS_PER_FETCH
from broker.common.types import TopicPartition
from broker.replication.leader_link import CLOSE_TOGETHER_MS, FETCHES_UNDER_WAY, FollowerPosition, LeaderLink

T, U, V = TopicPartition("t", 0), TopicPartition("u", 0), TopicPartition("u", 1)
ID_T, ID_U = UUID(int=1), UUID(int=2)
SESSION = 77


class Follower:
    """A link with logs that are only numbers."""

    def __init__(self):
        self.link = LeaderLink()
        self.ends = {}

    def plan(self, now_ms=0):
        return self.link.next_plan(lambda item: FollowerPosition(self.ends.get(item, 0), 4, 0), now_ms)

    def plans(self, now_ms=0):
        plans = []
        while (plan := self.plan(now_ms)) is not None:
            plans.append(plan)
        return plans

    def takes_records(self, now_ms):
        """Of the answer to the oldest fetch, and goes on asking; the requests."""
        self.link.answered(SESSION)
        self.link.took_records(T, now_ms)
        return self.plans(now_ms)

    def opened(self):
        self.link.follow(T, ID_T, 5)
        assert self.plan().opens_session
        assert self.link.answered(SESSION) == 0
        return self


@pytest.fixture
def follower():
    return Follower()


def test_nothing_is_asked_while_nothing_is_followed(follower):
    assert follower.plan() is None


def test_the_first_request_opens_a_session_with_everything_followed(follower):
    follower.ends[T] = 42
    follower.link.follow(T, ID_T, 5)
    follower.link.follow(U, ID_U, 6)
    plan = follower.plan()
    assert plan.opens_session
    assert [(ask.topic_partition, ask.leader_epoch, ask.is_progress) for ask in plan.asks] == [
        (T, 5, False),
        (U, 6, False),
    ]
    assert plan.asks[0].position.log_end_offset == 42
    assert follower.plan() is None, "the session's id is not known yet"


def test_at_rest_one_fetch_is_under_way(follower):
    (plan,) = follower.opened().plans()
    assert (plan.session_id, plan.session_epoch, plan.asks) == (SESSION, 1, [])
    assert [len(record.asks) for record in follower.takes_records(now_ms=1_000)] == [1], (
        "it says what is held, and waits"
    )
    follower.link.answered(SESSION)
    assert len(follower.plans(now_ms=1_500)) == 1


def test_while_records_come_close_together_several_fetches_are_under_way(follower):
    follower.opened().plans()
    follower.takes_records(now_ms=1_000)
    plans = follower.takes_records(now_ms=1_000 + CLOSE_TOGETHER_MS)
    assert [len(plan.asks) for plan in plans] == [1] + [0] * (FETCHES_UNDER_WAY - 1)
    assert [plan.session_epoch for plan in plans] == list(range(3, 3 + FETCHES_UNDER_WAY))


def test_of_several_fetches_one_is_left_when_no_more_records_come(follower):
    follower.opened().plans()
    follower.takes_records(now_ms=1_000)
    follower.takes_records(now_ms=1_001)
    late_ms = 1_002 + CLOSE_TOGETHER_MS
    sent = []
    for _ in range(FETCHES_UNDER_WAY):
        follower.link.answered(SESSION)
        sent += follower.plans(late_ms)
    assert len(sent) == 1


def test_records_of_several_partitions_in_one_answer_are_not_close_together(follower):
    follower.opened().link.follow(U, ID_U, 5)
    follower.plans()
    follower.link.answered(SESSION)
    for item in (T, U):
        follower.link.took_records(item, now_ms=1_000)
    assert len(follower.plans(now_ms=1_000)) == 1


def test_records_taken_are_acknowledged_with_the_next_request(follower):
    follower.opened().plans()
    request = follower.link.answered(SESSION)
    assert follower.link.counts(T, request)
    follower.ends[T] = 10
    follower.link.took_records(T, now_ms=0)
    (plan,) = follower.plans()
    assert [(ask.topic_partition, ask.is_progress, ask.position.log_end_offset) for ask in plan.asks] == [(T, True, 10)]


def test_an_idle_answer_is_replaced_by_one_request_without_partitions(follower):
    follower.opened().plans()
    follower.link.answered(SESSION)
    (plan,) = follower.plans()
    assert not plan.asks


def test_a_partition_added_later_is_asked_for_at_once_though_fetches_are_under_way(follower):
    follower.opened().plans()
    follower.link.follow(U, ID_U, 6)
    (plan,) = follower.plans()
    assert [ask.topic_partition for ask in plan.asks] == [U]
    assert not plan.asks[0].is_progress


def test_answers_to_requests_from_before_a_new_leader_epoch_do_not_count(follower):
    follower.opened().plans()
    follower.link.follow(T, ID_T, 6)
    (plan,) = follower.plans()
    assert plan.asks[0].leader_epoch == 6
    assert not follower.link.counts(T, follower.link.answered(SESSION))
    assert follower.link.counts(T, follower.link.answered(SESSION))


def test_a_partition_not_followed_any_more_is_forgotten_and_its_answers_do_not_count(follower):
    follower.opened().plans()
    follower.link.unfollow(T)
    (plan,) = follower.plans()
    assert plan.forgotten == [(ID_T, 0)]
    assert not follower.link.counts(T, follower.link.answered(SESSION))


def test_a_partition_dropped_and_followed_again_is_asked_for_and_not_forgotten(follower):
    follower.opened().plans()
    follower.link.unfollow(T)
    follower.link.follow(T, ID_T, 7)
    (plan,) = follower.plans()
    assert not plan.forgotten
    assert [ask.leader_epoch for ask in plan.asks] == [7]


def test_a_topic_made_anew_is_another_topic(follower):
    follower.opened().plans()
    follower.link.follow(T, ID_U, 0)
    (plan,) = follower.plans()
    assert plan.forgotten == [(ID_T, 0)]
    assert [ask.topic_id for ask in plan.asks] == [ID_U]


def test_a_refused_partition_is_asked_for_again_after_a_while_and_not_before(follower):
    follower.opened().plans()
    request = follower.link.answered(SESSION)
    follower.link.ask_later(T, retry_at_ms=100)
    assert not follower.link.counts(T, request + 1)
    assert follower.link.next_retry_ms() == 100
    assert not follower.plan(now_ms=99).asks
    assert [ask.topic_partition for ask in follower.plan(now_ms=100).asks] == [T]


def test_after_the_connection_broke_everything_is_asked_for_in_a_new_session(follower):
    follower.opened().plans()
    follower.link.disconnected()
    plan = follower.plan()
    assert plan.opens_session
    assert [ask.topic_partition for ask in plan.asks] == [T]


def test_the_same_role_told_again_asks_for_nothing(follower):
    follower.opened().plans()
    follower.link.follow(T, ID_T, 5)
    assert follower.plans() == []


def test_a_throttled_partition_is_forgotten_and_asked_for_again_when_its_pause_is_over(follower):
    follower.opened().plans()
    request = follower.link.answered(SESSION)
    follower.link.took_records(T, now_ms=0)
    follower.link.pause(T, retry_at_ms=100)
    (plan,) = follower.plans()
    assert plan.forgotten == [(ID_T, 0)]
    assert not plan.asks
    assert not follower.link.counts(T, request + 1), "what the leader sent before it heard of the pause"
    later = follower.plan(now_ms=100)
    assert [(ask.topic_partition, ask.is_progress) for ask in later.asks] == [(T, False)]


# --- logs that are not ready


def test_nothing_is_asked_of_a_log_that_is_held_and_nothing_counts_until_it_is_released(follower):
    follower.opened()
    answered = follower.plan()
    known = follower.link.hold(T)
    assert not follower.link.counts(T, 1)
    follower.link.answered(SESSION)
    assert answered is not None
    assert not any(plan.asks for plan in follower.plans())
    follower.ends[T] = 7
    follower.link.release(known)
    asks = [ask for plan in follower.plans() for ask in plan.asks]
    assert [(ask.topic_partition, ask.position.log_end_offset, ask.is_progress) for ask in asks] == [(T, 7, False)]


def test_what_is_held_is_not_asked_for_in_the_next_session_either(follower):
    follower.opened().link.follow(U, ID_U, 5)
    known = follower.link.hold(T)
    follower.link.disconnected()
    assert [ask.topic_partition for ask in follower.plan().asks] == [U]
    follower.link.answered(SESSION)
    follower.link.release(known)
    assert [ask.topic_partition for ask in follower.plan().asks] == [T]


def test_a_log_that_is_released_for_later_is_asked_for_then(follower):
    known = follower.opened().link.hold(T)
    follower.link.release(known, retry_at_ms=500)
    assert not any(plan.asks for plan in follower.plans())
    follower.link.answered(SESSION)
    assert [ask.topic_partition for ask in follower.plan(now_ms=500).asks] == [T]


@pytest.mark.parametrize("change", ["unfollow", "new epoch"])
def test_what_was_held_of_another_leader_epoch_releases_nothing(follower, change):
    known = follower.opened().link.hold(T)
    if change == "unfollow":
        follower.link.unfollow(T)
    else:
        follower.link.follow(T, ID_T, 6)
        assert [ask.leader_epoch for plan in follower.plans() for ask in plan.asks] == [6], "asked for at once"
    assert not follower.link.is_followed(known)
    follower.link.release(known)
    assert not any(plan.asks for plan in follower.plans())


MANY = [TopicPartition("m", number) for number in range(2 * PARTITIONS_PER_FETCH + 7)]


def test_who_follows_very_many_asks_for_them_in_several_requests(follower):
    follower.opened().plans()
    for item in MANY:
        follower.link.follow(item, ID_U, 1)
    plans = follower.plans()
    assert [len(plan.asks) for plan in plans] == [PARTITIONS_PER_FETCH, PARTITIONS_PER_FETCH, 7]
    assert [plan.is_full for plan in plans] == [True, True, False]
    assert [ask.topic_partition for plan in plans for ask in plan.asks] == MANY
    first, second = 2, 3
    assert follower.link.counts(MANY[0], first)
    assert not follower.link.counts(MANY[PARTITIONS_PER_FETCH], first), "it was not asked for yet"
    assert follower.link.counts(MANY[PARTITIONS_PER_FETCH], second)


def test_of_very_many_what_is_held_is_said_first_and_all_of_it(follower):
    follower.opened().plans()
    for item in MANY:
        follower.link.follow(item, ID_U, 1)
    requests = follower.plans()
    for _ in range(1 + len(requests)):
        follower.link.answered(SESSION)
    for item in MANY:
        follower.link.took_records(item, now_ms=0)
    follower.link.follow(U, ID_U, 6)
    asks = [ask for plan in follower.plans() for ask in plan.asks]
    assert [ask.topic_partition for ask in asks] == [*MANY, U]
    assert [ask.is_progress for ask in asks] == [True] * len(MANY) + [False]


def test_what_is_forgotten_and_followed_again_is_never_forgotten_after_that(follower):
    follower.opened().plans()
    for item in MANY:
        follower.link.follow(item, ID_U, 1)
    follower.plans()
    for item in MANY:
        follower.link.unfollow(item)
    for item in MANY[-3:]:
        follower.link.follow(item, ID_U, 2)
    followed = set()
    for plan in follower.plans():
        followed -= {TopicPartition("m", number) for _, number in plan.forgotten}
        followed |= {ask.topic_partition for ask in plan.asks}
        assert len(plan.forgotten) <= PARTITIONS_PER_FETCH
    assert followed == set(MANY[-3:])


def test_what_is_not_ready_is_held_and_the_others_are_asked_for(follower):
    follower.opened().plans()
    follower.link.follow(U, ID_U, 6)
    follower.link.follow(V, ID_U, 6)
    position = FollowerPosition(0, 4, 0)
    plan = follower.link.next_plan(lambda _: position, 0, lambda known: known.topic_partition != U)
    assert [ask.topic_partition for ask in plan.asks] == [V]
    assert follower.plan() is None
    follower.link.release(follower.link.followed[U])
    assert [ask.topic_partition for ask in follower.plan().asks] == [U]
