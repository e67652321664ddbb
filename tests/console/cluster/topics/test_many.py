"""Many topics at once: one plan, one confirmation, and what is refused of it by name."""

import re

import pytest

from broker.common.errors import ErrorCode
from console.kit.audit.models import AuditEvent
from console.kit.gateway.errors import refusal
from tests.console.confirming import digest_in

PAGE = "/topics/+many/"
NAMES = ["clicks-a", "clicks-b", "clicks-c"]


@pytest.fixture(autouse=True)
def _topics(cluster, collect):
    for name in (*NAMES, "orders", "secret-plans"):
        cluster.create_topic(name, 2, 2)
    cluster.create_topic("__own", 1, 1)
    cluster.change_topic_settings("clicks-b", {"min.insync.replicas": "2"})
    cluster.append("clicks-a", 0, 40)
    cluster.commit("readers", "clicks-a", 0, 3)
    collect()


def names(cluster) -> list[str]:
    return [topic.name for topic in cluster.describe_topics()]


def least_in_sync(cluster) -> dict[str, tuple[str, str]]:
    results = {}
    for name in NAMES:
        setting = next(setting for setting in cluster.topic_settings(name) if setting.name == "min.insync.replicas")
        results[name] = (setting.value, setting.source)
    return results


def confirmed(client, query: dict, **form):
    shown = client.get(PAGE, query)
    sent: dict = {}
    for name, value in shown.context["fields"]:
        sent.setdefault(name, []).append(value)
    plan = shown.context["plan"]
    return client.post(PAGE, {**sent, "digest": digest_in(shown), "typed_name": plan.typed_name} | form, follow=True)


def test_those_that_were_chosen_are_deleted_by_one_confirmation_and_one_row_of_the_audit(cluster, operator, client_of):
    client = client_of(operator)
    text = client.get(PAGE, {"topic": NAMES, "do": "delete"}).content.decode()
    assert "Consumer groups lose their place: readers." in text
    assert "Up to 40 records" in text
    response = confirmed(client, {"topic": NAMES, "do": "delete"})
    assert b"3 topics: done." in response.content
    assert names(cluster) == ["__own", "orders", "secret-plans"]
    event = AuditEvent.objects.get()
    assert (event.action, event.object_name, event.result) == ("delete topics", "3 topics", "done")
    assert event.before == dict.fromkeys(NAMES, "2 × 2")


def test_topics_that_were_chosen_stay_though_the_search_hides_them(administrator, client_of):
    shown = client_of(administrator).get(PAGE, {"topic": ["__own", "clicks-b"], "search": "orders"})
    assert [topic.name for topic in shown.context["topics"]] == ["__own", "clicks-b", "orders"]
    assert shown.context["count"] == 3


@pytest.mark.parametrize("typed", ["", "delete", "delete 2 topics", "clicks-a"])
def test_how_many_they_are_has_to_be_typed(typed, cluster, operator, client_of):
    response = confirmed(client_of(operator), {"topic": NAMES, "do": "delete"}, typed_name=typed)
    assert (response.status_code, len(names(cluster))) == (422, 6)


def test_one_more_topic_is_another_plan(cluster, operator, client_of):
    response = confirmed(client_of(operator), {"topic": NAMES[:2], "do": "delete"}, topic=NAMES)
    assert (response.status_code, len(names(cluster))) == (409, 6)


def test_a_group_that_began_to_read_meanwhile_is_another_plan(cluster, collect, operator, client_of):
    client = client_of(operator)
    shown = client.get(PAGE, {"topic": NAMES, "do": "delete"})
    cluster.commit("others", "clicks-b", 0, 0)
    collect()
    form = {"topic": NAMES, "do": "delete", "digest": digest_in(shown), "typed_name": "delete 3 topics"}
    assert client.post(PAGE, form).status_code == 409
    assert len(names(cluster)) == 6


def test_kafkas_own_are_not_deleted_among_others(cluster, operator, administrator, client_of):
    assert client_of(operator).get(PAGE, {"topic": ["clicks-a", "__own"], "do": "delete"}).status_code == 403
    response = confirmed(client_of(administrator), {"topic": ["clicks-a", "__own"], "do": "delete"})
    assert (response.status_code, len(names(cluster))) == (409, 6)
    assert b"Leave them out." in response.content


