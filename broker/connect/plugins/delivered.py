"""What of a batch has arrived, so that it does not go again when the batch comes again. Pure.

Told apart as objects: a transform may give records of two topics one topic, partition and offset.
"""

from collections.abc import Iterable, Sequence

from broker.connect.api import SinkRecord


class Delivered:
    """Remembers delivered messages. Holds a reference to each, so that no other message gets its id meanwhile."""

    def __init__(self) -> None:
        self._records: dict[int, SinkRecord] = {}

    def left(self, records: Sequence[SinkRecord]) -> Sequence[SinkRecord]:
        return [record for record in records if id(record) not in self._records] if self._records else records

    def add(self, records: Iterable[SinkRecord]) -> None:
        self._records |= {id(record): record for record in records}

    def clear(self) -> None:
        self._records.clear()
