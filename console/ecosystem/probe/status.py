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
        said = parse_foreign_json(body)
        return ProbeStatus(
            str(said["topic"])[:249],
            bool(said["is_connected"]),
            [_broker(*item) for item in list(said["brokers"].items())[:PARTS_MAX]],
            [_partition(*item) for item in list(said["partitions"].items())[:PARTS_MAX]],
            [_trouble(item, now_ms) for item in said["troubled"][:PARTS_MAX]],
            _mirror(said["mirror"]) if said.get("mirror") else [],
            [(int(begins_ms), _parts(parts)) for begins_ms, parts in said["minutes"]],
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UnexpectedStatusError(f"What answers is no probe: {type(error).__name__}.") from None


def _broker(number: str, said: dict[str, Any]) -> list[Any]:
    blamed = said.get("blamed_at_ms")
    since = None if blamed is None else int(blamed) - int(said["noticed_after_ms"])
    return [
        int(number),
        int(said["leads"]),
        bool(said["registered"]),
        since,
        str(said.get("why", ""))[:_TEXT_LENGTH_MAX],
    ]


def _partition(number: str, said: dict[str, Any]) -> list[Any]:
    return [int(number), int(said["leader"]), [int(replica) for replica in said["replicas"]]]


def _trouble(said: dict[str, Any], now_ms: int) -> list[Any]:
    """Since when is rounded, so that it reads the same from look to look."""
    since_ms = (now_ms - int(said["for_ms"])) // 10_000 * 10_000
    return [int(said["partition"]), since_ms, str(said["error"])[:_TEXT_LENGTH_MAX], [int(x) for x in said["blamed"]]]


def _mirror(said: dict[str, Any]) -> list[Any]:
    return [int(said["waiting"]), str(said["error"])[:_TEXT_LENGTH_MAX]]


def _parts(said: dict[str, Any]) -> dict[str, Tally]:
    return {str(name)[:40]: checked(tally) for name, tally in list(said.items())[:PARTS_MAX]}
