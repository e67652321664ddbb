"""A properties file becomes connectors, or one sentence that names the key that is wrong."""

import pytest

from broker.common.errors import StartupError
from broker.connect.config import read_worker_config
from broker.connect.file_source import FileSource
from broker.connect.host_metrics import HostMetricsSource

GOOD = """
bootstrap.servers=127.0.0.1:9092
offset.storage.file.filename=offsets.json
connectors=host-metrics,documents
host-metrics.connector.class=HostMetricsSource
host-metrics.topic=host.metrics
documents.connector.class=FileSource
documents.topic=documents.lines
documents.file=a.txt,b.txt
"""


def test_each_named_connector_is_built():
    config = read_worker_config(GOOD)
    assert config.bootstrap_servers == "127.0.0.1:9092"
    assert isinstance(config.connectors["host-metrics"], HostMetricsSource)
    assert isinstance(config.connectors["documents"], FileSource)
    assert config.connectors["documents"].topic == "documents.lines"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("documents.flie=c.txt", r"documents\.flie"),
        ("document.file=c.txt", r"document\.file belongs to no connector"),
        ("documents.file=", "file must name"),
        ("documents.connector.class=JdbcSource", r"connector\.class=JdbcSource"),
        ("documents.max.line.bytes=0", r"max\.line\.bytes=0"),
        ("connectors=", "belongs to no connector"),
        ("connectors=host-metrics,documents,third", r"connector\.class must be set"),
    ],
)
def test_mistake_is_named(line, said):
    with pytest.raises(StartupError, match=said):
        read_worker_config(GOOD + line)


def test_worker_without_connectors_does_not_start():
    with pytest.raises(StartupError, match="no connector to run"):
        read_worker_config("bootstrap.servers=x:1\noffset.storage.file.filename=o.json\n")
