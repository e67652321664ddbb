"""Several registries: one writes, and whatever becomes of it, an id that was answered is given to nobody else."""

import contextlib
import json
import signal
import threading

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tests.barnabas_cluster import await_true
from tests.registry_process import RegistryProcess, running_registries


def schema(name):
    return {"schema": json.dumps({"type": "record", "name": name, "fields": []})}


@pytest.fixture
def registries(cluster, tmp_path, name):
    with running_registries(
        tmp_path, cluster.bootstrap_servers, 2, cluster.zookeeper.connect,
        kafkastore_topic=f"_schemas-{name}", schema_registry_zk_namespace=name, schema_registry_group_id=name,
        kafkastore_zk_session_timeout_ms="4000",
    ) as running:  # fmt: skip
        await_true(lambda: leader_of(running) is not None, "one leads", 60)
        yield running


def leader_of(registries):
    """The one whose last word on who leads is its own name."""
    for registry in registries:
        lines = [line for line in registry.log().splitlines() if "event=leader" in line]
        if lines and f"leader=127.0.0.1:{registry.port} " in lines[-1] + " ":
            return registry
    return None


class Writers:
    """Register new schemas through one registry until stopped, and remember what was answered."""

    def __init__(self, through: RegistryProcess, label: str):
        self.answered: dict[str, int] = {}
        self._through, self._label = through, label
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._write)
        self._thread.start()

    def _write(self):
        number = 0
        while not self._stopped.is_set():
            number += 1
            name = f"{self._label}{number}"
            with contextlib.suppress(OSError):
                response = self._through.ask("POST", f"/subjects/{name}/versions", schema(name))
                if response.status == 200:
                    self.answered[name] = response.body["id"]

    def stop(self):
        self._stopped.set()
        self._thread.join()


def check(answered, registries):
    """Every answer is still true at every registry, and no id was told for two schemas."""
    assert len(set(answered.values())) == len(answered), "an id was given twice"
    for registry in registries:

        def is_known(name, schema_id, registry=registry):
            response = registry.ask("GET", f"/schemas/ids/{schema_id}")
            return response.status == 200 and json.loads(response.body["schema"])["name"] == name

        for name, schema_id in answered.items():
            await_true(lambda name=name, schema_id=schema_id: is_known(name, schema_id), f"{name} is {schema_id}", 30)


def test_a_follower_passes_on_what_changes_something(registries):
    leader = leader_of(registries)
    [follower] = [registry for registry in registries if registry is not leader]
    made = follower.ask("POST", "/subjects/s%2Fx/versions", schema("A"))
    assert made.status == 200, made
    assert follower.ask("GET", f"/schemas/ids/{made.body['id']}").status == 200
    assert follower.ask("PUT", "/config/s%2Fx", {"compatibility": "FULL"}).body == {"compatibility": "FULL"}
    assert follower.ask("GET", "/config/s%2Fx").body == {"compatibilityLevel": "FULL"}
    assert follower.ask("POST", "/subjects/s%2Fx/versions", schema("B")).body["error_code"] == 40901
    refused = follower.ask("POST", "/subjects/y/versions", schema("B"), {"X-Forward": "true"})
    assert refused.body["error_code"] == 50003
    assert follower.ask("DELETE", "/subjects/s%2Fx").body == [1]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_leader_that_goes_in_the_middle_loses_nothing_and_gives_no_id_twice(registries, number):
    leader = leader_of(registries)
    [follower] = [registry for registry in registries if registry is not leader]
    writers = [Writers(leader, "L"), Writers(follower, "F")]
    try:
        await_true(lambda: len(writers[0].answered) + len(writers[1].answered) > 6, "some are registered", 60)
        leader.signal(number)
        before = len(writers[1].answered)
        await_true(lambda: len(writers[1].answered) > before + 4, "the other leads and registers", 90)
        if number == signal.SIGSTOP:
            leader.signal(signal.SIGCONT)
            woken = len(writers[0].answered)
            await_true(lambda: len(writers[0].answered) > woken + 2, "the one before passes on what it is asked", 90)
    finally:
        with contextlib.suppress(ProcessLookupError):
            leader.signal(signal.SIGCONT)
        if number == signal.SIGKILL:
            leader.kill()
        for writer in writers:
            writer.stop()
    left = registries if number == signal.SIGSTOP else [follower]
    check(writers[0].answered | writers[1].answered, left)


