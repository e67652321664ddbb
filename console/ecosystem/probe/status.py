"""What the probe tells of itself (`/status`), read field by field. Pure."""

from dataclasses import dataclass
from typing import Any

from console.ecosystem.probe.figures import Tally, checked
from console.kit.common.foreign_json import parse_foreign_json

#: Brokers and partitions that are kept of a minute; the whole is always.
PARTS_MAX = 400
_TEXT_LENGTH_MAX = 300


class UnexpectedStatusError(Exception):
    """What answers is no probe, or one of another age."""


@dataclass(frozen=True, slots=True)
class ProbeStatus:
    """The lists are as `ProbeState` keeps them; `minutes` (begin in ms, part → tally) are over."""

    topic: str
    is_connected: bool
    brokers: list[list[Any]]
    partitions: list[list[Any]]
    troubled: list[list[Any]]
    mirror: list[Any]
    minutes: list[tuple[int, dict[str, Tally]]]


def read_status(body: bytes, now_ms: int) -> ProbeStatus:
    """Raises UnexpectedStatusError."""
    try:
        document = parse_foreign_json(body)
        return ProbeStatus(
            str(document["topic"])[:249],
            bool(document["is_connected"]),
            [_broker(*item) for item in list(document["brokers"].items())[:PARTS_MAX]],
            [_partition(*item) for item in list(document["partitions"].items())[:PARTS_MAX]],
            [_trouble(item, now_ms) for item in document["troubled"][:PARTS_MAX]],
            _mirror(document["mirror"]) if document.get("mirror") else [],
            [(int(begins_ms), _parts(parts)) for begins_ms, parts in document["minutes"]],
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UnexpectedStatusError(f"What answers is no probe: {type(error).__name__}.") from None


def _broker(number: str, document: dict[str, Any]) -> list[Any]:
    blamed = document.get("blamed_at_ms")
    since = None if blamed is None else int(blamed) - int(document["noticed_after_ms"])
    return [
        int(number),
        int(document["leads"]),
        bool(document["registered"]),
        since,
        str(document.get("why", ""))[:_TEXT_LENGTH_MAX],
    ]


def _partition(number: str, document: dict[str, Any]) -> list[Any]:
    return [int(number), int(document["leader"]), [int(replica) for replica in document["replicas"]]]


def _trouble(document: dict[str, Any], now_ms: int) -> list[Any]:
    """Return the troubles; their beginning is rounded, so that it reads the same from look to look."""
    since_ms = (now_ms - int(document["for_ms"])) // 10_000 * 10_000
    return [
        int(document["partition"]),
        since_ms,
        str(document["error"])[:_TEXT_LENGTH_MAX],
        [int(x) for x in document["blamed"]],
    ]


def _mirror(document: dict[str, Any]) -> list[Any]:
    return [int(document["waiting"]), str(document["error"])[:_TEXT_LENGTH_MAX]]


def _parts(document: dict[str, Any]) -> dict[str, Tally]:
    return {str(name)[:40]: checked(tally) for name, tally in list(document.items())[:PARTS_MAX]}
