"""The mirrors' page, from what a mirror writes into its status topic to what a person reads."""

import pytest

from broker.common.types import TopicPartition
from broker.mirror.status import STATUS_TOPIC, WHOLE_TOPIC, MirrorStatus, topic_status, written
from console.ecosystem.mirrors.collect import KEPT_MS, MirrorCollector, OtherClusters
from console.ecosystem.mirrors.configuration import read_mirror_clusters
from console.ecosystem.mirrors.figures import SILENT_AFTER_MS
from console.ecosystem.mirrors.models import MirroredTopic
from console.kit.access.models import NameRule
from console.kit.common.clock import now_ms
from tests.fakes.gateway import FakeGateway


class Mirror:
    """Writes what a mirror would say, in this cluster or in another."""

    def __init__(self, cluster=""):
        self.gateway = FakeGateway(broker_count=1)
        self.clock_ms = now_ms()
        self.collector = MirrorCollector(self.gateway, lambda: self.clock_ms, cluster)

    def begin(self):
        self.gateway.create_topic(STATUS_TOPIC, 1, 1)

    def say(self, topic="orders", partition=0, flow="east->west", ago_ms=1_000, **fields):
        status = MirrorStatus(
            f"east.{topic}", 10, 0, self.clock_ms - 5_000, 100, 5_000, 0, None, None, self.clock_ms - ago_ms
        )
        key, value = written(flow, TopicPartition(topic, partition), status._replace(**fields))
        self.gateway.produce_record(STATUS_TOPIC, 0, key, value)

    def say_of_all(self, topic, **fields):
        status = topic_status(f"east.{topic}", fields.get("error"), fields.get("notice"), self.clock_ms)
        key, value = written("east->west", TopicPartition(topic, WHOLE_TOPIC), status)
        self.gateway.produce_record(STATUS_TOPIC, 0, key, value)

    def take_back(self, topic="orders", partition=0):
        key, value = written("east->west", TopicPartition(topic, partition), None)
        self.gateway.produce_record(STATUS_TOPIC, 0, key, value)

    def look(self):
        return self.collector.look({topic.name for topic in self.gateway.describe_topics()})


@pytest.fixture
def mirror(db):
    return Mirror()


def page(client_of, user, **query) -> str:
    response = client_of(user).get("/mirrors/", query)
    assert response.status_code == 200
    return b"".join(response.streaming_content).decode() if response.streaming else response.content.decode()


def test_without_a_mirror_it_says_how_to_get_one(mirror, viewer, client_of):
    assert mirror.look() is False
    assert "No mirror copies topics into this cluster" in page(client_of, viewer)


def test_it_shows_how_far_each_topic_is(mirror, viewer, client_of):
    mirror.begin()
    mirror.say(ago_ms=6_000, records=100)
    mirror.say(partition=1, lag=30, copied_until_ms=mirror.clock_ms - 90_000)
    mirror.say(records=600)
    assert mirror.look() is False
    html = page(client_of, viewer)
    assert "east-&gt;west" in html
    assert '<dd data-cell="lag">30</dd>' in html
    assert '<dd data-cell="rate">100</dd>' in html
    assert "copies</span>" in html


def test_a_partition_that_is_not_copied_is_named_on_the_page_and_among_the_reasons(mirror, operator, client_of):
    mirror.begin()
    mirror.say(partition=3, error="north <b>refuses</b>", lag=5)
    assert mirror.look() is True
    html = page(client_of, operator)
    assert "partition 3" in html
    assert "north &lt;b&gt;refuses&lt;/b&gt;" in html
    overview = client_of(operator).get("/").content.decode()
    assert "1 topic is not copied into this cluster" in overview


def test_a_topic_that_cannot_be_copied_at_all_is_told_with_the_reason(mirror, operator, client_of):
    mirror.begin()
    mirror.say()
    mirror.say_of_all("orders", notice="settings do not follow: denied")
    mirror.say_of_all("o" * 249, error="its copy's name would have 254 characters")
    assert mirror.look() is True
    html = page(client_of, operator)
    assert '<span class="badge critical">topic</span> its copy&#x27;s name would have 254 characters' in html
    assert '<span class="badge plain">topic</span> settings do not follow: denied' in html
    assert MirroredTopic.objects.get(topic="orders").failing == 0


def test_topics_that_fail_are_counted_as_topics_however_many_of_their_partitions_do(mirror, operator, client_of):
    mirror.begin()
    mirror.say("orders")
    for partition in (0, 1, 2):
        mirror.say("clicks", partition, error="refused")
    mirror.look()
    assert '2 topics · <span class="badge critical">1 fails</span>' in page(client_of, operator)
    mirror.say_of_all("users", error="its copy's name would be too long")
    mirror.look()
    assert '3 topics · <span class="badge critical">2 fail</span>' in page(client_of, operator)


def test_a_paused_mirror_has_paused_topics_and_no_trouble(mirror, operator, client_of):
    mirror.begin()
    mirror.say(is_paused=True, lag=7)
    assert mirror.look() is False
    assert "paused</span>" in page(client_of, operator)


