"""The settings tab: what counts and why, and changes of one or several by plan."""

import csv
import io
import re

import pytest

from broker.common.errors import ErrorCode
from console.cluster.topics.edits import Edit, checked
from console.kit.audit.models import AuditEvent
from console.kit.gateway.errors import refusal
from console.state.clusters.models import Topic

PAGE, CHANGE = "/topics/orders/+settings/", "/topics/orders/+set/"


@pytest.fixture(autouse=True)
def _topic(cluster, db):
    cluster.create_topic("orders", 1, 3, {"segment.ms": "60000"})
    Topic.objects.create(name="orders", partition_count=1)


def settings_of(cluster) -> dict[str, tuple]:
    return {setting.name: (setting.value, setting.source) for setting in cluster.topic_settings("orders")}


def digest_of(response) -> str:
    return re.search(r'name="digest" value="([0-9a-f]+)"', response.content.decode())[1]


@pytest.fixture
def change(operator, client_of):
    """change(setting, value): planned on the page, then confirmed; `between` happens in the meantime."""
    client = client_of(operator)

    def confirm(setting: str, value: str, between=lambda: None):
        shown = client.get(PAGE, {"setting": setting, "value": value})
        between()
        return client.post(CHANGE, {"setting": setting, "value": value, "digest": digest_of(shown)}, follow=True)

    return confirm


def test_each_setting_has_its_value_source_default_and_meaning(viewer, client_of):
    response = client_of(viewer).get(f"{PAGE}?format=csv")
    titles, *rows = csv.reader(io.StringIO(b"".join(response.streaming_content).decode()))
    by_name = {row[0]: dict(zip(titles, row, strict=True)) for row in rows}
    assert by_name["segment.ms"] | {"meaning": ""} == {
        "setting": "segment.ms",
        "value": "60000",
        "source": "topic",
        "kafkas_default": "604800000",
        "meaning": "",
    }
    assert by_name["segment.ms"]["meaning"]
    assert by_name["max.message.bytes"]["source"] == "default"


def test_a_setting_is_changed_as_planned_and_put_back(change, cluster):
    response = change("max.message.bytes", "2000")
    assert settings_of(cluster)["max.message.bytes"] == ("2000", "topic")
    assert "max.message.bytes of orders was changed." in response.content.decode()
    assert "setting=max.message.bytes&amp;value=default" in response.content.decode()
    event = AuditEvent.objects.get()
    assert (event.action, event.before, event.after) == (
        "change setting",
        {"max.message.bytes": "default"},
        {"max.message.bytes": "2000"},
    )

    change("max.message.bytes", "default")
    assert settings_of(cluster)["max.message.bytes"][1] == "default"


def test_a_setting_changed_by_somebody_else_in_the_meantime_is_not_changed(change, cluster):
    def elsewhere():
        cluster.change_topic_settings("orders", {"segment.ms": "70000"})

    response = change("segment.ms", "80000", elsewhere)
    assert response.status_code == 409
    assert settings_of(cluster)["segment.ms"] == ("70000", "topic")
    assert AuditEvent.objects.get().result == "refused"


def test_the_digest_of_another_value_changes_nothing_and_shows_the_new_plan(operator, client_of, cluster):
    client = client_of(operator)
    shown = client.get(PAGE, {"setting": "max.message.bytes", "value": "2000000"})
    sent = {"setting": "max.message.bytes", "value": "1", "digest": digest_of(shown)}
    refused = client.post(CHANGE, sent)

    assert refused.status_code == 409
    assert settings_of(cluster)["max.message.bytes"][1] == "default"
    assert refused.context["plan"].after == {"max.message.bytes": "1"}
    assert digest_of(refused) != digest_of(shown)


def test_the_digest_of_somebody_else_changes_nothing(operator, administrator, client_of, cluster):
    form = {"setting": "max.message.bytes", "value": "2000"}
    theirs = digest_of(client_of(administrator).get(PAGE, form))

    assert client_of(operator).post(CHANGE, form | {"digest": theirs}).status_code == 409
    assert settings_of(cluster)["max.message.bytes"][1] == "default"


@pytest.mark.parametrize(
    ("setting", "value", "sentence"),
    [
        ("segment.ms", "soon", "Invalid value soon for configuration segment.ms: Not a number of type LONG."),
        ("max.message.bytes", "abc", "Not a number of type INT"),
        ("max.message.bytes", "10 parsecs", "Not a number of type INT"),
        ("compression.type", "zipp", "String must be one of: uncompressed, zstd"),
        ("min.insync.replicas", "0", "Value must be at least 1"),
        ("unclean.leader.election.enable", "yes", "Expected value to be either true or false"),
    ],
)
def test_a_value_no_broker_takes_is_told_before_a_plan_is_shown(setting, value, sentence, operator, client_of, cluster):
    client, form = client_of(operator), {"setting": setting, "value": value}
    before = settings_of(cluster)
    for response in (client.get(PAGE, form), client.post(CHANGE, form | {"digest": "0" * 32})):
        text = response.content.decode()
        assert response.status_code == 422
        assert sentence in text
        assert 'class="apply"' not in text
    assert settings_of(cluster) == before


