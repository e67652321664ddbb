"""A failure names the converter of key or value and the record first, and a restart that meets it again is not safe."""

import pytest

from console.ecosystem.connectors.failed_stage import failed_stage
from console.ecosystem.connectors.places import pattern_in
from console.kit.gateway.topics.topic_pattern import matched_topics
from console.signals.overview.queries import overview_facts
from tests.console.ecosystem.connectors.lying_server import connector

OURS = """broker.connect.api.errors.DataError: Converting byte[] to Kafka Connect data failed

broker.connect.api.errors.ConnectError: Tolerance exceeded in error handler: {} by {} of the record at invoices-0@35
"""
JAVA = """org.apache.kafka.connect.errors.ConnectException: Tolerance exceeded in error handler
\tat org.apache.kafka.connect.runtime.WorkerSinkTask.convertKey(WorkerSinkTask.java:530)
Caused by: org.apache.kafka.connect.errors.DataException: no
"""
PUT = OURS.format("TASK_PUT", "FileStreamSinkTask")
VALUE = OURS.format("VALUE_CONVERTER", "JsonConverter")


@pytest.mark.parametrize(
    ("trace", "words", "setting"),
    [
        (VALUE, "VALUE converter (JsonConverter)", "value.converter"),
        (OURS.format("KEY_CONVERTER", "a.b.AvroConverter"), "KEY converter (AvroConverter)", "key.converter"),
        (OURS.format("TRANSFORMATION", "ReplaceField"), "transform (ReplaceField)", "transforms"),
        (PUT, "connector itself (FileStreamSinkTask)", ""),
        (JAVA, "KEY converter", "key.converter"),
        ("Error converting message value in topic 'a' partition 0 at offset 1", "VALUE converter", "value.converter"),
    ],
)
def test_the_stage_that_failed_and_its_setting(trace, words, setting):
    stage = failed_stage(trace)
    assert (stage.words, stage.setting) == (words, setting)
    assert (setting in stage.hint) if setting else not stage.hint


def test_a_trace_without_a_stage_has_none():
    assert failed_stage("java.net.ConnectException: refused") is None
    assert failed_stage("") is None


@pytest.fixture
def failed(connect, collector, db):
    def keep(trace: str) -> None:
        connect.connectors = {"archive": connector("archive", tasks=(("FAILED", trace),), kind="sink")}
        collector.look("connectors")

    return keep


def text_of(response) -> str:
    return response.content.decode().replace("\u202f", " ")


def test_the_page_begins_with_converter_and_record_and_says_what_to_change(failed, client_of, administrator):
    failed(VALUE)
    text = text_of(client_of(administrator).get("/connectors/archive/"))
    order = ["VALUE converter (JsonConverter) failed", "invoices-0@35", "DataError", "Set value.converter", "<dt>Class"]
    places = [text.index(words, text.index('id="connector-failures"')) for words in order]
    assert places == sorted(places)
    assert "/connectors/archive/+configure/" in text[places[0] - 1_000 : places[-1]]


@pytest.mark.parametrize("address", ["+tasks/0/+restart/", "+do/restart-failed/", "+do/restart-all/"])
def test_a_restart_that_fails_again_is_not_safe_and_offers_to_configure_first(
    failed, client_of, administrator, address
):
    failed(VALUE)
    text = text_of(client_of(administrator).get(f"/connectors/archive/{address}"))
    assert "Safe." not in text
    assert "It fails again as it is configured: its VALUE converter (JsonConverter) failed at the record at" in text
    assert "Configure first…" in text


def test_a_restart_of_what_failed_outside_of_its_records_is_safe(failed, client_of, administrator):
    failed(PUT)
    text = text_of(client_of(administrator).get("/connectors/archive/+tasks/0/+restart/"))
    assert "Safe." in text
    assert "Configure first…" not in text


