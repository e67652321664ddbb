"""What goes over the websocket of the messages tab: one reading of a search or of the live tail."""

from dataclasses import dataclass
from typing import Protocol

from console.cluster.records.coverage import SearchOffer
from console.cluster.records.scan import ScanProgress
from console.kit.gateway.records.interface import RecordView


@dataclass(frozen=True, slots=True)
class ReadTurn:
    """`records` in the order they are to be shown; with `ended` it was the last. `cursor`: where a tail goes on."""

    records: tuple[RecordView, ...]
    progress: ScanProgress | None = None
    skipped: int = 0
    ended: str = ""
    cursor: str = ""
    note: str = ""
    #: What reading waits for.
    waits: str = ""
    #: Which records a search that ended has looked at, which it has not, and where it can be continued.
    summary: str = ""
    offers: tuple[SearchOffer, ...] = ()


class TurnReader(Protocol):
    """Reads once in each `turn`, and only when the browser has taken what was sent: a slow or paused page reads nothing
    more, and holds no more than the bounded queue of the stream."""

    @property
    def outlook(self) -> str:
        """Say what the reader is about to do and where it ends; empty if that is plain."""
        ...

    @property
    def cursor(self) -> str:
        """Say where a tail has begun, so that one that drops at once resumes there."""
        ...

    def turn(self) -> ReadTurn: ...

    def close(self) -> None: ...
