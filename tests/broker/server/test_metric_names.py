"""`/metrics` asks for no login: on a cluster with access rules it names neither topics nor principals."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from broker.config.authorizer import AUTHORIZERS
from broker.config.broker import BrokerConfig, read_broker_config
from broker.server.log_metrics import LogMetrics
from broker.server.metrics import StateMetrics
from broker.server.security_metrics import ALL, AuthorizerMetrics, has_names

_RULES = f"authorizer.class.name={AUTHORIZERS[0]}\n"


def config(text: str = "") -> BrokerConfig:
    return read_broker_config(f"broker.id=1\nlisteners=PLAINTEXT://127.0.0.1:9092\nzookeeper.connect=z:1\n{text}")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", True),
        (_RULES, False),
        (f"{_RULES}metrics.names.enable=true\n", True),
        ("metrics.names.enable=false", False),
    ],
)
def test_names_are_told_unless_rules_may_hide_them(text, named):
    assert has_names(config(text)) is named


@pytest.mark.parametrize("named", [True, False])
def test_denials_are_counted_by_principal_or_all_together(named):
    log = SimpleNamespace(denials={"User:alice": 594, "User:bob": 6})
    (family,) = AuthorizerMetrics(log, has_names=named).collect()
    counts = {sample.labels["principal"]: sample.value for sample in family.samples}
    assert counts == (log.denials if named else {ALL: 600})


@pytest.mark.parametrize("named", [True, False])
def test_end_offsets_name_topics_or_are_left_out(named):
    partition = SimpleNamespace(is_leader=True, topic_partition=("payments.secret", 0))
    hosted = [SimpleNamespace(partition=partition, log=SimpleNamespace(size_bytes=1, log_end_offset=7))]
    sessions = type("Sessions", (), {"partition_count": 0, "__len__": lambda _: 0})()
    metadata, listeners = SimpleNamespace(controller_id=1, topics={}), SimpleNamespace(connection_count=0)
    metrics = StateMetrics(hosted, metadata, [], sessions, listeners, config("" if named else _RULES))
    label_texts = [str(sample.labels) for family in metrics.collect() for sample in family.samples]
    assert any("payments.secret" in labels for labels in label_texts) is named


@pytest.mark.parametrize(("named", "labels"), [(True, {"/data/a", "/data/b"}), (False, {"1", "2"})])
def test_log_directories_are_named_by_path_or_by_their_place_in_log_dirs(named, labels):
    """An offline directory keeps its number: it is that of `log.dirs`."""
    paths = [Path("/data/a"), Path("/data/b")]
    logs = SimpleNamespace(
        rooms={paths[1]: SimpleNamespace(is_full=True)},
        offline_directories={paths[0]: "the disk refused a write"},
        strays=(),
        stray_bytes={paths[1]: 1_000},
        unopened=(),
        withheld=(),
        uncleanable=(),
        truncations_kept=0,
        lost_offsets={},
    )
    broker_config = config("log.dirs=/data/a,/data/b\n" + ("" if named else _RULES))
    samples = [sample for family in LogMetrics(logs, broker_config).collect() for sample in family.samples]
    of_directories = {sample.labels["log_dir"]: sample.value for sample in samples if "offline" in sample.name}
    assert of_directories.keys() == labels
    assert of_directories[min(labels)] == 1
    [stray] = [sample for sample in samples if "stray_bytes" in sample.name]
    assert (stray.labels["log_dir"], stray.value) == (max(labels), 1_000)
    assert named or not any("data" in str(sample.labels) for sample in samples)
