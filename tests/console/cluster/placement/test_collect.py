import pytest

from console.cluster.placement.collect import MoveWatch
from console.cluster.placement.models import KEPT, OngoingMove, Reassignment
from console.cluster.placement.throttle import as_stored
from console.kit.gateway.moves.interface import RATE_KEYS, Throttles
from console.kit.live import groups

BOTH = dict.fromkeys(RATE_KEYS, "5000")
NONE = dict.fromkeys(RATE_KEYS)


@pytest.fixture(autouse=True)
def _orders(cluster, db):
    cluster.create_topic("orders", 1, 1)
    cluster.append("orders", 0, 10)


@pytest.fixture
def watch(cluster, clock) -> MoveWatch:
    return MoveWatch(cluster, clock.now_ms)


def reassignment(**changes) -> Reassignment:
    fields = {
        "state": "running",
        "actor_name": "operator",
        "action": "move partitions",
        "object_name": "orders",
        "former": {"orders": {"0": [1]}},
        "wanted": {"orders": {"0": [3]}},
        "partition_count": 1,
    }
    return Reassignment.objects.create(**{**fields, **changes})


def throttled(cluster, *broker_ids: int) -> dict:
    wanted = Throttles(dict.fromkeys(broker_ids, BOTH))
    cluster.moves.set_throttles(wanted)
    return {"set": as_stored(wanted), "former": as_stored(Throttles(dict.fromkeys(broker_ids, NONE)))}


def test_a_move_that_others_asked_for_is_seen_too(cluster, watch):
    cluster.moves.alter({("orders", 0): (3,)})

    assert watch.look()
    (seen,) = OngoingMove.objects.all()
    assert (seen.adding, seen.removing, seen.size_bytes, seen.percent) == ([3], [1], 1_000, 0)


def test_a_look_that_finds_nothing_new_says_so(cluster, watch, clock):
    cluster.moves.alter({("orders", 0): (3,)})
    watch.look()
    clock.advance(2_000)
    watch.look()

    assert not watch.look()


def test_pace_and_time_to_go_follow_what_was_copied(cluster, watch, clock):
    cluster.moves.alter({("orders", 0): (3,)})
    for copied in (100, 300, 500):
        cluster.moves.copy("orders", 0, 3, copied)
        watch.look()
        clock.advance(1_000)
    seen = OngoingMove.objects.get()

    assert (seen.copied_bytes, seen.percent, seen.bytes_per_second, seen.left_ms) == (500, 50, 200, 2_500)


def test_a_copy_larger_than_its_source_is_not_more_than_all(cluster, watch):
    cluster.moves.alter({("orders", 0): (3,)})
    cluster.moves.copy("orders", 0, 3, 9_999)
    watch.look()

    assert OngoingMove.objects.get().percent == 99


def test_the_throttle_goes_before_the_move_is_called_done(cluster, watch):
    kept = reassignment(throttles=throttled(cluster, 1, 3))
    cluster.moves.alter({("orders", 0): (3,)})
    watch.look()
    assert cluster.moves.throttles([1], []).brokers[1] == BOTH
    cluster.moves.arrive()
    watch.look()
    kept.refresh_from_db()

    assert cluster.moves.throttles([1, 3], []).brokers == {1: NONE, 3: NONE}
    assert (kept.state, kept.throttles) == ("done", None)


def test_a_broker_that_is_away_loses_its_throttle_when_it_is_back(cluster, watch):
    kept = reassignment(throttles=throttled(cluster, 2, 3), state="done")
    cluster.stop_broker(2)
    watch.look()
    watch.look()
    assert cluster.moves.throttles([3], []).brokers == {3: NONE}
    cluster.start_broker(2)
    assert cluster.moves.throttles([2], []).brokers == {2: BOTH}
    watch.look()
    watch.look()
    kept.refresh_from_db()

    assert cluster.moves.throttles([2], []).brokers == {2: NONE}
    assert kept.throttles is None


def test_a_throttle_outlives_a_cluster_that_does_not_answer(cluster, watch):
    kept = reassignment(throttles=throttled(cluster, 3))
    cluster.moves.alter({("orders", 0): (3,)})
    cluster.moves.arrive()
    cluster.cut_off()
    with pytest.raises(Exception, match="No broker answered"):
        watch.look()
    cluster.cut_off(False)
    watch.look()
    kept.refresh_from_db()

    assert (kept.state, kept.throttles) == ("done", None)


def test_a_move_that_is_just_beginning_is_not_called_off(cluster, watch):
    kept = reassignment(state="beginning")
    for _ in range(5):
        watch.look()
    kept.refresh_from_db()

    assert kept.state == "beginning"


def test_the_oldest_of_many_moves_are_forgotten(cluster, watch):
    for _ in range(KEPT + 5):
        reassignment(wanted={"orders": {"0": [1]}})
    watch.look()

    assert Reassignment.objects.count() == KEPT


@pytest.mark.usefixtures("listeners")
def test_progress_is_pushed_to_the_placement_page(cluster, collector, collect, monkeypatch):
    collect()
    sent: list[tuple[str, str]] = []
    monkeypatch.setattr("console.cluster.placement.collect.send_now", sent.extend)
    cluster.moves.alter({("orders", 0): (3,)})
    collector.look("moves")

    assert [group for group, html in sent if 'id="placement-moves"' in html] == [groups.PLACEMENT]
