"""Brokers that die, one, two or all of them, and brokers that are told to stop."""

import time

from tests.faults.matrix.stage import Stage

_DOWN_S = 5.0
_ALL_DOWN_TIMES = 2


def kill_the_leader(stage: Stage) -> None:
    """Another replica leads within the session's timeout and a little; the dead one comes back after 5 s."""
    partition = stage.random.randrange(6)
    leader = stage.state("kept", partition).leader
    at = stage.kill(leader)
    stage.await_leader("kept", partition, stage.others(leader))
    stage.measured["fail-over"] = stage.note("another leads") - at
    stage.await_progress()
    stage.stay_until(at + _DOWN_S)


def kill_the_controller(stage: Stage) -> None:
    """First as one that leads nothing, so that only the controller fails over; then with a leader, both at once."""
    controller = stage.watch.controller()
    stage.create_led_by("elsewhere", stage.others(controller))
    at = stage.kill(controller)
    following = stage.await_controller(stage.others(controller))
    stage.measured["fail-over"] = stage.note("another controls") - at
    stage.measured["create"] = stage.await_topic_can_be_created("after-one")
    stage.start(controller)
    stage.await_whole()
    leader = stage.random.choice(stage.others(following))
    stage.kill(following, leader)
    stage.await_controller(stage.others(following, leader))
    stage.measured["create again"] = stage.await_topic_can_be_created("after-both")
    (alone,) = stage.others(following, leader)
    stage.await_leader("kept", 0, [alone])
    stage.expect_too_few_in_sync("alone", alone, "kept", 0)


def kill_all(stage: Stage) -> None:
    """All at once, under load: what was acknowledged is in the page cache of three."""
    for _ in range(_ALL_DOWN_TIMES):
        everybody = stage.others()
        stage.kill(*everybody)
        stage.start(*stage.random.sample(everybody, len(everybody)))
        began = time.monotonic()
        stage.heal()
        stage.await_whole()
        stage.measured["whole"] = max(time.monotonic() - began, stage.measured.get("whole", 0.0))
        stage.await_progress()
