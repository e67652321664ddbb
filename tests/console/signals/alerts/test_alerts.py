"""From what is wrong to who hears of it: the collector's looks, the page, and what people do there."""

import pytest

from console.kit.access.reach import EVERYTHING
from console.kit.audit.models import AuditEvent
from console.signals.alerts.collect import AlertWatch
from console.signals.alerts.delivery import GIVEN_UP_AFTER_MS, Deliverer
from console.signals.alerts.models import Alert, Delivery, RuleSilence
from console.signals.alerts.sending import NotTakenError
from console.signals.overview.queries import health_within

MINUTE_MS = 60_000
RULES = """
console = "https://console.example/"
[channels.ops]
kind = "webhook"
url = "https://alerts.example/never-told-4711"
[channels.boss]
kind = "slack"
url = "https://boss.example/"
[rules.lag]
measure = "group.lag"
objects = "readers*"
above = 100
recover = 50
for = "1 min"
channels = ["ops"]
[rules.health]
health = "critical"
channels = ["ops", "boss"]
"""


class Sent(list):
    """Takes what is sent, unless it is to fail."""

    fails = False

    def __call__(self, channel, message) -> None:
        if self.fails:
            raise NotTakenError("it answers 503")
        self.append((channel.name, message.event, message.rule, [item.object_name for item in message.objects]))


@pytest.fixture
def sent() -> Sent:
    return Sent()


@pytest.fixture
def rules(settings):
    def write(text: str = RULES) -> None:
        settings.ALERTS_FILE.write_text(text)
        settings.ALERTS_FILE.chmod(0o600)

    write()
    return write


@pytest.fixture
def look(cluster, collect, clock, rules, sent, transactional_db):
    """A minute passes, everything is looked at, what waits is sent."""
    watch, deliverer = AlertWatch(clock.now_ms), Deliverer(clock.now_ms, send=sent)

    def again(minutes: int = 1) -> None:
        for _ in range(minutes):
            clock.advance(MINUTE_MS)
            collect()
            watch.look()
            deliverer.look()
            deliverer.wait()

    return again


@pytest.fixture
def behind(cluster):
    """A group 200 records behind."""
    cluster.create_topic("orders", 1, 3)
    cluster.append("orders", 0, 200)
    cluster.commit("readers", "orders", 0, 0)
    cluster.commit("others", "orders", 0, 0)


def test_a_group_that_falls_behind_is_told_of_once_and_so_is_its_end(behind, look, sent, cluster):
    look(4)
    assert sent == [("ops", "fired", "lag", ["readers"])]
    (alert,) = Alert.objects.all()
    assert alert.sentence == "Consumer group readers has 200 records not read, above 100."
    cluster.commit("readers", "orders", 0, 120)
    look(2)
    assert len(sent) == 1, "80 are less than 100, and it recovers at 50"
    cluster.commit("readers", "orders", 0, 180)
    look(2)
    assert sent[1:] == [("ops", "resolved", "lag", ["readers"])]
    message = Delivery.objects.first().message
    assert message["objects"][0]["link"] == "https://console.example/consumers/readers/+charts/"


def test_a_critical_reason_of_health_reaches_every_channel(look, sent, cluster, behind):
    cluster.create_topic("alone", 1, 1)
    look()
    sent.clear()
    cluster.stop_broker(1)
    look(2)
    assert {(channel, event, rule) for channel, event, rule, _ in sent} - {("ops", "fired", "lag")} == {
        ("ops", "fired", "health"),
        ("boss", "fired", "health"),
    }


def test_what_nobody_knows_is_neither_an_alert_nor_the_end_of_one(behind, look, sent, cluster, collector, clock):
    look(3)
    watch = AlertWatch(clock.now_ms)
    for _ in range(5):
        clock.advance(MINUTE_MS)
        watch.look()
    assert Alert.objects.get(rule="lag").state == "firing"


def test_a_group_that_is_gone_is_no_alert_any_more(behind, look, sent, cluster):
    look(3)
    cluster.groups.delete_group("readers")
    look(2)
    assert [event for _, event, _, _ in sent] == ["fired", "resolved"]


def test_what_could_not_be_sent_is_sent_later_in_its_order(behind, look, sent, cluster):
    sent.fails = True
    look(3)
    cluster.commit("readers", "orders", 0, 200)
    look(2)
    assert [(delivery.result, delivery.error) for delivery in Delivery.objects.all()][-1] == (
        "waiting",
        "it answers 503",
    )
    sent.fails = False
    look(70)
    assert [event for _, event, _, _ in sent] == ["fired", "resolved"]


def test_what_nobody_takes_for_a_day_is_given_up_and_says_so(behind, look, sent, clock):
    sent.fails = True
    look(3)
    clock.advance(GIVEN_UP_AFTER_MS)
    look()
    assert Delivery.objects.order_by("pk").first().result == "failed"


def test_a_restart_neither_forgets_nor_repeats(behind, look, sent, clock, collect):
    look(3)
    for _ in range(3):
        clock.advance(MINUTE_MS)
        collect()
        AlertWatch(clock.now_ms).look()
    assert Delivery.objects.count() == 1


