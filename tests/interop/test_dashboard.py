"""The dashboard for Grafana draws what is really told: by a broker that serves, and by the console."""

import json
import re
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from console.kit.access.reach import EVERYTHING
from console.kit.common.clock import now_ms
from console.processes.models import ManagedProcess
from console.shell.api.metrics import NamedMetrics
from console.signals.overview.exposition import ClusterMetrics
from console.state.clusters import store
from console.state.clusters.models import Topic
from console.state.consumers.models import ConsumerGroup
from tests.barnabas_cluster import await_true

CONFIG = Path(__file__).parents[2] / "config"


def names(text: str) -> set[str]:
    return {sample.name for family in text_string_to_metric_families(text) for sample in family.samples}


@pytest.fixture
def told_by_the_console(db) -> set[str]:
    store.ensure_state()
    store.update_state(topics_at_ms=now_ms(), brokers_at_ms=now_ms(), records_per_second=1.0)
    Topic.objects.create(name="orders", records_per_second=1.0, read_per_second=1.0)
    seen = {"behind_since_ms": 1, "expires_at_ms": 2, "lag": 3}
    ConsumerGroup.objects.create(name="readers", state="Stable", coordinator=1, verdict="ok", **seen)
    ManagedProcess.objects.create(name="broker-1", kind="broker", host="here")
    registry = CollectorRegistry()
    for collector in (NamedMetrics(EVERYTHING), ClusterMetrics()):
        registry.register(collector)
    return names(generate_latest(registry).decode())


def test_every_metric_that_is_drawn_is_told_by_somebody(cluster, told_by_the_console):
    """An error in an answer is told once there was one."""
    dashboard = json.loads((CONFIG / "grafana" / "barnabas.json").read_text())
    drawn = {
        name
        for panel in dashboard["panels"]
        for target in panel["targets"]
        for name in re.findall(r"barnabas_\w+", target["expr"])
    }
    broker = next(iter(cluster.brokers))
    await_true(lambda: "barnabas_broker_leaders" in broker.get("/metrics"), "the broker tells")
    exposed = told_by_the_console | names(broker.get("/metrics"))
    assert drawn - exposed <= {"barnabas_broker_request_errors_total"}
    assert len(drawn) > 15


def test_panels_do_not_lie_on_one_another():
    panels = json.loads((CONFIG / "grafana" / "barnabas.json").read_text())["panels"]
    cells = [
        (x, y)
        for place in (panel["gridPos"] for panel in panels)
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
