"""The message that an alert sends to its channels. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from console.kit.common.stored_fields import from_stored

#: Objects told one by one; the rest are counted.
OBJECTS_TOLD_MAX = 20


@dataclass(frozen=True, slots=True)
class MessageObject:
    """One object of a message."""

    object_name: str
    sentence: str
    since_ms: int
    link: str = ""


@dataclass(frozen=True, slots=True)
class AlertMessage:
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
    objects: tuple[MessageObject, ...]
    more: int = 0
    is_open: bool = True

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> "AlertMessage":
        """Return a message of the outbox; an earlier version stored its objects as `told`."""
        objects = tuple(from_stored(MessageObject, item) for item in stored.get("objects") or stored["told"])
        return from_stored(cls, {**stored, "objects": objects})

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def headline(self) -> str:
        count = len(self.objects) + self.more
        what = self.objects[0].object_name if count == 1 else f"{count} objects"
        return f"[{self.event}] {self.severity}: {self.rule}: {what}"

    @property
    def lines(self) -> list[str]:
        more = [f"and {self.more} more"] if self.more else []
        return [
            f"{item.sentence or item.object_name}{f' {item.link}' if item.link else ''}" for item in self.objects
        ] + more


def message_of(
    rule: str,
    event: str,
    severity: str,
    cluster: str,
    at_ms: int,
    objects: Sequence[MessageObject],
    *,
    key: str,
    is_open: bool,
) -> AlertMessage:
    shown = tuple(objects[:OBJECTS_TOLD_MAX])
    return AlertMessage(
        f"{key}-{at_ms}", key, rule, str(event), severity, cluster, at_ms, shown, len(objects) - len(shown), is_open
    )


def plain_text(message: AlertMessage) -> str:
    where = [f"Cluster {message.cluster}"] if message.cluster else []
    return "\n".join([one_line(message.headline), "", *map(one_line, message.lines), "", *where])


def one_line(text: str) -> str:
    return " ".join("".join(name if name.isprintable() else " " for name in text).split())
