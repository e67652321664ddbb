"""A topic becomes files and files become a topic, and nothing is lost on the way."""

import pytest

from broker.config.definition import ConfigError
from broker.spark.catalog import find_job
from broker.spark.config import read_settings
from tests.broker.spark.conftest import Row

TO_FILES = {"input.topic": "orders", "path": "orders"}


@pytest.mark.long
@pytest.mark.spark
def test_records_are_rows_by_day(spark, topics):
    topics.append("orders", [Row("a", {"n": 1}, 0), Row(None, None, 86_400_000)])
    job = find_job("topic_to_parquet", None)
    rows = job.build(topics, read_settings(job, TO_FILES))
    assert rows.columns == ["key", "value", "topic", "partition", "offset", "timestamp", "date"]
    query = rows.writeStream.format("memory").queryName("by_day").trigger(availableNow=True).start()
    query.awaitTermination()
    results = {(row.key, row.value, row.offset, row.date) for row in spark.table("by_day").collect()}
    assert results == {("a", '{"n": 1}', 0, "1970-01-01"), (None, None, 1, "1970-01-02")}


@pytest.mark.spark
def test_rows_become_records_with_the_key_that_was_named(topics, written_by):
    topics.append("files", [Row("a", {"n": 1}), Row("b", {"n": 2})])
    settings = {"path": "files", "output.topic": "again", "key.column": "offset"}
    written = written_by("parquet_to_topic", settings)
    assert [(item.key, item.value) for item in written] == [("0", {"n": 1}), ("1", {"n": 2})]
    with pytest.raises(ValueError, match=r"key\.column=nobody is none of the columns key, value"):
        written_by("parquet_to_topic", settings | {"key.column": "nobody"})


@pytest.mark.parametrize("path", ["", "/etc", "../up", "a/../../b", "a//b", ".hidden", "a b"])
def test_path_leads_nowhere_but_below_the_files(path):
    with pytest.raises(ConfigError, match="path"):
        read_settings(find_job("topic_to_parquet", None), TO_FILES | {"path": path})
