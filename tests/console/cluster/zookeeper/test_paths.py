"""Paths as people type them, what they mean, and whom they speak of."""

import pytest

from broker.zookeeper.znodes import PERSISTENT_PATHS
from console.cluster.zookeeper.paths import Mention, PathError, check_path, crumbs, explain, mentions


@pytest.mark.parametrize(
    ("typed", "path"),
    [
        ("/", "/"),
        ("", "/"),
        ("  /brokers/ids/ ", "/brokers/ids"),
        ("/a b/ü", "/a b/ü"),
        ("/config/brokers/<default>",) * 2,
    ],
)
def test_a_path_is_taken_as_it_is_meant(typed, path):
    assert check_path(typed) == path


@pytest.mark.parametrize("typed", ["brokers", "/a//b", "/a/../b", "/./a", "/a\x00", "/\x1b[2J", "/" + "a" * 3000])
def test_what_zookeeper_would_refuse_is_refused_in_a_sentence(typed):
    with pytest.raises(PathError, match=r"\w.*\."):
        check_path(typed)


def test_crumbs_lead_from_the_root_to_the_znode():
    assert [(crumb.name, crumb.path) for crumb in crumbs("/brokers/ids/1")] == [
        ("/", "/"),
        ("brokers", "/brokers"),
        ("ids", "/brokers/ids"),
        ("1", "/brokers/ids/1"),
    ]
    assert [crumb.path for crumb in crumbs("/")] == ["/"]


@pytest.mark.parametrize(
    "path", [*PERSISTENT_PATHS, "/", "/controller", "/zookeeper/config", "/brokers/topics/a/partitions"]
)
def test_every_place_kafka_makes_is_explained(path):
    assert explain(path).endswith(".")


def test_a_place_nobody_knows_has_no_explanation():
    assert explain("/spark/leader") == ""


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("/controller", {"brokerid": 2}, [("broker", "2")]),
        ("/brokers/ids/3", {"host": "h"}, [("broker", "3")]),
        (
            "/brokers/topics/orders/partitions/0/state",
            {"leader": 1, "isr": [1, 2]},
            [("topic", "orders"), ("broker", "1"), ("broker", "2")],
        ),
        ("/brokers/topics/orders/partitions/0/state", {"leader": -1, "isr": []}, [("topic", "orders")]),
        ("/config/topics/orders", {"config": {}}, [("topic", "orders")]),
        ("/config/changes/config_change_0000000001", {"entity_path": "topics/orders"}, [("topic", "orders")]),
        ("/config/changes/config_change_0000000001", {"entity_path": "brokers/<default>"}, []),
        ("/isr_change_notification/isr_change_1", {"partitions": [{"topic": "a", "partition": 0}]}, [("topic", "a")]),
        ("/latest_producer_id_block", {"broker": 3}, [("broker", "3")]),
        ("/controller", {"brokerid": "x", "isr": 5, "partitions": [1]}, []),
        ("/controller", None, []),
    ],
)
def test_a_znode_leads_to_those_it_speaks_of(path, value, expected):
    assert mentions(path, value) == [Mention(*item) for item in expected]
