"""Whoever may write a connector's configuration masks no topic of other people for good by naming it."""

import json

import pytest
from django.conf import settings

from broker.common.types import TopicPartition
from console.cluster.protections.models import TopicProtection
from console.ecosystem.connectors.models import Connector
from console.processes.models import ManagedProcess

SECRET = "4111-1111"
RULES = '[[rules]]\ntopics = "ders"\nmask = ["value.card"]\n[[rules]]\ntopics = "payments"\nmask = ["value.card"]\n'


@pytest.fixture
def masked(cluster, collect, reader, client_of):
    """masked(): whether a reader sees no card in the records of topic `orders`, which the collector has looked at."""
    settings.MASKING_FILE.write_text(RULES)
    settings.MASKING_FILE.chmod(0o600)
    for name in ("orders", "payments"):
        cluster.create_topic(name, 1, 1)
        cluster.produce_record(name, 0, b"key", json.dumps({"card": SECRET}).encode(), ())

    def look() -> bool:
        collect()
        text = client_of(reader).get("/topics/orders/+records/?place=oldest").content.decode()
        assert "key" in text
        return SECRET not in text

    yield look
    settings.MASKING_FILE.unlink()


def sink() -> None:
    Connector.objects.create(name="mine", kind="sink", topics=["payments"], dead_letters="orders")


def read_by_group(cluster) -> None:
    """A plain client reads `orders`."""
    cluster.groups.join("readers", "m-1", TopicPartition("orders", 0))
    cluster.groups.commit("readers", "orders", 0, 1)


def stream(**properties: str) -> None:
    config = {"job": "dedupe"} | {key.replace("_", "."): value for key, value in properties.items()}
    ManagedProcess.objects.create(name="theirs", kind="stream", spec={"properties": config, "directory": "/x"})


def mirror(alias: str, separator: str) -> None:
    config = {"source.cluster.alias": alias, "replication.policy.separator": separator}
    Connector.objects.create(name="mine", kind="source", class_name="org.x.MirrorSourceConnector", config=config)


@pytest.mark.parametrize("use", ["connector", "stream", "consumer group"])
def test_a_topic_that_others_use_is_masked_only_as_long_as_it_is_named_for_dead_letters(use, masked, cluster):
    if use == "connector":
        Connector.objects.create(name="theirs", kind="source", topics=["orders"])
    elif use == "consumer group":
        read_by_group(cluster)
        assert not masked()
    else:
        stream(input_topic="clicks", output_topic="orders")
    sink()
    assert masked()
    Connector.objects.filter(name="mine").delete()
    assert not masked()
    assert not TopicProtection.objects.filter(origin="payments").exists()


def test_dead_letters_that_a_consumer_group_reads_later_stay_masked(masked, cluster):
    sink()
    assert masked()
    read_by_group(cluster)
    assert masked()
    Connector.objects.all().delete()
    assert masked()


def test_dead_letters_that_a_job_writes_to_the_same_topic_stay_masked(masked):
    stream(input_topic="clicks", output_topic="once", dead_letter_topic="orders")
    sink()
    assert masked()
    Connector.objects.all().delete()
    assert masked()


def test_dead_letters_that_another_sink_reads_later_stay_masked(masked):
    sink()
    assert masked()
    Connector.objects.create(name="again", kind="sink", topics=["orders"])
    assert masked()
    Connector.objects.all().delete()
    assert masked()


@pytest.mark.parametrize(("alias", "separator", "is_masked"), [("or", "", True), ("", "or", False)])
def test_a_prefix_that_no_mirror_has_masks_nothing_for_good(alias, separator, is_masked, masked):
    mirror(alias, separator)
    assert masked() is is_masked
    Connector.objects.all().delete()
    assert not masked()
    assert not TopicProtection.objects.exists()
