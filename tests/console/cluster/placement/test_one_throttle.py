"""One throttled move at a time: the values of a second would be put back to those of the first, and stay for ever."""

import pytest
from django.conf import settings

from console.cluster.placement.actions import do_move
from console.cluster.placement.collect import MoveWatch
from console.cluster.placement.models import Reassignment
from console.cluster.placement.moving import planned
from console.kit.audit.models import AuditEvent
from console.kit.gateway.moves.interface import RATE_KEYS
from console.kit.plans.plan import ObstacleError
from tests.console.confirming import confirmation_of

NONE = dict.fromkeys(RATE_KEYS)
FIRST = dict.fromkeys(RATE_KEYS, "1000000")


@pytest.fixture(autouse=True)
def _topics(cluster, collect):
    for topic in ("clicks", "orders"):
        cluster.create_topic(topic, 1, 1)
    collect()


def confirmed(user, topic: str, rate: int | None):
    """A move to broker 3 whose plan was confirmed just now; called, it begins."""
    move = planned({(topic, 0): (3,)}, rate)
    plan = move.as_plan(settings.BOOTSTRAP_SERVERS)
    return lambda: do_move(user, plan, move, confirmation_of(plan, user))


def rates(cluster) -> dict[int, dict[str, str | None]]:
    return cluster.moves.throttles([1, 2, 3], []).brokers


def test_of_two_throttled_moves_at_one_time_the_second_is_refused(cluster, operator):
    # Both requests have looked for a throttled move, and seen none, before either writes its own.
    first, second = confirmed(operator, "clicks", 1_000_000), confirmed(operator, "orders", 2_000_000)
    first()
    with pytest.raises(ObstacleError, match=r"A throttled move is under way \(clicks\): wait for its end, or move"):
        second()
    assert set(cluster.moves.under_way()) == {("clicks", 0)}
    assert rates(cluster)[3] == FIRST
    assert Reassignment.objects.get().object_name == "clicks"
    assert list(AuditEvent.objects.order_by("pk").values_list("object_name", "result")) == [
        ("clicks", "done"),
        ("orders", "refused"),
    ]


def test_two_throttled_moves_at_one_time_leave_no_throttle(cluster, operator, clock):
    first, second = confirmed(operator, "clicks", 1_000_000), confirmed(operator, "orders", 2_000_000)
    first()
    with pytest.raises(ObstacleError):
        second()
    watch = MoveWatch(cluster, clock.now_ms)
    cluster.moves.arrive()
    watch.look()
    confirmed(operator, "orders", 2_000_000)()
    cluster.moves.arrive()
    watch.look()
    assert list(Reassignment.objects.values_list("state", flat=True)) == ["done", "done"]
    assert rates(cluster) == dict.fromkeys((1, 2, 3), NONE)


def test_a_move_without_throttle_goes_beside_one_with(cluster, operator):
    first, second = confirmed(operator, "clicks", 1_000_000), confirmed(operator, "orders", None)
    first()
    second()
    assert set(cluster.moves.under_way()) == {("clicks", 0), ("orders", 0)}


def test_a_throttled_move_that_has_not_set_its_throttle_yet_is_in_the_way_of_the_next_plan(operator):
    beginning = {"former": {}, "wanted": {}, "partition_count": 1, "rate": 1_000_000}
    Reassignment.objects.create(object_name="clicks", **beginning)
    assert "A throttled move is under way (clicks)" in planned({("orders", 0): (3,)}, 2_000_000).obstacle
    Reassignment.objects.update(state="done")
    assert planned({("orders", 0): (3,)}, 2_000_000).obstacle == ""