def test_rules_are_read_again_and_a_wrong_file_leaves_them_as_they_were(
    behind, look, sent, rules, administrator, client_of
):
    rules(RULES + "[rules.broken]\n")
    look(3)
    assert sent == []
    rules(RULES)
    look(3)
    rules("[rules.broken]\nfoo = 1")
    look(2)
    assert [event for _, event, _, _ in sent] == ["fired"]
    assert "rules.broken: foo is no setting" in client_of(administrator).get("/alerts/").content.decode()


def test_a_file_that_others_can_read_is_not_read(rules, settings, administrator, client_of, cluster):
    settings.ALERTS_FILE.chmod(0o644)
    assert "can be read by others; chmod 600 it" in client_of(administrator).get("/alerts/").content.decode()


def test_the_page_names_no_secret_and_the_way_to_begin(rules, settings, administrator, client_of, cluster):
    text = client_of(administrator).get("/alerts/").content.decode()
    assert "group.lag of readers* above 100" in text
    assert "4711" not in text
    settings.ALERTS_FILE.unlink()
    assert "[rules.orders-lag]" in client_of(administrator).get("/alerts/").content.decode()


def test_silence_and_acknowledgement_are_kept_and_audited(behind, look, sent, operator, client_of, clock, monkeypatch):
    for module in ("actions", "views", "queries"):
        monkeypatch.setattr(f"console.signals.alerts.{module}.now_ms", clock.now_ms)
    client = client_of(operator)
    client.post("/alerts/rules/lag/silence", {"hours": "4", "why": "a release"})
    look(5)
    assert sent == []
    assert "a release" in client.get("/alerts/").content.decode()
    client.post("/alerts/rules/lag/silence", {"end": "1"})
    look()
    assert [event for _, event, _, _ in sent] == ["fired"]
    alert = Alert.objects.get()
    client.post(f"/alerts/{alert.pk}/acknowledge", {"hours": "999999"})
    look()
    alert.refresh_from_db()
    assert (alert.acknowledged_by, alert.acknowledged_until_ms) == ("operator", clock.now_ms() - MINUTE_MS + 3_600_000)
    assert RuleSilence.objects.count() == 0
    assert list(AuditEvent.objects.order_by("pk").values_list("action", "object_name")) == [
        ("silence alert rule", "lag"),
        ("end silence of alert rule", "lag"),
        ("acknowledge alert", "lag: readers"),
    ]


def test_a_test_goes_the_way_of_every_message(look, sent, operator, client_of, clock, monkeypatch):
    monkeypatch.setattr("console.signals.alerts.actions.now_ms", clock.now_ms)
    client = client_of(operator)
    for _ in range(5):
        client.post("/alerts/channels/boss/test")
    look()
    assert sent == [("boss", "test", "test", ["boss"])] * 3
    assert client.post("/alerts/channels/nobody/test").status_code == 404
    assert client.post("/alerts/rules/nothing/silence").status_code == 404


def test_who_may_not_see_every_name_sees_no_alert(rules, limited, client_of, cluster):
    assert client_of(limited).get("/alerts/").status_code == 403


def test_a_cluster_that_does_not_answer_is_an_alert_and_ends_none(cluster, collect, collector, look, sent):
    """What was critical before may still be: it is not over by not being read."""
    cluster.create_topic("orders", 1, 1)
    collect()
    cluster.stop_broker(1)
    look(2)
    fired = {alert.object_name for alert in Alert.objects.filter(rule="health")}
    assert fired
    collector.tier_looks["brokers"].failed("No broker answered in time.")
    AlertWatch(collector.clock_ms).look()
    standing = dict(Alert.objects.filter(rule="health").values_list("object_name", "state"))
    assert standing.keys() == fired | {"brokers unreachable"}
    assert [event for _, event, _, _ in sent].count("resolved") == 0


@pytest.mark.parametrize("is_asleep", [False, True], ids=["collector started again", "host slept"])
def test_a_cluster_that_was_not_read_since_the_collector_started_is_no_alert_yet(
    is_asleep, behind, rules, cluster, collect, collector, clock, monkeypatch
):
    monkeypatch.setattr("console.state.clusters.models.now_ms", clock.now_ms)
    collect()
    watch = AlertWatch(clock.now_ms)
    clock.advance(120 * MINUTE_MS)
    watch = watch if is_asleep else AlertWatch(clock.now_ms)
    watch.look()
    collector.beat()
    watch.look()
    assert health_within(EVERYTHING).is_unknown
    assert not Alert.objects.filter(rule="health").exists()
    collect()
    watch.look()
    assert not Alert.objects.filter(rule="health").exists()


def test_a_cluster_that_is_not_read_within_a_minute_of_the_start_is_an_alert(
    behind, rules, cluster, collect, collector, clock, monkeypatch
):
    monkeypatch.setattr("console.state.clusters.models.now_ms", clock.now_ms)
    collect()
    clock.advance(120 * MINUTE_MS)
    watch = AlertWatch(clock.now_ms)
    clock.advance(MINUTE_MS)
    collector.beat()
    watch.look()
    assert [alert.object_name for alert in Alert.objects.filter(rule="health")] == ["brokers unreachable"]
