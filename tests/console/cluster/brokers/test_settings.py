"""The settings tab of a broker: values with source and drift, and a change of one by plan, for it alone or for all."""

import csv
import io
import re

import pytest

from console.kit.access.models import NameRule
from console.kit.audit.models import AuditEvent
from console.kit.gateway.brokers.interface import BrokerSetting
from console.processes.embedded import broker_spec
from console.processes.models import ManagedProcess
from console.processes.setup import read_setup
from tests.console.confirming import digest_in

PAGE, CHANGE = "/brokers/1/settings/", "/brokers/1/set/"


@pytest.fixture(autouse=True)
def _seen(cluster, collect):
    collect()


def value_of(cluster, broker_id: int, name: str) -> tuple:
    result = next(setting for setting in cluster.brokers.settings()[broker_id] if setting.name == name)
    return result.value, result.source


@pytest.fixture
def change(operator, client_of):
    """change(setting, value, scope): planned on the page, then confirmed; `between` happens in the meantime."""
    client = client_of(operator)

    def confirm(setting: str, value: str, scope: str = "", between=lambda: None, typed: str = ""):
        form = {"setting": setting, "value": value, "scope": scope}
        shown = client.get(PAGE, form).content.decode()
        between()
        digest = re.search(r'name="digest" value="([0-9a-f]+)"', shown)[1]
        return client.post(CHANGE, form | {"digest": digest, "typed_name": typed}, follow=True)

    return confirm


def test_the_digest_for_one_broker_changes_no_others(operator, client_of, cluster):
    client = client_of(operator)
    form = {"setting": "message.max.bytes", "value": "1500000", "scope": ""}
    shown = client.get(PAGE, form)

    assert client.post(CHANGE, form | {"scope": "all", "digest": digest_in(shown)}).status_code == 409
    assert value_of(cluster, 2, "message.max.bytes")[1] == "default"


def names_in(response) -> set[str]:
    return {row["setting"] for row in csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode()))}


def test_rows_are_chosen_by_word_and_kind(cluster, viewer, client_of):
    cluster.brokers.change_settings(1, {"log.cleaner.backoff.ms": "16000"})
    client = client_of(viewer)

    def chosen(**query) -> set[str]:
        return names_in(client.get(PAGE, {"format": "csv", **query}))

    assert chosen(only="changed") == {"broker.id", "log.dirs", "log.cleaner.backoff.ms"}
    assert chosen(only="drift") == {"log.cleaner.backoff.ms"}
    assert chosen(search="tombstone") == {"log.cleaner.delete.retention.ms"}
    assert "broker.id" not in chosen(only="changeable")


def test_drift_is_named_on_both_brokers(cluster, viewer, client_of):
    cluster.brokers.change_settings(2, {"log.cleaner.backoff.ms": "16000"})
    text = client_of(viewer).get(PAGE, {"only": "drift"}).content.decode()
    assert "Elsewhere: 16000 on broker 2." in text
    assert "1 drifting" in text


def test_a_file_edited_since_the_start_is_seen_on_disk(cluster, viewer, client_of, tmp_path, settings):
    settings.DATA_DIR = tmp_path
    file = tmp_path / "broker-1" / "server.properties"
    file.parent.mkdir()
    file.write_text("broker.id=1\nlog.dirs=/data/1\nnum.partitions=3\n")
    ManagedProcess.objects.create(
        name="broker-1",
        kind="broker",
        host=settings.HOST_NAME,
        spec=broker_spec(read_setup({}, ""), tmp_path, 1),
    )
    text = client_of(viewer).get(PAGE, {"only": "drift"}).content.decode()
    assert "Its file now says 3" in text
    assert "1 drifting" in text


def test_one_broker_is_changed_as_planned_and_put_back(change, cluster):
    response = change("log.cleaner.backoff.ms", "16000").content.decode()
    assert value_of(cluster, 1, "log.cleaner.backoff.ms") == ("16000", "broker")
    assert value_of(cluster, 2, "log.cleaner.backoff.ms") == ("15000", "default")
    assert "log.cleaner.backoff.ms of broker 1 was changed." in response
    assert "setting=log.cleaner.backoff.ms&amp;value=default" in response
    event = AuditEvent.objects.get()
    assert (event.object_type, event.object_name, event.after) == ("broker", "1", {"log.cleaner.backoff.ms": "16000"})

    change("log.cleaner.backoff.ms", "default")
    assert value_of(cluster, 1, "log.cleaner.backoff.ms") == ("15000", "default")


def test_all_brokers_are_changed_but_not_those_with_a_value_of_their_own(change, cluster, operator, client_of):
    cluster.brokers.change_settings(2, {"log.cleaner.backoff.ms": "1"})
    form = {"setting": "log.cleaner.backoff.ms", "value": "16000", "scope": "all"}
    shown = client_of(operator).get(PAGE, form).content.decode()
    assert "but not broker 2, which has a value of its own" in shown
    assert "--entity-type brokers --entity-default" in shown
    change("log.cleaner.backoff.ms", "16000", "all")
    assert value_of(cluster, 3, "log.cleaner.backoff.ms") == ("16000", "cluster")
    assert value_of(cluster, 2, "log.cleaner.backoff.ms") == ("1", "broker")
    assert AuditEvent.objects.get().object_name == "all"