def test_a_value_is_judged_by_the_cluster_and_not_by_our_table(change, cluster, monkeypatch):
    """Another Kafka takes what our brokers do not know."""
    changed = {}
    monkeypatch.setattr(cluster, "check_topic_settings", lambda topic, changes: None)
    monkeypatch.setattr(cluster, "change_topic_settings", lambda topic, changes: changed.update(changes))
    assert "compression.type of orders was changed." in change("compression.type", "zippy").content.decode()
    assert changed == {"compression.type": "zippy"}


def test_the_cluster_is_asked_about_a_value_only_for_those_who_may_set_it(
    cluster, viewer, operator, client_of, monkeypatch
):
    checks = []
    monkeypatch.setattr(cluster, "check_topic_settings", lambda topic, changes: checks.append(changes))
    form = {"setting": "segment.ms", "value": "70000"}
    shown = client_of(viewer).get(PAGE, form).content.decode()
    assert "70000" in shown
    assert "Changing a topic needs the role operator." in shown
    assert checks == []
    client_of(operator).get(PAGE, form)
    assert checks == [{"segment.ms": "70000"}]


def test_values_that_are_refused_only_together_are_refused_at_the_last(monkeypatch):
    def check(changes):
        if len(changes) > 1:
            raise refusal(ErrorCode.INVALID_CONFIG, "Not both.")

    edits = checked([Edit("a", "1"), Edit("b", "2"), Edit("c")], check)
    assert [edit.refusal for edit in edits] == ["", "Not both.", ""]


def test_a_value_that_is_refused_when_it_is_changed_is_told(change, cluster, monkeypatch):
    monkeypatch.setattr(cluster, "check_topic_settings", lambda topic, changes: None)
    response = change("segment.ms", "soon")
    assert response.status_code == 422
    assert settings_of(cluster)["segment.ms"] == ("60000", "topic")
    assert AuditEvent.objects.get().result == "refused"


@pytest.mark.parametrize(
    ("setting", "typed", "set_to"), [("max.message.bytes", "10 MB", "10000000"), ("segment.ms", "1.5 h", "5400000")]
)
def test_an_amount_may_be_typed_with_its_unit(setting, typed, set_to, change, cluster):
    change(setting, typed)
    assert settings_of(cluster)[setting] == (set_to, "topic")


@pytest.mark.parametrize(
    ("setting", "choices"),
    [
        ("unclean.leader.election.enable", ["true", "false", "default"]),
        ("message.timestamp.type", ["CreateTime", "LogAppendTime", "default"]),
    ],
)
def test_where_values_are_few_they_are_chosen(setting, choices, operator, client_of):
    text = client_of(operator).get(PAGE, {"setting": setting}).content.decode()
    field = re.search(r'<select id="value-1" name="value">(.*?)</select>', text, re.DOTALL)[1]
    assert re.findall(r">(\w+)</option>", field) == choices


def test_an_unclean_election_is_allowed_only_by_who_types_the_name(change, operator, client_of, cluster):
    form = {"setting": "unclean.leader.election.enable", "value": "true"}
    assert "acknowledged records too" in client_of(operator).get(PAGE, form).content.decode()
    assert change(*form.values()).status_code == 422
    assert settings_of(cluster)["unclean.leader.election.enable"][0] == "false"


@pytest.mark.parametrize(
    ("least", "sentence"),
    [
        ("4", "No acks=all producer can write any more: a partition has 3 replicas, not 4."),
        ("3", "one dead broker stops every acks=all producer"),
        ("1", "while one broker alone holds it"),
    ],
)
def test_what_a_minimum_of_replicas_comes_to_is_said(least, sentence, operator, client_of):
    Topic.objects.update(replication_factor=3)
    form = {"setting": "min.insync.replicas", "value": least}
    assert sentence in client_of(operator).get(PAGE, form).content.decode()
    assert sentence not in client_of(operator).get(PAGE, form | {"value": "2"}).content.decode()


def test_a_value_that_is_there_already_changes_nothing(operator, client_of):
    client = client_of(operator)
    assert "Nothing would change." in client.get(PAGE, {"setting": "segment.ms", "value": "60000"}).content.decode()


@pytest.mark.parametrize("setting", ["retention.ms", "no.such.setting", ""])
def test_what_deletes_records_is_changed_on_the_retention_tab_only(setting, operator, client_of, cluster):
    response = client_of(operator).post(CHANGE, {"setting": setting, "value": "1", "digest": "x"})
    assert response.status_code == 404
    assert settings_of(cluster)["retention.ms"][1] == "default"


@pytest.mark.parametrize("person", ["viewer", "outsider"])
def test_only_an_operator_changes_a_setting(person, request, client_of, cluster):
    client = client_of(request.getfixturevalue(person))
    assert client.post(CHANGE, {"setting": "segment.ms", "value": "1000"}).status_code == 403
    assert settings_of(cluster)["segment.ms"] == ("60000", "topic")