def test_the_overview_names_converter_and_record(failed, collect):
    collect()
    failed(VALUE)
    [reason] = [reason for reason in overview_facts()["health"].reasons if reason.key == "connector:archive"]
    assert reason.evidence.startswith("its VALUE converter (JsonConverter) failed at the record invoices-0@35")


def test_a_failed_sink_has_unread_records_where_it_never_committed(
    cluster, connect, collect, collector, client_of, viewer
):
    cluster.create_topic("invoices", 2, 1)
    cluster.append("invoices", 0, 40)
    cluster.append("invoices", 1, 7)
    sink = connector("archive", tasks=(("FAILED", VALUE),), kind="sink", topics="invoices")
    connect.connectors = {"archive": sink}
    collect()
    collector.look("connectors")
    for page in ("/connectors/", "/connectors/archive/"):
        text = text_of(client_of(viewer).get(page))
        assert ">47<" in text.replace("47 <", "47<"), page
    cluster.commit("connect-archive", "invoices", 0, 35)
    collect()
    collector.look("connectors")
    assert ">12<" in text_of(client_of(viewer).get("/connectors/"))


@pytest.fixture
def by_pattern(cluster, connect, collect, collector):
    """A failed sink whose topics are those of a pattern: two of three."""
    for name, count in (("orders-eu", 40), ("orders-us", 7), ("billing", 100)):
        cluster.create_topic(name, 1, 1)
        cluster.append(name, 0, count)
    sink = connector("archive", tasks=(("FAILED", VALUE),), kind="sink", **{"topics.regex": r"orders-\w+"})
    connect.connectors = {"archive": sink}
    collect()
    collector.look("connectors")


def test_a_failed_sink_by_pattern_shows_the_pattern_its_topics_and_what_it_has_not_read(by_pattern, client_of, viewer):
    text = text_of(client_of(viewer).get("/connectors/archive/"))
    assert r'<span class="mono" title="topics.regex">orders-\w+</span>' in text
    assert 'href="/topics/orders-eu/">orders-eu</a>, <a href="/topics/orders-us/">orders-us</a></dd>' in text
    for page in ("/connectors/", "/connectors/archive/"):
        assert ">47<" in text_of(client_of(viewer).get(page)).replace("47 <", "47<"), page
    response = client_of(viewer).get("/connectors/", {"format": "csv"})
    assert '"orders-eu orders-us","","47"' in b"".join(response.streaming_content).decode()


def test_of_a_pattern_only_topics_in_reach_are_named_and_nothing_is_counted(by_pattern, client_of, viewer, give_rule):
    give_rule(viewer, "nothing", "topic", "orders-us")
    text = text_of(client_of(viewer).get("/connectors/archive/"))
    assert "orders-eu" in text
    assert "orders-us" not in text
    assert client_of(viewer).get("/connectors/").context["page"][0].lag is None


@pytest.mark.parametrize(
    ("pattern", "topics"),
    [
        ("orders.*", ["orders", "orders-eu"]),
        ("orders", ["orders"]),
        (".*", ["orders", "orders-eu"]),
        (r"\p{Lower}+", ["orders"]),
        ("bills", []),
        ("(", None),
        ("(a+)+b", None),
    ],
)
def test_a_pattern_matches_whole_names_by_java_s_rules(pattern, topics):
    assert matched_topics(pattern, ["orders-eu", "orders", "__consumer_offsets"]) == topics


def test_a_sink_that_names_topics_has_no_pattern():
    assert pattern_in({"topics": "orders", "topics.regex": ".*"}) == ""
    assert pattern_in({"topics.regex": ".*"}) == ".*"


def test_unread_records_of_a_topic_out_of_reach_are_not_counted(
    cluster, connect, collect, collector, client_of, viewer
):
    sink = connector("archive", tasks=(("FAILED", VALUE),), kind="sink", topics="nowhere")
    connect.connectors = {"archive": sink}
    collect()
    collector.look("connectors")
    assert client_of(viewer).get("/connectors/").context["page"][0].lag is None
