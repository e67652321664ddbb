"""What a tier reports: how far one source has come with one partition, and what it counted since its last report.

An increment is a record of the audit topic. Its key is (tier, source, topic, partition), a *chain*, so that the
increments of a chain lie in one partition in the order they were made; its id is the chain with `epoch` and `sequence`:
an epoch is one life of a source, sequences count up from 0 in each epoch of a chain.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from broker.audit.tally import WINDOW_MS, Tally, Windows
from broker.common.types import TopicPartition

AUDIT_TOPIC = "_barnabas_audit"
NO_RANGE = -1
_FORMAT = 1


class Tier(StrEnum):
    """Where records are counted, in the order they pass."""

    PRODUCED = "produced"  #: acknowledged to a producer that takes part
    APPENDED = "appended"  #: committed in the log of the partition
    CONSUMED = "consumed"  #: returned to a consumer that takes part, which has gone on


class BadIncrement(ValueError):
    """A record of the audit topic that is none of ours; the message says why."""


class Chain(NamedTuple):
    """`source` is the producer's name, the group, or the counter's."""

    tier: Tier
    source: str
    topic: str
    partition: int

    @property
    def topic_partition(self) -> TopicPartition:
        return TopicPartition(self.topic, self.partition)


@dataclass(frozen=True, slots=True)
class Increment:
    """`start` to `end` (exclusive) are the offsets this covers, NO_RANGE at the tier `produced`, which covers none.

    An increment at `start` replaces whatever its chain said before of offsets from `start` on: who was killed before it
    could commit its position counts again from there.
    """

    chain: Chain
    epoch: str
    sequence: int
    at_ms: int  #: when it was made, by the clock of who made it
    windows: Mapping[int, Tally] = field(default_factory=dict)
    start: int = NO_RANGE
    end: int = NO_RANGE
    is_last: bool = False  #: of the epoch: nothing that was counted is left untold
    window_ms: int = WINDOW_MS

    def key(self) -> bytes:
        return json.dumps(self.chain).encode()

    def to_bytes(self) -> bytes:
        body: dict[str, Any] = {name: value for name, value in asdict(self).items() if name not in ("chain", "windows")}
        windows = [[start, *astuple(tally)] for start, tally in sorted(self.windows.items())]
        return json.dumps({"format": _FORMAT, "chain": self.chain, **body, "windows": windows}).encode()

    @classmethod
    def from_bytes(cls, data: bytes | None) -> "Increment":
        """Raises BadIncrement."""
        try:
            body = json.loads(data or b"")
            if body.pop("format") != _FORMAT:
                raise BadIncrement("another format")
            tier, source, topic, partition = body.pop("chain")
            windows: Windows = {start: Tally(*rest) for start, *rest in body.pop("windows")}
            return cls(chain=Chain(Tier(tier), source, topic, int(partition)), windows=windows, **body)
        except BadIncrement:
            raise
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadIncrement(f"no increment: {error}") from error