def test_a_change_that_deletes_records_needs_the_name_typed(change, cluster):
    response = change("log.retention.ms", "60000", "all")
    assert response.status_code == 422
    assert "deleted for good" in response.content.decode()
    assert value_of(cluster, 1, "log.retention.ms")[1] == "default"
    change("log.retention.ms", "60000", "all", typed="all")
    assert value_of(cluster, 1, "log.retention.ms") == ("60000", "cluster")


def test_a_setting_changed_by_somebody_else_in_the_meantime_is_not_changed(change, cluster):
    def elsewhere():
        cluster.brokers.change_settings(1, {"log.cleaner.backoff.ms": "17000"})

    assert change("log.cleaner.backoff.ms", "16000", between=elsewhere).status_code == 409
    assert value_of(cluster, 1, "log.cleaner.backoff.ms") == ("17000", "broker")
    assert AuditEvent.objects.get().result == "refused"


def test_a_refused_value_that_only_the_broker_knows_of_is_told(change, cluster, monkeypatch):
    monkeypatch.setattr("console.cluster.brokers.settings_views.broker_value_refusal", lambda name, text: "")
    response = change("log.cleaner.backoff.ms", "soon")
    assert response.status_code == 422
    assert "Not a number of type" in response.content.decode()
    assert AuditEvent.objects.get().result == "refused"


def test_what_only_a_restart_changes_is_not_offered(operator, client_of, cluster):
    client = client_of(operator)
    text = client.get(PAGE, {"setting": "num.partitions", "value": "3"}).content.decode()
    assert "cannot change while a broker runs" in text
    assert 'name="digest"' not in text


@pytest.mark.parametrize("person", ["viewer", "outsider"])
def test_only_an_operator_changes_a_broker(person, request, client_of, cluster):
    client = client_of(request.getfixturevalue(person))
    assert client.post(CHANGE, {"setting": "log.cleaner.backoff.ms", "value": "1"}).status_code == 403
    assert value_of(cluster, 1, "log.cleaner.backoff.ms")[1] == "default"


RULES = {"operator": ("nothing", "topic", "payments"), "viewer": ("operator", "cluster", "cluster")}


@pytest.fixture(params=RULES)
def limited(request, client_of):
    """A browser of somebody who operates the cluster, and not all of its topics."""
    person = request.getfixturevalue(request.param)
    level, resource, pattern = RULES[request.param]
    NameRule.objects.create(user=person, level=level, resource=resource, pattern=pattern)
    return client_of(person)


@pytest.mark.parametrize(("scope", "typed"), [("all", "all"), ("", "1")])
@pytest.mark.parametrize("name", ["log.retention.ms", "log.retention.bytes", "log.cleanup.policy"])
def test_who_does_not_operate_every_topic_deletes_no_records_through_the_brokers(name, scope, typed, limited, cluster):
    form = {"setting": name, "value": "delete" if "policy" in name else "60000", "scope": scope}
    shown = limited.get(PAGE, form)
    assert "This concerns every topic, and your rights do not reach all of them." in shown.content.decode()
    assert 'name="digest"' not in shown.content.decode()
    confirmed = form | {"digest": digest_in(shown), "typed_name": typed}
    assert limited.post(CHANGE, confirmed).status_code == 403
    assert value_of(cluster, 1, name)[1] == "default"


def test_what_deletes_nothing_is_changed_by_whoever_operates_the_cluster(limited, cluster):
    form = {"setting": "log.cleaner.backoff.ms", "value": "16000", "scope": "all"}
    digest = digest_in(limited.get(PAGE, form))
    assert limited.post(CHANGE, form | {"digest": digest}).status_code == 302
    assert value_of(cluster, 1, "log.cleaner.backoff.ms") == ("16000", "cluster")


def test_a_broker_that_is_silent_says_so_instead_of_a_table(cluster, viewer, client_of):
    cluster.stop_broker(1)
    assert "Broker 1 does not answer" in client_of(viewer).get(PAGE).content.decode()
    cluster.cut_off()
    assert "No broker answered in time." in client_of(viewer).get(PAGE).content.decode()


def test_a_secret_is_masked_everywhere_and_changed_nowhere(cluster, operator, client_of, monkeypatch):
    secret = BrokerSetting("ssl.key.password", None, "file", None, "", is_sensitive=True)
    monkeypatch.setattr(cluster.brokers, "settings", lambda: {1: (secret,)})
    client = client_of(operator)
    assert "•••••• secret" in client.get(PAGE).content.decode()
    (row,) = csv.DictReader(io.StringIO(b"".join(client.get(PAGE, {"format": "csv"}).streaming_content).decode()))
    assert row["value"] == "(secret)"
    page = client.get(PAGE, {"setting": "ssl.key.password", "value": "hunter2"}).content.decode()
    assert "changed at a shell" in page
    assert 'name="digest"' not in page


@pytest.mark.parametrize(
    ("setting", "value"), [("message.max.bytes", "abc"), ("unclean.leader.election.enable", "maybe")]
)
def test_a_value_no_broker_takes_is_told_before_a_plan_is_shown(setting, value, operator, client_of, cluster):
    client, form = client_of(operator), {"setting": setting, "value": value, "scope": "all"}
    for response in (client.get(PAGE, form), client.post(CHANGE, form | {"digest": "0" * 32})):
        assert response.status_code == 422
        assert f"Invalid value {value} for configuration {setting}" in response.content.decode()
        assert 'class="apply"' not in response.content.decode()
    assert value_of(cluster, 1, setting)[1] == "default"
