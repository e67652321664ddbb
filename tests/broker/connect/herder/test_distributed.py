"""Two and three workers as processes: they share what runs, and one that dies or sleeps loses nothing."""

import json
import os
import signal
import time

import pytest
from confluent_kafka import Consumer

from broker.connect.group.session_key import SessionKey, read_key, signed_headers
from tests.barnabas_cluster import await_true
from tests.broker.connect.mock_cluster import all_records
from tests.broker.connect.workers import start_worker


def properties(cluster, group: str) -> dict[str, str]:
    storage = {f"{kind}.storage.topic": f"{group}-{kind}" for kind in ("config", "offset", "status")}
    copies = {f"{kind}.storage.replication.factor": "1" for kind in ("config", "offset", "status")}
    return {
        "bootstrap.servers": cluster.bootstrap_servers,
        "group.id": group,
        "session.timeout.ms": "6000",
        "heartbeat.interval.ms": "500",
        "scheduled.rebalance.max.delay.ms": "1000",
        "offset.storage.partitions": "3",
        "status.storage.partitions": "2",
        **storage,
        **copies,
    }


class Workers:
    def __init__(self, cluster, tmp_path, group, properties):
        self.cluster, self.tmp_path, self.group, self._properties = cluster, tmp_path, group, properties
        self.all = []

    def start(self):
        directory = self.tmp_path / f"worker-{len(self.all)}"
        worker = start_worker(directory, "distributed", self._properties)
        self.all.append(worker)
        await_true(worker.answers, "REST answers", 60)
        return worker


@pytest.fixture
def workers(cluster, tmp_path, request):
    group = request.node.name.replace("_", "-")[:60]
    started = Workers(cluster, tmp_path, group, properties(cluster, group))
    yield started
    for worker in started.all:
        if worker.process.poll() is None:
            worker.process.send_signal(signal.SIGCONT)
            worker.stop()


def put(worker, name, config):
    """Also while workers agree on a leader, which is answered by 409."""
    await_true(lambda: "name" in worker.ask("PUT", f"/connectors/{name}/config", config), f"{name} configured", 60)


def source(tmp_path, name, topic):
    return {"connector.class": "FileStreamSource", "file": str(tmp_path / f"{name}.txt"), "topic": topic}


def owners(worker, names) -> set[str]:
    return {worker.ask("GET", f"/connectors/{n}/status")["tasks"][0]["worker_id"] for n in names}


def stored_offsets(worker, name) -> list:
    return worker.ask("GET", f"/connectors/{name}/offsets")["offsets"]


def all_running(worker, names) -> bool:
    return all(worker.is_running(name) for name in names)


def values(cluster, topic, count, deadline_s=60.0):
    consumer = Consumer(
        {
            "bootstrap.servers": cluster.bootstrap_servers,
            "group.id": f"reads-{topic}-{os.getpid()}",
            "auto.offset.reset": "earliest",
        }
    )
    consumer.subscribe([topic])
    values = []
    end = time.monotonic() + deadline_s
    while time.monotonic() < end and len(set(values)) < count:
        values += [message.value() for message in consumer.consume(500, 0.5) if not message.error()]
    consumer.close()
    return values


def everything(cluster, topic) -> list[bytes]:
    """What the topic has at this moment, doubles included."""
    return [record.value() for record in all_records(cluster.bootstrap_servers, topic)]


def session_keys(workers) -> list[SessionKey]:
    records = all_records(workers.cluster.bootstrap_servers, f"{workers.group}-config")
    return [read_key(json.loads(record.value())) for record in records if record.key() == b"session-key"]


@pytest.mark.long
def test_requests_between_workers_are_signed_with_a_key_that_changes(workers, tmp_path):
    workers._properties |= {"inter.worker.key.ttl.ms": "4000"}
    first = workers.start()
    workers.start()
    names = [f"signed{n}" for n in range(2)]
    for name in names:
        (tmp_path / f"{name}.txt").write_text("line\n")
        put(first, name, source(tmp_path, name, "signed"))
    # One of the two runs elsewhere than at the leader, who took its tasks by a signed request.
    await_true(lambda: all_running(first, names) and len(owners(first, names)) == 2, "both run some", 60)
    leader = next(item for item in workers.all if "session key given out" in item.log.read_text())
    path, body = "/connectors/signed0/tasks", [{"file": "x", "topic": "signed"}]
    old = session_keys(workers)[0]

    def answer_to(key) -> int:
        content = json.dumps(body).encode()
        return leader.ask("POST", path, body, headers=signed_headers(key, "HmacSHA256", content))

    await_true(lambda: (answer_to(old) or {}).get("error_code") == 403, "an old key is one no more", 60)
    assert leader.ask("POST", path, body, status=400)["message"] == "Internal request missing required signature"
    assert leader.ask("PUT", "/connectors/signed0/fence", status=400)
    await_true(lambda: answer_to(session_keys(workers)[-1]) is None, "the newest key is good", 30)
    await_true(lambda: first.ask("GET", "/connectors/signed0/tasks")[0]["config"] == body[0], "and its tasks count")