def test_two_that_know_nothing_of_each_other_still_give_no_id_twice(cluster, tmp_path, name):
    """Without ZooKeeper both take themselves for the leader: the log has each in its turn, and both stay right."""
    with running_registries(
        tmp_path, cluster.bootstrap_servers, 2, kafkastore_topic=f"_schemas-{name}", schema_registry_group_id=name
    ) as registries:
        answered = {}
        for number in range(3):
            for at, registry in enumerate(registries):
                response = registry.ask("POST", f"/subjects/s{number}-{at}/versions", schema(f"S{number}_{at}"))
                assert response.status == 200, response
                answered[f"S{number}_{at}"] = response.body["id"]
        check(answered, registries)


@pytest.mark.parametrize(
    ("config", "partitions", "sentence"),
    [({"cleanup.policy": "delete"}, 1, "cleanup.policy"), ({"cleanup.policy": "compact"}, 2, "one partition")],
)
def test_a_topic_that_would_lose_schemas_is_refused(cluster, tmp_path, name, config, partitions, sentence):
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    admin.create_topics([NewTopic(name, partitions, 1, config=config)])[name].result()
    registry = RegistryProcess(0, tmp_path, {
        "listeners": "http://127.0.0.1:0", "kafkastore.bootstrap.servers": cluster.bootstrap_servers,
        "kafkastore.topic": name,
    })  # fmt: skip
    registry.start()
    try:
        assert registry.process.wait(90) == 78
    finally:
        registry.kill()
    assert sentence in registry.log()


def test_what_was_deleted_for_good_leaves_its_id_behind(cluster, tmp_path, name):
    """Also for who reads the topic after compaction, of which tombstones and their keys are gone."""
    topic = f"_schemas-{name}"
    with running_registries(tmp_path, cluster.bootstrap_servers, kafkastore_topic=topic) as [registry]:
        for item in ("A", "B"):
            assert registry.ask("POST", f"/subjects/{item}/versions", schema(item)).status == 200
        registry.ask("DELETE", "/subjects/B")
        assert registry.ask("DELETE", "/subjects/B?permanent=true").body == [1]
        assert registry.ask("POST", "/subjects/C/versions", schema("C")).body["id"] == 3


def test_records_of_others_are_read(cluster, tmp_path, name):
    """Keys in another order, kinds nobody knows, and what is no JSON at all."""
    topic = f"_schemas-{name}"
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    admin.create_topics([NewTopic(topic, 1, 1, config={"cleanup.policy": "compact"})])[topic].result()
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    value = {"subject": "s", "version": 1, "id": 9, "md5": "x", "schema": '"int"', "deleted": False}
    producer.produce(topic, json.dumps(value), b'{"magic":1,"version":1,"subject":"s","keytype":"SCHEMA"}')
    producer.produce(topic, b"{}", b'{"keytype":"ASSOC"}')
    producer.produce(topic, b"\xff", b"\xfe")
    producer.flush()
    with running_registries(tmp_path, cluster.bootstrap_servers, kafkastore_topic=topic) as [registry]:
        assert registry.ask("GET", "/schemas/ids/9").body["schema"] == '"int"'
        assert registry.ask("POST", "/subjects/t/versions", {"schema": '"long"'}).body["id"] == 10
        assert registry.ask("DELETE", "/subjects/s").body == [1]
        assert registry.ask("DELETE", "/subjects/s?permanent=true").body == [1]
        registry.stop()
        registry.start()
        registry.await_serving()
        assert registry.ask("GET", "/schemas/ids/9").body["error_code"] == 40403


def test_only_who_has_a_name_and_its_password_is_answered(cluster, tmp_path, name):
    users = tmp_path / "users"
    users.write_text("ada: secret,admin\n")
    users.chmod(0o600)
    with running_registries(
        tmp_path,
        cluster.bootstrap_servers,
        kafkastore_topic=f"_schemas-{name}",
        authentication_method="BASIC",
        authentication_file=str(users),
    ) as [registry]:
        assert registry.ask("GET", "/subjects").body["error_code"] == 40101
        shown = {"Authorization": "Basic YWRhOnNlY3JldA=="}
        assert registry.ask("GET", "/subjects", headers=shown).status == 200
        wrong = {"Authorization": "Basic YWRhOnNlY3JlVA=="}
        assert registry.ask("GET", "/subjects", headers=wrong).body["error_code"] == 40101
    users.chmod(0o644)
    registry.start()
    assert registry.process.wait(90) == 78
