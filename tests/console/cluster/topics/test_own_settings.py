"""A topic is created with settings of its own: typed, from a template, or copied from another topic."""

import pytest

from broker.common.errors import ErrorCode
from broker.config.topic import check_topic_configs
from console.cluster.topics.own_settings import TEMPLATES, lines_of, parse_settings
from console.kit.audit.models import AuditEvent
from console.kit.gateway.errors import refusal
from tests.console.confirming import digest_in

ADDRESS = "/topics/+create/"
WISH = {"name": "clicks", "partition_count": "3", "replication_factor": "3"}


@pytest.fixture
def _orders(cluster, collect):
    own = {"retention.ms": "600000", "follower.replication.throttled.replicas": "0:1"}
    cluster.create_topic("orders", 5, 2, own)
    cluster.create_topic("secret-plans", 1, 1, {"retention.ms": "1"})
    collect()


def own(cluster, name: str) -> dict[str, str]:
    return {setting.name: setting.value for setting in cluster.topic_settings(name) if setting.source == "topic"}


def test_lines_are_read_with_their_units_and_written_back():
    text = " retention.ms = 3 d \n\nmax.message.bytes=10MB\ncleanup.policy=compact,delete"
    settings = parse_settings(text)
    assert settings == {
        "retention.ms": "259200000",
        "max.message.bytes": "10000000",
        "cleanup.policy": "compact,delete",
    }
    assert parse_settings(lines_of(settings)) == settings


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("retention.ms", "a setting is name=value"),
        ("=5", "a setting is name=value"),
        ("retention.ms=", "a setting is name=value"),
        ("retention.ms=1\nretention.ms=2", "there twice"),
        ("\n".join(f"key.{number}=1" for number in range(41)), "At most 40"),
    ],
)
def test_what_is_no_setting_is_named(text, why):
    with pytest.raises(ValueError, match=why):
        parse_settings(text)


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.name)
def test_every_template_is_what_brokers_take(template):
    check_topic_configs(dict(template.configs))


def test_a_topic_is_created_with_its_settings_and_the_audit_knows(cluster, operator, client_of):
    client = client_of(operator)
    wish = WISH | {"configs": "retention.ms=1 h\nmin.insync.replicas=3"}
    shown = client.post(ADDRESS, wish)
    text = shown.content.decode()
    assert "one dead broker stops every acks=all producer" in text
    assert "--config min.insync.replicas=3 --config retention.ms=3600000" in text
    fields = dict(shown.context["fields"])
    response = client.post(ADDRESS, {**fields, "digest": digest_in(shown)}, follow=True)
    assert b"Topic clicks was created." in response.content
    assert own(cluster, "clicks") == {"retention.ms": "3600000", "min.insync.replicas": "3"}
    assert AuditEvent.objects.get().after["retention.ms"] == "3600000"


def test_other_settings_than_those_shown_are_another_plan(cluster, operator, client_of):
    client = client_of(operator)
    digest = digest_in(client.post(ADDRESS, WISH | {"configs": "retention.ms=1"}))
    response = client.post(ADDRESS, WISH | {"configs": "retention.ms=2", "digest": digest})
    assert (response.status_code, cluster.describe_topics()) == (409, [])


def test_a_wrong_setting_is_told_beside_the_field(operator, client_of, cluster):
    response = client_of(operator).post(ADDRESS, WISH | {"configs": "retention.ms=soon"})
    assert (response.status_code, b"retention.ms: " in response.content) == (422, True)


@pytest.mark.usefixtures("_orders")
def test_the_settings_of_another_topic_are_copied_without_what_names_its_replicas(operator, client_of):
    initial = client_of(operator).get(f"{ADDRESS}?like=orders").context["form"].initial
    assert (initial["partition_count"], initial["replication_factor"]) == (5, 2)
    assert initial["configs"] == "retention.ms=600000"


@pytest.mark.usefixtures("_orders")
def test_a_topic_out_of_reach_is_not_copied(limited, client_of):
    text = client_of(limited).get(f"{ADDRESS}?like=secret-plans").content
    assert (b"There is no such topic that you may see." in text, b"retention.ms=1" in text) == (True, False)


@pytest.mark.usefixtures("_orders")
def test_a_template_fills_the_form(operator, client_of):
    initial = client_of(operator).get(f"{ADDRESS}?template=table").context["form"].initial
    assert initial["configs"] == "cleanup.policy=compact"


@pytest.mark.usefixtures("_orders")
def test_a_cluster_that_does_not_answer_leaves_the_form(cluster, operator, client_of):
    cluster.cut_off()
    response = client_of(operator).get(f"{ADDRESS}?like=orders")
    assert (response.status_code, b"No broker answered in time." in response.content) == (200, True)


def test_every_wrong_line_is_told_at_once(cluster, operator, client_of):
    lines = [
        "retention.ms=soon",
        "no equals",
        "min.insync.replicas=0",
        "cleanup.policy=shred",
        "segment.ms=1 h",
        "segment.ms=2 h",
    ]
    form = {"name": "orders", "partition_count": "1", "replication_factor": "1", "configs": "\n".join(lines)}
    response = client_of(operator).post("/topics/+create/", form)
    assert response.status_code == 422
    errors = response.context["form"].errors["configs"]
    wrong = ["retention.ms: ", "no equals: ", "min.insync.replicas: ", "cleanup.policy: ", "segment.ms is there twice"]
    assert len(errors) == len(wrong)
    for name in wrong:
        assert sum(name in error for error in errors) == 1


def test_the_cluster_judges_settings_that_our_table_does_not_know(cluster, operator, client_of, monkeypatch):
    """A younger Kafka has keys that this console never heard of, and its own bounds for those it knows."""
    requests = []
    monkeypatch.setattr(cluster, "check_new_topic", lambda *wish: requests.append(wish))
    settings = "errors.deadletterqueue.group.enable=maybe\nmin.insync.replicas=0"
    response = client_of(operator).post(ADDRESS, WISH | {"configs": settings})
    assert response.status_code == 200
    own = {"errors.deadletterqueue.group.enable": "maybe", "min.insync.replicas": "0"}
    assert requests == [("clicks", 3, 3, own)]


def test_settings_that_are_refused_only_together_have_one_sentence(cluster, operator, client_of, monkeypatch):
    def check(name, partitions, factor, configs):
        if len(configs) > 1:
            raise refusal(ErrorCode.INVALID_CONFIG, "Both at once are not taken")

    monkeypatch.setattr(cluster, "check_new_topic", check)
    response = client_of(operator).post(ADDRESS, WISH | {"configs": "retention.ms=1\nsegment.ms=1"})
    assert response.context["form"].errors["configs"] == ["Both at once are not taken."]


def test_a_cluster_that_cannot_judge_leaves_the_plan(cluster, operator, client_of):
    cluster.cut_off()
    response = client_of(operator).post(ADDRESS, WISH | {"configs": "retention.ms=1"})
    assert (response.status_code, "digest" in response.content.decode()) == (200, True)