def test_two_workers_share_connectors_and_any_answers(workers, tmp_path):
    first, second = workers.start(), workers.start()
    names = [f"f{n}" for n in range(4)]
    for n, name in enumerate(names):
        (tmp_path / f"{name}.txt").write_text(f"{name}\n")
        put((first, second)[n % 2], name, source(tmp_path, name, "shared"))
    await_true(lambda: all_running(first, names) and all_running(second, names), "all run", 60)
    await_true(lambda: len(owners(first, names)) == 2, "both have some", 60)
    assert len(values(workers.cluster, "shared", 4)) == 4
    for name in names:
        first.ask("POST", f"/connectors/{name}/restart?includeTasks=true", status=202)
        first.ask("POST", f"/connectors/{name}/tasks/0/restart", status=204)
    await_true(lambda: first.restarted() == second.restarted() == 6, "each restarted two connectors with a task, twice")
    await_true(lambda: all_running(second, names), "all run again", 60)
    first.ask("PUT", "/admin/loggers/broker.connect?scope=cluster", {"level": "DEBUG"}, status=204)
    level = lambda: second.ask("GET", "/admin/loggers/broker.connect")["level"]  # noqa: E731
    await_true(lambda: level() == "DEBUG", "the other worker's level, too")
    second.ask("DELETE", "/connectors/f0", status=204)
    await_true(lambda: first.ask("GET", "/connectors") == ["f1", "f2", "f3"], "deleted everywhere")


def test_what_a_killed_worker_ran_goes_on_elsewhere_and_no_line_is_lost(workers, tmp_path):
    first, second = workers.start(), workers.start()
    names = [f"k{n}" for n in range(4)]
    for name in names:
        (tmp_path / f"{name}.txt").write_text("".join(f"{name}-{n}\n" for n in range(200)))
        put(first, name, source(tmp_path, name, "killed"))
    await_true(lambda: all_running(first, names) and len(owners(first, names)) == 2, "both run some", 60)
    os.kill(second.process.pid, signal.SIGKILL)
    second.process.wait()
    for name in names:
        with (tmp_path / f"{name}.txt").open("a") as file:
            file.write("".join(f"{name}-{n}\n" for n in range(200, 400)))
    await_true(lambda: all_running(first, names) and len(owners(first, names)) == 1, "one runs all", 90)
    assert len(set(values(workers.cluster, "killed", 1600))) == 1600


def test_a_suspended_worker_writes_nothing_after_others_took_its_work(workers, tmp_path):
    first, second = workers.start(), workers.start()
    names = [f"s{n}" for n in range(4)]
    for name in names:
        (tmp_path / f"{name}.txt").write_text(f"{name}-before\n")
        put(first, name, source(tmp_path, name, "asleep"))
    await_true(lambda: all_running(first, names) and len(owners(first, names)) == 2, "both run some", 60)
    # A line whose offset is not stored yet is read again by the successor: at least once.
    await_true(lambda: all(stored_offsets(first, name) for name in names), "the first lines are stored as read", 60)
    os.kill(second.process.pid, signal.SIGSTOP)
    await_true(lambda: all_running(first, names) and len(owners(first, names)) == 1, "one runs all", 90)
    for name in names:
        with (tmp_path / f"{name}.txt").open("a") as file:
            file.write(f"{name}-after\n")
    os.kill(second.process.pid, signal.SIGCONT)
    await_true(lambda: "out of the group" in second.log.read_text(), "the sleeper knows what it missed")
    await_true(lambda: all_running(first, names) and len(owners(first, names)) == 2, "it is back in the group", 90)
    # A task that was handed back before it read the new line runs before it has written it.
    await_true(lambda: len(set(everything(workers.cluster, "asleep"))) == 8, "every line is written", 60)
    assert len(everything(workers.cluster, "asleep")) == 8
