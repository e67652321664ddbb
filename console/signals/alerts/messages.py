"""A message, and how each kind of channel wants to have it. Pure.

What stands in it comes from the cluster: names of anybody's choice. So each form escapes what it takes for its own.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from email.message import EmailMessage
from typing import Any
from urllib.parse import quote

from console.signals.alerts.evaluation import Event
from console.signals.alerts.rules import Channel

#: Objects told one by one; the rest are counted.
OBJECTS_TOLD_MAX = 20
_SUBJECT_LENGTH_MAX = 150


@dataclass(frozen=True, slots=True)
class Told:
    """One object of a message."""

    object_name: str
    sentence: str
    since_ms: int
    link: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """`key` is the same for everything that is told of a rule, `id` for each try of one message. `is_open`: something
    of the rule fires still.
    """

    id: str
    key: str
    rule: str
    event: str
    severity: str
    cluster: str
    at_ms: int
    told: tuple[Told, ...]
    more: int = 0
    is_open: bool = True

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> "Message":
        return cls(**{**stored, "told": tuple(Told(**each) for each in stored["told"])})

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def headline(self) -> str:
        count = len(self.told) + self.more
        what = self.told[0].object_name if count == 1 else f"{count} objects"
        return f"[{self.event}] {self.severity}: {self.rule}: {what}"

    @property
    def lines(self) -> list[str]:
        more = [f"and {self.more} more"] if self.more else []
        return [
            f"{each.sentence or each.object_name}{f' {each.link}' if each.link else ''}" for each in self.told
        ] + more


@dataclass(frozen=True, slots=True)
class HttpRequest:
    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes


def message_of(
    rule: str, event: Event, severity: str, cluster: str, at_ms: int, told: Sequence[Told], *, key: str, is_open: bool
) -> Message:
    shown = tuple(told[:OBJECTS_TOLD_MAX])
    return Message(
        f"{key}-{at_ms}", key, rule, event.value, severity, cluster, at_ms, shown, len(told) - len(shown), is_open
    )


def http_request(channel: Channel, message: Message) -> HttpRequest:
    settings = channel.settings
    match channel.kind:
        case "slack":
            return _post(settings["url"], {"text": _escaped(message)})
        case "teams":
            return _post(settings["url"], _card(message))
        case "matrix":
            room, transaction = quote(settings["room"], safe=""), quote(message.id, safe="")
            url = f"{settings['url'].rstrip('/')}/_matrix/client/v3/rooms/{room}/send/m.room.message/{transaction}"
            return _request("PUT", url, {"msgtype": "m.text", "body": _plain(message)}, f"Bearer {settings['token']}")
        case "pagerduty":
            return _post(f"{settings['url'].rstrip('/')}/v2/enqueue", _pagerduty(settings["routing_key"], message))
        case "opsgenie":
            return _opsgenie(settings, message)
    token = settings.get("token")
    return _request("POST", settings["url"], {"version": 1} | message.as_json(), f"Bearer {token}" if token else "")


def mail(channel: Channel, message: Message) -> EmailMessage:
    found = EmailMessage()
    found["Subject"] = _one_line(message.headline)[:_SUBJECT_LENGTH_MAX]
    found["From"], found["To"] = channel.settings["from"], channel.settings["to"]
    found["Message-ID"] = f"<{quote(message.id, safe='')}@barnabas>"
    found["Auto-Submitted"] = "auto-generated"
    found.set_content(_plain(message))
    return found


def _plain(message: Message) -> str:
    where = [f"Cluster {message.cluster}"] if message.cluster else []
    return "\n".join([_one_line(message.headline), "", *map(_one_line, message.lines), "", *where])


def _escaped(message: Message) -> str:
    """For Slack, to which these three letters are its own; a link of ours is not one of its."""
    return _plain(message).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _card(message: Message) -> dict[str, Any]:
    lines = [{"type": "TextBlock", "text": _unmarked(each), "wrap": True} for each in message.lines]
    title = {"type": "TextBlock", "text": _unmarked(message.headline), "weight": "Bolder", "wrap": True}
    content = {"type": "AdaptiveCard", "version": "1.4", "body": [title, *lines]}
    return {
        "type": "message",
        "attachments": [{"contentType": "application/vnd.microsoft.card.adaptive", "content": content}],
    }


def _unmarked(text: str) -> str:
    """Teams takes brackets for links."""
    return _one_line(text).replace("[", "(").replace("]", ")")


def _pagerduty(routing_key: str, message: Message) -> dict[str, Any]:
    action = "trigger" if message.is_open else "resolve"
    payload = {
        "summary": _one_line(message.headline)[:1_024],
        "source": message.cluster or "barnabas",
        "severity": message.severity,
        "custom_details": {"alerts": message.lines},
    }
    return {"routing_key": routing_key, "event_action": action, "dedup_key": message.key, "payload": payload}


def _opsgenie(settings: Mapping[str, str], message: Message) -> HttpRequest:
    base, authorization = f"{settings['url'].rstrip('/')}/v2/alerts", f"GenieKey {settings['api_key']}"
    if not message.is_open:
        url = f"{base}/{quote(message.key, safe='')}/close?identifierType=alias"
        return _request("POST", url, {"source": "barnabas"}, authorization)
    said = {
        "message": _one_line(message.headline)[:130],
        "alias": message.key,
        "description": _plain(message)[:15_000],
        "priority": "P1" if message.severity == "critical" else "P3",
    }
    return _request("POST", base, said, authorization)


def _post(url: str, content: Mapping[str, Any]) -> HttpRequest:
    return _request("POST", url, content)


def _request(method: str, url: str, content: Mapping[str, Any], authorization: str = "") -> HttpRequest:
    headers = {"Content-Type": "application/json"} | ({"Authorization": authorization} if authorization else {})
    return HttpRequest(method, url, headers, json.dumps(content).encode())


def _one_line(text: str) -> str:
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())