def test_a_cluster_that_does_not_answer_is_told(viewer, client_of, cluster):
    cluster.cut_off()
    assert '<p class="banner error" role="alert">No broker answered in time.' in (
        client_of(viewer).get(PAGE).content.decode()
    )


def test_what_a_rule_refuses_is_no_failure_and_so_not_red(operator, client_of, cluster):
    """Neither a plan that is out of date, nor a value that the cluster does not take."""
    form = {"setting": "segment.ms", "value": "60001"}
    text = client_of(operator).post(CHANGE, form | {"digest": "0" * 32}).content.decode()
    assert re.search(r'<p class="banner warning" role="alert">[^<]* has changed since it was shown', text)
    assert "banner error" not in text


SEVERAL = {"setting": ["max.message.bytes", "segment.ms"], "value": ["2000", "default"]}


def test_several_settings_are_one_change_with_one_audit_row_and_one_undo(operator, client_of, cluster):
    client = client_of(operator)
    shown = client.get(PAGE, SEVERAL)
    command = "--add-config 'max.message.bytes=[2000]' --delete-config segment.ms"
    assert command in shown.context["plan"].command
    assert "set them back: max.message.bytes to default, segment.ms to 60000." in shown.context["plan"].undo
    page = client.post(CHANGE, SEVERAL | {"digest": digest_of(shown)}, follow=True).content.decode()
    assert "max.message.bytes and segment.ms of orders were changed." in page
    assert settings_of(cluster)["max.message.bytes"] == ("2000", "topic")
    assert settings_of(cluster)["segment.ms"][1] == "default"
    event = AuditEvent.objects.get()
    assert event.after == {"max.message.bytes": "2000", "segment.ms": "default"}

    undo = dict(SEVERAL, value=["default", "60000"])
    assert "setting=max.message.bytes&amp;value=default&amp;setting=segment.ms&amp;value=60000" in page
    client.post(CHANGE, undo | {"digest": digest_of(client.get(PAGE, undo))})
    assert settings_of(cluster)["segment.ms"] == ("60000", "topic")


def test_one_wrong_value_of_several_is_told_beside_it_and_nothing_is_planned(operator, client_of, cluster):
    before = settings_of(cluster)
    wrong = dict(SEVERAL, value=["2000", "soon"])
    for response in (client_of(operator).get(PAGE, wrong), client_of(operator).post(CHANGE, wrong)):
        assert response.status_code == 422
        assert (
            "Invalid value soon for configuration segment.ms: Not a number of type LONG." in response.content.decode()
        )
        assert response.context["plan"] is None
    assert settings_of(cluster) == before


def test_the_plan_of_two_confirms_neither_alone(operator, client_of, cluster):
    client = client_of(operator)
    digest = digest_of(client.get(PAGE, SEVERAL))
    assert client.post(CHANGE, {"setting": "segment.ms", "value": "default", "digest": digest}).status_code == 409
    assert settings_of(cluster)["segment.ms"] == ("60000", "topic")


def test_another_setting_joins_the_change_before_it_has_a_value_and_can_be_left_out(operator, client_of):
    form = {"setting": "segment.ms", "value": "70000", "also": "max.message.bytes"}
    response = client_of(operator).get(PAGE, form)
    text = response.content.decode()
    assert "Change 2 settings" in text
    assert response.context["plan"] is None
    assert "?setting=segment.ms&amp;value=70000" in text


def test_more_than_a_person_reads_are_cut_off(operator, client_of, cluster):
    names = [
        setting.name
        for setting in cluster.topic_settings("orders")
        if not setting.name.startswith(("retention", "cleanup"))
    ]
    response = client_of(operator).get(PAGE, {"setting": names, "value": ["default"] * len(names)})
    assert len(response.context["chosen"]) == 12


def test_one_name_twice_is_the_last_of_them(operator, client_of):
    response = client_of(operator).get(PAGE, {"setting": ["segment.ms", "segment.ms"], "value": ["1", "70000"]})
    assert response.context["plan"].after == {"segment.ms": "70000"}


def test_a_person_who_may_not_change_a_topic_has_the_cluster_judge_nothing(viewer, client_of, cluster, monkeypatch):
    """It would be asked with the console's rights, thirteen times for one page."""
    judged = []
    monkeypatch.setattr(cluster, "check_topic_settings", lambda topic, changes: judged.append(changes))
    response = client_of(viewer).get(PAGE, {"setting": ["segment.ms", "flush.ms"], "value": ["soon", "never"]})
    assert (response.status_code, judged) == (200, [])


def test_a_plan_names_the_value_of_the_default(operator, client_of):
    text = client_of(operator).get(PAGE, {"setting": "segment.ms", "value": "default"}).content.decode()
    assert re.search(r"<strong>default</strong> <span class=\"muted\">\(604800000\)</span>", text)
