"""Rules made on the page: whose they are, what is planned, that they count, and what becomes of those that cannot."""

import re

import pytest

from console.kit.audit.models import AuditEvent
from console.signals.alerts.collect import AlertWatch
from console.signals.alerts.models import Alert, KeptRule
from console.state.clusters.models import Topic

CHANNELS = '[channels.ops]\nkind = "webhook"\nurl = "https://ops.example/hook-secret"\n'
RULE = {
    "name": "busy", "about": "topic.records", "objects": "ord*", "is_above": "above", "threshold": "5",
    "recover": "", "lasting": "", "clear": "", "repeat": "4 h", "severity": "critical", "channels": ["ops"],
}  # fmt: skip
ADD = "/alerts/+rule/"


@pytest.fixture
def channels(settings, cluster, collect, clock):
    settings.ALERTS_FILE.write_text(CHANNELS)
    settings.ALERTS_FILE.chmod(0o600)
    cluster.create_topic("orders", 1, 1)
    for _ in range(3):
        cluster.append("orders", 0, 600)
        clock.advance(15_000)
        collect()
    Topic.objects.filter(name="orders").update(records_per_second=40)


@pytest.fixture
def ask(administrator, client_of, channels):
    return client_of(administrator)


def planned(client, address=ADD, **changes):
    response = client.post(address, RULE | changes)
    match = re.search(r'name="digest" value="(\w+)"', response.content.decode())
    return response, match and match[1]


def kept(client, address=ADD, **changes):
    _, digest = planned(client, address, **changes)
    return client.post(address, RULE | changes | {"digest": digest}, follow=True)


def test_a_rule_is_planned_with_what_breaks_it_now_and_then_kept(ask):
    response, _ = planned(ask)
    text = response.content.decode()
    assert "hook-secret" not in text
    assert "topic.records" in text
    assert not KeptRule.objects.exists()
    page = kept(ask).content.decode()
    assert "Rule busy is active." in page
    assert re.search(r"topic\.records of ord\* above 5.* → ops", page)
    assert AuditEvent.objects.filter(action="keep alert rule", object_name="busy", result="done").count() == 1


def test_the_plan_names_what_breaks_the_rule(ask, monkeypatch, clock):
    monkeypatch.setattr("console.signals.alerts.rule_views.now_ms", clock.now_ms)
    assert "It is broken now by orders." in planned(ask)[0].content.decode()
    assert "Nothing breaks it now." in planned(ask, threshold="500000")[0].content.decode()


def test_a_rule_that_is_kept_fires_and_is_over_when_it_is_removed(ask, clock):
    kept(ask)
    watch = AlertWatch(clock.now_ms)
    watch.look()
    assert [(alert.rule, alert.object_name, alert.state) for alert in Alert.objects.all()] == [
        ("busy", "orders", "firing")
    ]
    text = ask.get("/alerts/rules/busy/+remove/").content.decode()
    digest = re.search(r'name="digest" value="(\w+)"', text)[1]
    assert "is removed" in ask.post("/alerts/rules/busy/+remove/", {"digest": digest}, follow=True).content.decode()
    watch.look()
    assert not Alert.objects.exclude(state="resolved").exists()


def test_a_rule_that_was_removed_is_made_again_as_it_was(ask):
    kept(ask)
    saved = KeptRule.objects.get().definition
    removal = "/alerts/rules/busy/+remove/"
    digest = re.search(r'name="digest" value="(\w+)"', ask.get(removal).content.decode())[1]
    done = ask.post(removal, {"digest": digest}, follow=True).content.decode()
    back = re.search(rf'href="({re.escape(ADD)}\?kept=\d+)"', done)[1]
    assert not KeptRule.objects.exists()
    assert back in ask.get(ADD).content.decode()
    begun = ask.get(back).context["form"]
    form = {item.name: item.value() for item in begun if item.value() is not None}
    digest = re.search(r'name="digest" value="(\w+)"', ask.post(ADD, form).content.decode())[1]
    ask.post(ADD, form | {"digest": digest})
    assert (KeptRule.objects.get().name, KeptRule.objects.get().definition) == ("busy", saved)
    assert ask.get(ADD).context["removed"] == []


def test_a_rule_is_changed_and_nothing_else_than_was_shown(ask):
    kept(ask)
    address = "/alerts/rules/busy/+change/"
    assert 'value="ord*"' in ask.get(address).content.decode()
    _, digest = planned(ask, address, threshold="9")
    refused = ask.post(address, RULE | {"threshold": "99", "digest": digest})
    assert refused.status_code == 409
    assert KeptRule.objects.get().definition["above"] == 5
    ask.post(address, RULE | {"threshold": "9", "digest": digest})
    assert KeptRule.objects.get().definition["above"] == 9


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"name": "a b"}, "letters, digits"),
        ({"about": "topic.nonsense"}, "Select a valid choice"),
        ({"threshold": ""}, "either above or below"),
        ({"threshold": "nan"}, "Enter a number"),
        ({"recover": "77"}, "recover must be on the good side"),
        ({"lasting": "soon"}, "for must be a time"),
        ({"channels": ["nobody"]}, "Select a valid choice"),
        ({"about": "health.critical"}, "has no effect together with health"),
        ({"about": "cluster.lag"}, "there is one cluster"),
    ],
)
def test_what_is_no_rule_is_refused_with_what_to_change(ask, changes, reason):
    if changes.get("about") == "health.critical":
        response = ask.post(ADD, RULE | changes)
        assert response.status_code == 200  # what has no effect together with health is not asked for
        return
    response = ask.post(ADD, RULE | changes)
    assert response.status_code == 422
    assert reason in response.content.decode()


def test_a_name_that_is_taken_stands_in_the_way(ask, settings):
    kept(ask)
    assert "There is a rule busy already" in planned(ask)[0].content.decode()
    settings.ALERTS_FILE.write_text(CHANNELS + '[rules.disk]\nmeasure = "broker.size"\nabove = 1\nchannels = ["ops"]\n')
    assert "The file has a rule disk" in planned(ask, name="disk")[0].content.decode()


def test_a_rule_whose_channel_is_gone_says_so_and_can_be_removed(ask, settings):
    kept(ask)
    settings.ALERTS_FILE.write_text(CHANNELS.replace("channels.ops", "channels.others"))
    page = ask.get("/alerts/").content.decode()
    assert "busy does not count." in page
    assert "there is no channel" in page
    assert ask.get("/alerts/rules/busy/+remove/").status_code == 200


@pytest.mark.parametrize("address", [ADD, "/alerts/rules/busy/+change/", "/alerts/rules/busy/+remove/"])
def test_rules_are_for_administrators(operator, client_of, channels, address):
    assert client_of(operator).get(address).status_code == 403


def test_rules_of_the_file_are_changed_there(ask):
    assert ask.get("/alerts/rules/disk/+change/").status_code == 404
