"""Brokers that stand still (SIGSTOP) while others take their place, and then go on as if nothing had been."""

import time

from broker.common.errors import ErrorCode
from broker.protocol.messages.leader_and_isr import LeaderAndIsrRequest
from tests.barnabas_cluster import await_true
from tests.faults.matrix.late_client import LateProducer, LateReader
from tests.faults.matrix.stage import Stage
from tests.faults.matrix.wire import WireClient

_SESSIONS_STOPPED = 3
_SESSION_S = 4.0
_LATE_REQUESTS = 20
_LEADER_AND_ISR_VERSION = 7


def stop_the_leader(stage: Stage) -> None:
    """It stands still for three sessions; what reaches it meanwhile it finds when it goes on."""
    partition = stage.random.randrange(6)
    leader = stage.state("kept", partition).leader
    led = {topic: stage.led_by(leader, topic) for topic in ("kept", "loose")}
    port = stage.broker(leader).port
    at = stage.suspend(leader)
    for_all = LateProducer("late-all", port, "kept", "all", stage.history)
    for_one = LateProducer("late-one", port, "loose", "1", stage.history)
    for number in range(_LATE_REQUESTS):
        for_all.send(led["kept"][number % len(led["kept"])])
        for_one.send(led["loose"][number % len(led["loose"])])
    stage.await_leader("kept", partition, stage.others(leader))
    stage.measured["fail-over"] = stage.note("another leads") - at
    stage.await_progress()
    reader = LateReader("late-reader", port, stage.history)
    reader.ask("kept", partition, 0)
    stage.stay_until(at + _SESSIONS_STOPPED * _SESSION_S)
    stage.resume(leader)
    codes = for_all.outcomes()
    if ErrorCode.NONE in codes:
        stage.violations.append(f"a leader that was replaced acknowledged acks=all: {[code.name for code in codes]}")
    for_one.outcomes()
    reader.note_answer()


def stop_the_controller(stage: Stage) -> None:
    """Another one is elected; the old one goes on with its old epoch, and nobody listens to that epoch any more."""
    controller, epoch = stage.watch.controller(), stage.watch.controller_epoch()
    at = stage.suspend(controller)
    following = stage.await_controller(stage.others(controller))
    stage.measured["fail-over"] = stage.note("another controls") - at
    stage.measured["create"] = stage.await_topic_can_be_created("while-it-stands")
    stage.stay_until(at + _SESSIONS_STOPPED * _SESSION_S)
    went_on = stage.resume(controller)
    _expect_refusal_of_old_epoch(stage, stage.others(controller), epoch)
    await_true(lambda: stage.watch.broker_epoch(controller) > 0, f"broker {controller} is registered again")
    stage.measured["registered"] = time.monotonic() - went_on
    if stage.watch.controller() != following:
        stage.violations.append(
            f"I8: {following} was controller until the old one came back, now {stage.watch.controller()}"
        )
    stage.await_topic_can_be_created("after-it-stood")


def _expect_refusal_of_old_epoch(stage: Stage, broker_ids: list[int], epoch: int) -> None:
    for broker_id in broker_ids:
        request = LeaderAndIsrRequest(
            controller_id=0,
            controller_epoch=epoch,
            broker_epoch=stage.watch.broker_epoch(broker_id),
            type=0,
            topic_states=[],
            live_leaders=[],
        )
        with WireClient(stage.broker(broker_id).port) as client:
            client.log_in(stage.watch.secret())
            code = ErrorCode(client.ask(request, _LEADER_AND_ISR_VERSION).error_code)
        if code is not ErrorCode.STALE_CONTROLLER_EPOCH:
            stage.violations.append(f"I8: broker {broker_id} answered {code.name} to controller epoch {epoch}")