def test_a_setting_of_many_is_changed_and_put_back_to_what_each_had(cluster, operator, client_of):
    client = client_of(operator)
    query = {"topic": NAMES, "do": "set", "setting": "min.insync.replicas", "value": "2"}
    shown = client.get(PAGE, query)
    assert [line.name for line in shown.context["plan"].lines] == ["clicks-a", "clicks-c"]
    assert "clicks-a, clicks-c: It has 2 replicas: one dead broker stops" in shown.content.decode()
    text = confirmed(client, query).content.decode()
    assert set(least_in_sync(cluster).values()) == {("2", "topic")}
    assert AuditEvent.objects.get().after == {"clicks-a": "2", "clicks-c": "2"}
    undo = re.search(r'href="/topics/\+many/(\?setting=[^"]*)">Plan the undo', text)[1].replace("&amp;", "&")
    shown = client.get(PAGE + undo)
    form = dict(shown.context["fields"]) | {"digest": digest_in(shown)}
    client.post(PAGE, form)
    before = least_in_sync(cluster)
    assert {name: source for name, (_, source) in before.items()} == {
        "clicks-a": "default",
        "clicks-b": "topic",
        "clicks-c": "default",
    }


def test_what_one_refuses_keeps_no_other_from_its_change(cluster, operator, client_of, monkeypatch):
    change = cluster.change_topic_settings

    def refuse_one(topic, changes):
        if topic == "clicks-a":
            raise refusal(ErrorCode.POLICY_VIOLATION)
        change(topic, changes)

    monkeypatch.setattr(cluster, "change_topic_settings", refuse_one)
    query = {"topic": NAMES, "do": "set", "setting": "segment.ms", "value": "1 h"}
    response = confirmed(client_of(operator), query)
    assert b"2 topics: done." in response.content
    assert b"clicks-a: " in response.content
    event = AuditEvent.objects.get()
    assert (event.result, event.detail.partition(":")[0]) == ("done", "clicks-a")


def test_an_unclean_election_for_many_is_typed(cluster, operator, client_of):
    query = {"topic": NAMES, "do": "set", "setting": "unclean.leader.election.enable", "value": "true"}
    assert confirmed(client_of(operator), query, typed_name="").status_code == 422
    assert b"3 topics: done." in confirmed(client_of(operator), query).content


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ({"topic": "nothing-of-that-name", "do": "delete"}, b"There is no topic nothing-of-that-name"),
        ({"topic": "orders", "do": "dance"}, b"Choose what to do"),
        ({"topic": "orders", "do": "set"}, b"Choose what to do"),
        ({"topic": "orders", "do": "set", "setting": "segment.ms", "value": "soon"}, b"banner warning"),
        ({"topic": "orders", "do": "set", "setting": "no.such", "value": "1"}, b"no setting that is changed here"),
    ],
)
def test_what_cannot_be_meant_is_said(query, why, operator, client_of):
    response = client_of(operator).get(PAGE, query)
    assert (response.status_code, why in response.content) == (422, True)


def test_only_what_one_operates_is_offered_and_taken(cluster, limited, client_of):
    client = client_of(limited)
    assert b"secret-plans" not in client.get(PAGE).content
    assert client.get(PAGE, {"topic": "secret-plans", "do": "delete"}).status_code == 403
    assert client.post(PAGE, {"topic": ["orders", "secret-plans"], "do": "delete", "digest": "x"}).status_code == 403
    assert len(names(cluster)) == 6


def test_it_is_searched_as_the_list_is(operator, client_of):
    page = client_of(operator).get(PAGE, {"search": "clicks"})
    assert [topic.name for topic in page.context["topics"]] == NAMES


def test_a_cluster_that_goes_away_in_the_middle_is_told_and_not_asked_for_each(
    cluster, operator, client_of, monkeypatch
):
    delete, deleted = cluster.delete_topic, []

    def go_away(name):
        deleted.append(name)
        cluster.cut_off(len(deleted) > 1)
        delete(name)

    monkeypatch.setattr(cluster, "delete_topic", go_away)
    response = confirmed(client_of(operator), {"topic": NAMES, "do": "delete"})
    cluster.cut_off(False)
    assert b"1 topic: done." in response.content
    assert deleted == NAMES[:2]
    assert names(cluster) == ["__own", "clicks-b", "clicks-c", "orders", "secret-plans"]


@pytest.mark.parametrize("person", ["viewer", "outsider"])
def test_others_are_refused(person, request, cluster, client_of):
    client = client_of(request.getfixturevalue(person))
    assert client.get(PAGE).status_code == 403
    assert client.post(PAGE, {"topic": NAMES, "do": "delete", "digest": "x"}).status_code == 403
    assert len(names(cluster)) == 6
