from console.cluster.placement.move import PartitionMove
from console.cluster.placement.throttle import as_stored, as_throttles, throttles_after, throttles_for
from console.kit.gateway.moves.interface import RATE_KEYS, REPLICA_KEYS, Throttles

LEADERS, FOLLOWERS = REPLICA_KEYS
MOVES = [PartitionMove("orders", 0, (1, 2), (4, 2)), PartitionMove("orders", 3, (2,), (3,))]
NOTHING = Throttles({}, {})


def test_those_there_give_and_those_that_come_take():
    wanted = throttles_for(MOVES, 5_000, NOTHING)

    assert wanted.brokers == {number: dict.fromkeys(RATE_KEYS, "5000") for number in (1, 2, 3, 4)}
    assert wanted.topics == {"orders": {LEADERS: "0:1,0:2,3:2", FOLLOWERS: "0:4,3:3"}}


def test_replicas_that_were_throttled_before_stay_so():
    present = Throttles({}, {"orders": {LEADERS: "*", FOLLOWERS: "7:1"}})

    assert throttles_for(MOVES, 5_000, present).topics == {"orders": {LEADERS: "*", FOLLOWERS: "7:1,0:4,3:3"}}


def test_the_end_puts_back_what_was_there_before():
    former = Throttles({1: dict.fromkeys(RATE_KEYS, "77"), 2: dict.fromkeys(RATE_KEYS)}, {"orders": {LEADERS: "7:1"}})
    wanted = throttles_for(MOVES, 5_000, former)
    former = Throttles({**dict.fromkeys((3, 4), dict.fromkeys(RATE_KEYS)), **former.brokers}, former.topics)
    after = throttles_after(wanted, former, wanted)

    assert after.brokers[1] == dict.fromkeys(RATE_KEYS, "77")
    assert after.brokers[2] == dict.fromkeys(RATE_KEYS)
    assert after.topics == {"orders": {LEADERS: "7:1", FOLLOWERS: None}}


def test_what_somebody_set_since_is_left_alone():
    wanted = throttles_for(MOVES, 5_000, NOTHING)
    former = Throttles({broker: {} for broker in wanted.brokers}, {"orders": {}})
    present = Throttles({**wanted.brokers, 1: dict.fromkeys(RATE_KEYS, "9")}, {"orders": {LEADERS: "*"}})
    after = throttles_after(wanted, former, present)

    assert 1 not in after.brokers
    assert after.topics == {}


def test_a_topic_that_is_gone_is_not_touched():
    wanted = throttles_for(MOVES, 5_000, NOTHING)

    assert throttles_after(wanted, wanted, Throttles(wanted.brokers, {})).topics == {}


def test_throttles_are_kept_and_read_back():
    wanted = throttles_for(MOVES, 5_000, NOTHING)

    assert as_throttles(as_stored(wanted)) == wanted
