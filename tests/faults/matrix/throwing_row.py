"""Calls inside brokers raise what nobody foresaw: each costs one request or one round, and a traceback."""

import re
import sys
from contextlib import AbstractContextManager
from pathlib import Path

from tests.barnabas_cluster import BrokerProcess, Cluster, await_true, running_cluster
from tests.faults.matrix.run import LAG_S
from tests.faults.matrix.stage import WHOLE_WITHIN_S, Stage
from tests.faults.matrix.throwing_broker import PLAN, THROWN, message

_LASTS_S = 15.0
_THROWN_MIN = 20
TOLD = ("thrown by a test at",)
RESTLESS = {
    "log.flush.scheduler.interval.ms": "1000",
    "log.flush.offset.checkpoint.interval.ms": "1000",
    "log.retention.check.interval.ms": "1000",
    "log.initial.task.delay.ms": "500",
    "producer.id.expiration.check.interval.ms": "1000",
}


def throwing_brokers(directory: Path, settings: dict[str, str], zookeepers: int) -> AbstractContextManager[Cluster]:
    command = (sys.executable, "-m", "tests.faults.matrix.throwing_broker")
    return running_cluster(directory, 3, settings, zookeepers, command=command)


def throw(stage: Stage) -> None:
    """Meanwhile a session ends, leaders move, a follower leaves the ISR and comes back, a topic is made."""
    for broker in stage.cluster.brokers:
        (broker.directory / PLAN).write_text(str(stage.random.randrange(10**6)))
    at = stage.note("calls raise from now on")
    first, second, _ = stage.random.sample(stage.others(), 3)
    stage.await_topic_can_be_created("meanwhile")
    epoch = stage.watch.broker_epoch(first)
    stage.expire_session(first)
    await_true(lambda: stage.watch.broker_epoch(first) > epoch, f"{first} has registered anew", WHOLE_WITHIN_S)
    stage.await_whole()
    paused = stage.suspend(second)
    stage.stay_until(paused + LAG_S)
    stage.resume(second)
    stage.await_whole()
    stage.lead_as_preferred("kept")
    stage.stay_until(at + _LASTS_S)
    for broker in stage.cluster.brokers:
        (broker.directory / PLAN).unlink()
        _check(stage, broker)


def _check(stage: Stage, broker: BrokerProcess) -> None:
    """It lives, and has told of each exception in one line, with where it came from."""
    if broker.process.poll() is not None:
        stage.violations.append(f"I10: broker {broker.broker_id} ended with {broker.process.returncode}")
    sites = (broker.directory / THROWN).read_text().splitlines()
    stage.note(f"raised in {broker.broker_id}: {sites}")
    if len(sites) < _THROWN_MIN:
        stage.violations.append(f"broker {broker.broker_id} met {len(sites)} exceptions only")
    lines = broker.log_path.read_text().splitlines()
    for site in sites:
        lines_of_site = [line for line in lines if re.search(rf"{re.escape(message(site))}\b", line)]
        if len(lines_of_site) != 1 or "Traceback" not in lines_of_site[0]:
            stage.violations.append(
                f"broker {broker.broker_id} tells {len(lines_of_site)} times what was raised at {site}: {lines_of_site}"
            )
