"""A broker is killed while the worker writes: the worker waits and goes on, and every acknowledged line is there."""

import json
import signal

from tests.broker.connect.test_worker import TOPIC, access_line, running_worker, stored_position, write_config

from tests.barnabas_cluster import await_true, running_cluster
from tests.broker.connect.mock_cluster import all_records


def test_no_line_is_lost_while_the_broker_is_away(tmp_path, zookeeper):
    log = tmp_path / "access.log"
    with running_cluster(tmp_path / "cluster", zookeeper=zookeeper) as cluster:
        broker = cluster.broker(1)
        with running_worker(write_config(tmp_path, cluster.bootstrap_servers)) as worker:
            log.write_text("".join(map(access_line, range(2_000))))
            await_true(lambda: stored_position(tmp_path) > 0, "something stored", 15)
            broker.kill()
            with log.open("a") as file:
                file.writelines(map(access_line, range(2_000, 4_000)))
            broker.start()
            await_true(lambda: stored_position(tmp_path) == log.stat().st_size, "every line stored", 40)
            worker.send_signal(signal.SIGTERM)
            assert worker.wait(10) == 0
        records = all_records(cluster.bootstrap_servers, TOPIC)
    assert {json.loads(record.value())["time_ms"] for record in records} == set(range(4_000))
