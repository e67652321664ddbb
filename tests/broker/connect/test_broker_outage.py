"""A broker is killed while the worker writes: the worker waits, says so once and goes on, and every line is there."""

from tests.barnabas_cluster import await_true, running_cluster
from tests.broker.connect.mock_cluster import all_records
from tests.broker.connect.workers import start_worker
from tests.registry_process import running_registries

_LINES = 4_000
_TEXT = "org.apache.kafka.connect.storage.StringConverter"


def lines(numbers: range) -> str:
    return "".join(f"line {number}\n" for number in numbers)


def test_no_line_is_lost_while_the_broker_is_away_and_the_outage_is_told_once(tmp_path, zookeeper):
    file = tmp_path / "lines.txt"
    storage = {f"{kind}.storage.topic": f"worker-{kind}" for kind in ("config", "offset", "status")}
    storage |= {f"{kind}.storage.replication.factor": "1" for kind in ("config", "offset", "status")}
    source = {"connector.class": "FileStreamSource", "file": str(file), "topic": "lines", "value.converter": _TEXT}

    with (
        running_cluster(tmp_path / "cluster", zookeeper=zookeeper) as cluster,
        running_registries(tmp_path / "registry", cluster.bootstrap_servers) as (registry,),
    ):
        broker = cluster.broker(1)
        properties = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "workers", **storage}
        worker = start_worker(tmp_path / "worker", "distributed", properties)

        def position() -> int:
            """0 also while no broker can be asked."""
            offsets = worker.ask("GET", "/connectors/lines/offsets").get("offsets")
            return offsets[0]["offset"]["position"] if offsets else 0

        def told(event: str) -> list[int]:
            return [log.count(f'event="{event}"') for log in (worker.log.read_text(), registry.log())]

        try:
            await_true(worker.answers, "the worker answers")
            file.write_text(lines(range(_LINES // 2)))
            await_true(lambda: "name" in worker.ask("PUT", "/connectors/lines/config", source), "made", 60)
            await_true(lambda: position() > 0, "something stored", 60)
            broker.kill()
            with file.open("a") as more:
                more.write(lines(range(_LINES // 2, _LINES)))
            await_true(lambda: told("no broker is reached") == [1, 1], "worker and registry have heard", 60)
            broker.start()
            await_true(lambda: position() == file.stat().st_size, "every line stored", 90)
            await_true(lambda: told("brokers are reached again") == [1, 1], "and that it is over")
            assert told("no broker is reached") == [1, 1]
            assert "%3|" not in worker.log.read_text() + registry.log()
            assert told("group not reached")[0] <= 1
            assert told("group says no")[0] <= 3
        finally:
            assert worker.stop() == 0
        records = all_records(cluster.bootstrap_servers, "lines")
    assert {record.value().decode() for record in records} == {f"line {number}" for number in range(_LINES)}
