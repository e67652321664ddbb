"""Source and sink on a real Spark: streams that end by themselves, batches, mode update, and what a user is told."""

from collections import Counter
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from broker.spark.source import BarnabasDataSource
from tests.barnabas_cluster import running_cluster
from tests.broker.connect.mock_cluster import all_records, produce_all
from tests.broker.spark import queries_on_spark as queries

RECORDS = 1_000


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.timeout(600)
def test_source_and_sink_do_on_spark_what_they_promise(spark, tmp_path, zookeeper):
    with running_cluster(tmp_path / "cluster", zookeeper=zookeeper) as cluster:
        servers = cluster.bootstrap_servers
        admin = AdminClient({"bootstrap.servers": servers})
        for topic in ("in", "streamed", "updated"):  # `written` is created by who writes it
            admin.create_topics([NewTopic(topic, 2)])[topic].result(20)
        for partition in range(2):
            produce_all(servers, "in", (b"%d/%d" % (partition, n) for n in range(RECORDS // 2)), partition=partition)
        seen = run_queries(spark, tmp_path / "spark", servers)
        went_in = placed(servers, "in")

        assert [batch["rows"] for batch in seen["streamed"]] == [400, 400, 200]
        assert seen["streamed"][0]["latest"] == {"in": {"0": 500, "1": 500}}, "where the topic ends, not the batch"
        assert placed(servers, "streamed") == went_in

        assert seen["written"] == RECORDS
        assert Counter(value for _, value in placed(servers, "written")) == Counter(value for _, value in went_in)
        assert all_records(servers, "written")[0].headers() == [("from", b"in")]

        updates = [(record.key(), record.value()) for record in all_records(servers, "updated")]
        assert len(updates) == 2 * seen["updated"], "one of each partition for each batch, though written twice"
        assert dict(updates) == {b"0": b"500", b"1": b"500"}

        wrong_option, wrong_columns = seen["refused"]
        assert "option minPartitions: 'few' is not a whole number" in wrong_option
        assert "the column 'value' is required" in wrong_columns


def run_queries(spark, directory: Path, servers: str) -> dict:
    spark.dataSource.register(BarnabasDataSource)
    cluster = {"kafka.bootstrap.servers": servers}
    return {
        "streamed": queries.streamed(spark, cluster, directory),
        "written": queries.written(spark, cluster),
        "updated": queries.updated(spark, cluster, directory),
        "refused": queries.refused(spark, cluster),
    }


def placed(servers: str, topic: str) -> list[tuple[int, bytes]]:
    return [(record.partition(), record.value()) for record in all_records(servers, topic)]
