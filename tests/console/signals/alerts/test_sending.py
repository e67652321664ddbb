"""Each kind of channel, through a real server, with names that are markup in each of them."""

import json

import pytest

from console.kit.common import bounded_smtp
from console.signals.alerts.channels import Channel, http_request, mail
from console.signals.alerts.evaluation import AlertEvent
from console.signals.alerts.messages import OBJECTS_TOLD_MAX, MessageObject, message_of
from console.signals.alerts.sending import NotTakenError, send
from tests.console.signals.alerts.receivers import HttpReceiver, SmtpReceiver

EVIL = "a<!channel>&[x](https://evil.example)\r\nBcc: all@corp.example\x1b[2J"


def message(*names: str, event: AlertEvent = AlertEvent.FIRED, is_open: bool = True):
    objects = [
        MessageObject(name, f"Topic {name} is full.", 1_000, "https://console.example/topics/")
        for name in names or (EVIL,)
    ]
    return message_of(
        "full", event, "critical", "c1", 1_700_000_000_000, objects, key="barnabas-c1-full", is_open=is_open
    )


@pytest.fixture
def http():
    with HttpReceiver() as running:
        yield running


def channel(kind: str, http: HttpReceiver, **settings: str) -> Channel:
    return Channel("ops", kind, {"url": http.url + "/in", **settings})


def body_of(http: HttpReceiver) -> dict:
    return json.loads(http.came[-1][3])


def test_a_webhook_gets_all_of_it_and_its_token(http):
    send(channel("webhook", http, token="t0ken"), message())
    method, path, headers, _ = http.came[0]
    assert (method, path, headers["Authorization"]) == ("POST", "/in", "Bearer t0ken")
    document = body_of(http)
    assert (document["version"], document["event"], document["rule"], document["is_open"]) == (1, "fired", "full", True)
    assert document["objects"][0]["object_name"] == EVIL


def test_nobody_is_called_in_a_channel_by_the_name_of_a_topic(http):
    send(channel("slack", http), message())
    assert "<" not in body_of(http)["text"]
    send(channel("teams", http), message())
    assert "[x]" not in json.dumps(body_of(http))


def test_matrix_takes_a_message_once_however_often_it_comes(http):
    for _ in range(2):
        send(channel("matrix", http, room="!a/b:example", token="t"), message())
    assert {(method, path) for method, path, _, _ in http.came} == {
        ("PUT", "/in/_matrix/client/v3/rooms/%21a%2Fb%3Aexample/send/m.room.message/barnabas-c1-full-1700000000000")
    }


def test_an_incident_is_closed_when_nothing_of_the_rule_fires_any_more(http):
    for is_open, action in ((True, "trigger"), (False, "resolve")):
        send(channel("pagerduty", http, routing_key="k"), message(event=AlertEvent.RESOLVED, is_open=is_open))
        assert (body_of(http)["event_action"], body_of(http)["dedup_key"]) == (action, "barnabas-c1-full")
    for is_open, path in (
        (True, "/in/v2/alerts"),
        (False, "/in/v2/alerts/barnabas-c1-full/close?identifierType=alias"),
    ):
        send(channel("opsgenie", http, api_key="k"), message(event=AlertEvent.RESOLVED, is_open=is_open))
        assert http.came[-1][1] == path


def test_a_mail_has_no_header_of_a_topic_s_making():
    with SmtpReceiver() as smtp:
        settings = {
            "to": "ops@corp.example,b@corp.example",
            "from": "b@corp.example",
            "server": smtp.address,
            "tls": "none",
        }
        send(Channel("ops", "mail", settings), message())
        smtp.refuses = True
        with pytest.raises(NotTakenError, match="the mail server answers 550"):
            send(Channel("ops", "mail", settings), message())
    (came,) = smtp.came
    assert came["Bcc"] is None
    assert came["To"] == "ops@corp.example, b@corp.example"
    assert came["Subject"].startswith("[fired] critical: full: a<!channel>")
    assert "\x1b" not in came.get_content()


def mail_channel(smtp: SmtpReceiver) -> Channel:
    settings = {"to": "ops@corp.example", "from": "b@corp.example", "server": smtp.address, "tls": "none"}
    return Channel("ops", "mail", settings)


def test_a_mail_server_that_drips_is_left(monkeypatch):
    monkeypatch.setattr(bounded_smtp, "DEADLINE_S", 0.1)
    with SmtpReceiver() as smtp:
        smtp.pause_s = 0.02
        with pytest.raises(NotTakenError, match="the mail server cannot be used: SMTPServerDisconnected"):
            send(mail_channel(smtp), message())
    assert not smtp.came


def test_a_mail_server_that_never_ends_its_greeting_is_left(monkeypatch):
    monkeypatch.setattr(bounded_smtp, "REPLY_BYTES_MAX", 10_000)
    with SmtpReceiver() as smtp:
        smtp.greeting = "220-hello\r\n" * 2_000 + "220 here"
        with pytest.raises(NotTakenError, match="the mail server cannot be used: SMTPServerDisconnected"):
            send(mail_channel(smtp), message())
    assert not smtp.came


def test_of_thousands_some_are_named_and_all_are_counted():
    result = message(*(f"topic-{number}" for number in range(1_000)))
    assert (len(result.objects), result.more) == (OBJECTS_TOLD_MAX, 1_000 - OBJECTS_TOLD_MAX)
    assert "1000 objects" in result.headline
    assert len(http_request(Channel("ops", "slack", {"url": "https://a"}), result).body) < 5_000
    assert len(mail(Channel("ops", "mail", {"from": "a@b", "to": "c@d"}), result)["Subject"]) <= 150


@pytest.mark.parametrize(("status", "complaint"), [(500, "it answers 500"), (404, "it answers 404")])
def test_who_does_not_take_it_says_so(http, status, complaint):
    http.status = status
    with pytest.raises(NotTakenError, match=complaint):
        send(channel("webhook", http), message())


def test_a_redirect_is_not_followed(http):
    http.status, http.location = 307, f"{http.url}/elsewhere"
    with pytest.raises(NotTakenError, match="a redirect, which is not followed"):
        send(channel("webhook", http, token="t"), message())
    assert [path for _, path, _, _ in http.came] == ["/in"]


def test_an_address_where_nobody_is_is_told_without_itself(http):
    away = Channel("ops", "slack", {"url": "http://127.0.0.1:1/secret-part"})
    with pytest.raises(NotTakenError) as caught:
        send(away, message())
    assert "secret-part" not in str(caught.value)