def test_a_topic_that_is_not_to_be_copied_any_more_is_forgotten(mirror, operator, client_of):
    mirror.begin()
    mirror.say("orders")
    mirror.say("orders", partition=1)
    mirror.say("clicks")
    mirror.take_back("orders", 0)
    mirror.look()
    assert [number for number, _ in MirroredTopic.objects.get(topic="orders").partitions.items()] == ["1"]
    mirror.take_back("orders", 1)
    mirror.look()
    assert [topic.topic for topic in MirroredTopic.objects.all()] == ["clicks"]


def test_a_status_topic_without_a_leader_is_read_when_it_has_one(mirror, monkeypatch):
    mirror.begin()
    mirror.say()
    with monkeypatch.context() as patched:
        patched.setattr(mirror.gateway, "record_spans", lambda _topic, _committed: {})
        mirror.look()
    mirror.look()
    assert MirroredTopic.objects.count() == 1


def test_a_mirror_that_says_nothing_any_more_is_silent(mirror, operator, client_of):
    mirror.begin()
    mirror.say(ago_ms=SILENT_AFTER_MS + 60_000)
    mirror.look()
    assert "silent</span>" in page(client_of, operator)
    assert "no mirror seems to copy them" in client_of(operator).get("/").content.decode()


def test_topics_one_may_not_see_are_not_shown(mirror, viewer, client_of):
    mirror.begin()
    mirror.say("open")
    mirror.say("secret-plans")
    mirror.look()
    NameRule.objects.create(user=viewer, resource="topic", pattern="*secret*", level="nothing")
    for text in (page(client_of, viewer), page(client_of, viewer, format="csv")):
        assert "east.open" in text
        assert "secret" not in text


def test_what_is_no_word_of_a_mirror_is_passed_over(mirror, viewer, client_of):
    mirror.begin()
    for key, value in ((None, None), (b"[]", b"{}"), (b'["a", "b", 1]', b'{"next_offset": 1}'), (b"\xff", b"\xff")):
        mirror.gateway.produce_record(STATUS_TOPIC, 0, key, value)
    mirror.say()
    mirror.look()
    assert MirroredTopic.objects.count() == 1


def test_rows_of_mirrors_that_were_taken_away_are_forgotten(mirror):
    mirror.begin()
    mirror.say()
    mirror.look()
    mirror.clock_ms += KEPT_MS + 10_000
    mirror.say("other", ago_ms=0)
    mirror.look()
    assert [topic.topic for topic in MirroredTopic.objects.all()] == ["other"]
    mirror.gateway.delete_topic(STATUS_TOPIC)
    mirror.look()
    assert not MirroredTopic.objects.exists()


@pytest.fixture
def elsewhere(db):
    mirror = Mirror("backup")
    mirror.begin()
    return mirror


def test_copies_in_another_cluster_stand_beside_those_here(mirror, elsewhere, viewer, client_of):
    mirror.begin()
    mirror.say()
    elsewhere.say(topic="clicks", flow="east->backup", error="backup refuses", lag=5)
    assert mirror.look() is False
    assert elsewhere.collector.look() is True
    html = page(client_of, viewer)
    assert 'title="east.clicks in backup"' in html
    assert 'href="/topics/east.orders/"' in html
    assert 'href="/topics/east.clicks/"' not in html
    overview = client_of(viewer).get("/").content.decode()
    assert "1 topic is not copied into backup" in overview


def test_copies_elsewhere_of_topics_one_may_not_see_are_not_shown(elsewhere, viewer, client_of):
    NameRule.objects.create(user=viewer, resource="topic", pattern="*secret*", level="nothing")
    elsewhere.say(topic="secret-one")
    elsewhere.say(topic="clicks")
    elsewhere.collector.look()
    html = page(client_of, viewer)
    assert "clicks" in html
    assert "secret-one" not in html


def test_a_cluster_that_does_not_answer_keeps_no_other_from_its_look(elsewhere):
    silent = FakeGateway(broker_count=1)
    silent.stop_broker(1)
    others = OtherClusters({"backup": elsewhere.gateway, "silent": silent}, lambda: elsewhere.clock_ms)
    elsewhere.say()
    assert others.look() is False
    assert [row.cluster for row in MirroredTopic.objects.all()] == ["backup"]


def test_what_lies_in_a_cluster_that_is_named_no_more_is_forgotten(mirror, elsewhere):
    mirror.begin()
    mirror.say()
    mirror.look()
    elsewhere.say()
    elsewhere.collector.look()
    OtherClusters({}, lambda: mirror.clock_ms).look()
    assert [row.cluster for row in MirroredTopic.objects.all()] == [""]


@pytest.mark.parametrize("text", ["backup", "backup=", "=a:1", "backup=a", "b=a:1 b=c:2", "b=a:1;c:2", "b=a:b:1"])
def test_clusters_that_cannot_be_asked_are_refused_in_a_sentence(text):
    with pytest.raises(SystemExit, match="BARNABAS_MIRROR_CLUSTERS"):
        read_mirror_clusters({"BARNABAS_MIRROR_CLUSTERS": text})
    assert read_mirror_clusters({"BARNABAS_MIRROR_CLUSTERS": " b=a:1,c:2  d=e:3"}) == {"b": "a:1,c:2", "d": "e:3"}
