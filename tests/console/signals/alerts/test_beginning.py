"""Alerts without a file: a rule by a template, a channel by a form, and what of it no page shows."""

import stat

import pytest

from console.kit.audit.models import AuditEvent
from console.signals.alerts.channel_file import ChannelError, add_channel
from console.signals.alerts.channels import CHANNEL_KINDS
from console.signals.alerts.collect import AlertWatch
from console.signals.alerts.models import Alert, Delivery, KeptRule
from console.signals.alerts.rules import parse_rules
from console.signals.alerts.templates import RULE_TEMPLATES
from console.state.clusters.models import Topic
from tests.console.confirming import digest_in

SECRET = "https://hooks.example/services/secret-part"
CHANNEL = "/alerts/+channel/"


@pytest.fixture
def ask(administrator, client_of):
    return client_of(administrator)


def _form_of(response) -> dict[str, object]:
    return {field.name: field.value() for field in response.context["form"] if field.value() is not None}


def test_an_empty_page_offers_three_templates_and_a_channel(ask):
    text = ask.get("/alerts/").content.decode()
    for template in RULE_TEMPLATES:
        assert f'href="/alerts/+rule/?template={template.name}"' in text
    assert CHANNEL in text
    assert "Add a rule…" in text


def test_who_may_not_make_rules_is_offered_none(operator, client_of):
    text = client_of(operator).get("/alerts/").content.decode()
    assert "/alerts/+rule/" not in text
    assert CHANNEL not in text
    assert client_of(operator).get(CHANNEL).status_code == 403
    assert client_of(operator).post(CHANNEL, {"name": "ops", "url": SECRET}).status_code == 403


@pytest.mark.parametrize("template", RULE_TEMPLATES, ids=lambda template: template.name)
def test_a_template_becomes_a_rule_without_a_file_or_a_channel(template, ask):
    address = f"/alerts/+rule/?template={template.name}"
    form = _form_of(ask.get(address))
    planned = ask.post("/alerts/+rule/", form)
    assert planned.status_code == 200, planned.context["form"].errors
    text = ask.post("/alerts/+rule/", form | {"digest": digest_in(planned)}, follow=True).content.decode()
    assert f"Rule {template.name} is active." in text
    assert "→ this page" in text
    assert KeptRule.objects.get().definition["channels"] == []


def test_a_rule_without_a_channel_fires_on_the_page_and_sends_nothing(ask, collect, cluster, clock, settings):
    form = _form_of(ask.get("/alerts/+rule/?template=lag")) | {
        "about": "topic.records",
        "threshold": "5",
        "recover": "",
        "lasting": "",
    }
    ask.post("/alerts/+rule/", form | {"digest": digest_in(ask.post("/alerts/+rule/", form))})
    cluster.create_topic("orders", 1, 1)
    for _ in range(3):
        cluster.append("orders", 0, 600)
        clock.advance(15_000)
        collect()
    Topic.objects.filter(name="orders").update(records_per_second=40)
    AlertWatch(clock.now_ms).look()
    assert [(alert.rule, alert.state) for alert in Alert.objects.all()] == [("lag", "firing")]
    assert not Delivery.objects.exists()


def test_a_channel_is_added_to_the_file_and_shown_without_its_address(ask, settings):
    response = ask.post(f"{CHANNEL}?kind=slack", {"name": "ops", "url": SECRET}, follow=True)
    assert "Channel ops is active." in response.content.decode()
    assert "secret-part" not in response.content.decode()
    assert stat.S_IMODE(settings.ALERTS_FILE.stat().st_mode) == 0o600
    assert parse_rules(settings.ALERTS_FILE.read_text()).channels["ops"].settings["url"] == SECRET
    event = AuditEvent.objects.get(action="add alert channel")
    assert (event.object_name, event.after) == ("ops", {"kind": "slack"})
    assert "secret-part" not in str(vars(event))


@pytest.mark.parametrize("kind", CHANNEL_KINDS)
def test_the_form_of_every_kind_asks_for_what_the_kind_needs(kind, ask):
    fields = ask.get(f"{CHANNEL}?kind={kind}").context["form"].fields
    assert {key for key, field in fields.items() if field.required} == CHANNEL_KINDS[kind].needs | {"name"}


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        ({"name": "a b", "url": SECRET}, "must be 1 to 60 letters"),
        ({"name": "ops", "url": "http://hooks.example/x"}, "url must be https"),
        ({"name": "ops", "url": "https://u:p@hooks.example/x"}, "url must be https"),
        ({"name": "ops", "url": ""}, "This field is required"),
    ],
)
def test_a_channel_that_cannot_be_is_refused_and_no_file_is_made(form, reason, ask, settings):
    response = ask.post(f"{CHANNEL}?kind=slack", form)
    assert response.status_code == 422
    assert reason in response.content.decode()
    assert "secret-part" not in response.content.decode()
    assert not settings.ALERTS_FILE.exists()
    assert not AuditEvent.objects.filter(action="add alert channel").exists()


@pytest.mark.parametrize("end", ["", "\n"])
def test_the_lines_of_the_file_stay_as_they_are(end, tmp_path):
    path = tmp_path / "alerts.toml"
    text = f'# ours\n[channels.ops]\nkind = "webhook"\nurl = "{SECRET}"{end}'
    path.write_text(text)
    path.chmod(0o600)
    add_channel(path, "b.c", {"kind": "webhook", "url": 'https://hooks.example/"quoted"\\'})
    assert path.read_text().startswith(text)
    channels = parse_rules(path.read_text()).channels
    assert set(channels) == {"ops", "b.c"}
    assert channels["b.c"].settings["url"] == 'https://hooks.example/"quoted"\\'


@pytest.mark.parametrize(
    ("text", "mode", "reason"),
    [
        ("[channels.ops]\nkind = 'webhook'\nurl = 'https://a.example/'\n", 0o600, "There is a channel ops already"),
        ("not toml", 0o600, "It is no TOML"),
        ("", 0o644, "can be read by others"),
    ],
)
def test_a_file_that_is_wrong_or_has_the_name_is_not_touched(text, mode, reason, tmp_path):
    path = tmp_path / "alerts.toml"
    path.write_text(text)
    path.chmod(mode)
    with pytest.raises(ChannelError, match=reason):
        add_channel(path, "ops", {"kind": "webhook", "url": SECRET})
    assert path.read_text() == text


def test_a_file_that_cannot_be_written_is_said_without_the_secret(tmp_path):
    path = tmp_path / "alerts.toml"
    (tmp_path / ".alerts.toml.new").mkdir()
    with pytest.raises(ChannelError, match="cannot be written") as refusal:
        add_channel(path, "ops", {"kind": "webhook", "url": SECRET})
    assert "secret-part" not in str(refusal.value)
    assert not path.exists()
