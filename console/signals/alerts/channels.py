"""The kinds of channels: what the settings of a channel hold, and the form that it wants a message in. Pure.

Messages hold names from the cluster, which anyone may have chosen: so each form escapes what its receiver interprets.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.message import EmailMessage
from typing import Any, NamedTuple
from urllib.parse import quote

from console.signals.alerts.messages import AlertMessage, one_line, plain_text

_SUBJECT_LENGTH_MAX = 150


@dataclass(frozen=True, slots=True)
class Channel:
    """`settings` hold secrets: they are never shown."""

    name: str
    kind: str
    settings: Mapping[str, str] = field(repr=False)
    #: It was made on a page: TLS only, and to no address of this machine or of a cloud's metadata.
    made_on_page: bool = False

    @property
    def is_mail(self) -> bool:
        return CHANNEL_KINDS[self.kind].request is None


@dataclass(frozen=True, slots=True)
class HttpRequest:
    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes


class ChannelKind(NamedTuple):
    """The settings that a channel needs and those that it may have; `url` is where it is reached if they name none.

    `request` makes the HTTP request of a message by the settings; it is None for mail.
    """

    needs: frozenset[str]
    may_have: frozenset[str]
    request: Callable[[Mapping[str, str], AlertMessage], HttpRequest] | None
    url: str = ""


def http_request(channel: Channel, message: AlertMessage) -> HttpRequest:
    request = CHANNEL_KINDS[channel.kind].request
    assert request is not None
    return request(channel.settings, message)


def mail(channel: Channel, message: AlertMessage) -> EmailMessage:
    email = EmailMessage()
    email["Subject"] = one_line(message.headline)[:_SUBJECT_LENGTH_MAX]
    email["From"], email["To"] = channel.settings["from"], channel.settings["to"]
    email["Message-ID"] = f"<{quote(message.id, safe='')}@barnabas>"
    email["Auto-Submitted"] = "auto-generated"
    email.set_content(plain_text(message))
    return email


def _webhook(settings: Mapping[str, str], message: AlertMessage) -> HttpRequest:
    token = settings.get("token")
    return _request("POST", settings["url"], {"version": 1} | message.as_json(), f"Bearer {token}" if token else "")


def _slack(settings: Mapping[str, str], message: AlertMessage) -> HttpRequest:
    return _request("POST", settings["url"], {"text": _escaped(message)})


def _teams(settings: Mapping[str, str], message: AlertMessage) -> HttpRequest:
    return _request("POST", settings["url"], _card(message))


def _matrix(settings: Mapping[str, str], message: AlertMessage) -> HttpRequest:
    room, transaction = quote(settings["room"], safe=""), quote(message.id, safe="")
    url = f"{settings['url'].rstrip('/')}/_matrix/client/v3/rooms/{room}/send/m.room.message/{transaction}"
    return _request("PUT", url, {"msgtype": "m.text", "body": plain_text(message)}, f"Bearer {settings['token']}")


def _escaped(message: AlertMessage) -> str:
    """Escape Slack's three special letters; a link of ours is not escaped."""
    return plain_text(message).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _card(message: AlertMessage) -> dict[str, Any]:
    lines = [{"type": "TextBlock", "text": _unmarked(line), "wrap": True} for line in message.lines]
    title = {"type": "TextBlock", "text": _unmarked(message.headline), "weight": "Bolder", "wrap": True}
    content = {"type": "AdaptiveCard", "version": "1.4", "body": [title, *lines]}
    return {
        "type": "message",
        "attachments": [{"contentType": "application/vnd.microsoft.card.adaptive", "content": content}],
    }


def _unmarked(text: str) -> str:
    """Remove brackets, which Teams takes for links."""
    return one_line(text).replace("[", "(").replace("]", ")")


def _pagerduty(settings: Mapping[str, str], message: AlertMessage) -> HttpRequest:
    action = "trigger" if message.is_open else "resolve"
    payload = {
        "summary": one_line(message.headline)[:1_024],
        "source": message.cluster or "barnabas",
        "severity": message.severity,
        "custom_details": {"alerts": message.lines},
    }
    event = {
        "routing_key": settings["routing_key"],
        "event_action": action,
        "dedup_key": message.key,
        "payload": payload,
    }
    return _request("POST", f"{settings['url'].rstrip('/')}/v2/enqueue", event)


def _opsgenie(settings: Mapping[str, str], message: AlertMessage) -> HttpRequest:
    base, authorization = f"{settings['url'].rstrip('/')}/v2/alerts", f"GenieKey {settings['api_key']}"
    if not message.is_open:
        url = f"{base}/{quote(message.key, safe='')}/close?identifierType=alias"
        return _request("POST", url, {"source": "barnabas"}, authorization)
    payload = {
        "message": one_line(message.headline)[:130],
        "alias": message.key,
        "description": plain_text(message)[:15_000],
        "priority": "P1" if message.severity == "critical" else "P3",
    }
    return _request("POST", base, payload, authorization)


def _request(method: str, url: str, content: Mapping[str, Any], authorization: str = "") -> HttpRequest:
    headers = {"Content-Type": "application/json"} | ({"Authorization": authorization} if authorization else {})
    return HttpRequest(method, url, headers, json.dumps(content).encode())


CHANNEL_KINDS = {
    "webhook": ChannelKind(frozenset({"url"}), frozenset({"token"}), _webhook),
    "slack": ChannelKind(frozenset({"url"}), frozenset(), _slack),
    "teams": ChannelKind(frozenset({"url"}), frozenset(), _teams),
    "matrix": ChannelKind(frozenset({"url", "room", "token"}), frozenset(), _matrix),
    "pagerduty": ChannelKind(
        frozenset({"routing_key"}), frozenset({"url"}), _pagerduty, url="https://events.pagerduty.com"
    ),
    "opsgenie": ChannelKind(frozenset({"api_key"}), frozenset({"url"}), _opsgenie, url="https://api.opsgenie.com"),
    "mail": ChannelKind(frozenset({"to", "from", "server"}), frozenset({"tls", "user", "password"}), None),
}
