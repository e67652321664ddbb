"""Which records of a topic a search has looked at, which it has not, and where it can be continued. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from console.cluster.records.query import write_cursor
from console.kit.gateway.records.interface import OffsetSpan


@dataclass(frozen=True, slots=True)
class SearchOffer:
    """Where a search can be continued. `is_continued`: what lies behind it was searched. `is_beyond`: outside of the
    range of time that was chosen for it."""

    label: str
    place: str
    cursor: str
    is_continued: bool = False
    is_beyond: bool = False


@dataclass(frozen=True, slots=True)
class SearchedPart:
    """Some partitions of a topic, `name` in words; empty for all of them. `looked_at`: the offsets from `low` to below
    `high` of each partition, of all that there are in `spans`."""

    name: str
    spans: Mapping[int, OffsetSpan]
    low: Mapping[int, int]
    high: Mapping[int, int]

    @property
    def total(self) -> int:
        return sum(span.next - span.first for span in self.spans.values())

    @property
    def looked_at(self) -> int:
        return sum(self.high[partition] - self.low[partition] for partition in self.spans)

    @property
    def older(self) -> int:
        return sum(self.low[partition] - span.first for partition, span in self.spans.items())

    @property
    def newer(self) -> int:
        return sum(span.next - self.high[partition] for partition, span in self.spans.items())


@dataclass(frozen=True, slots=True)
class Coverage:
    """What a search has looked at when it stopped. `read` are records, which are fewer than offsets where a topic is
    compacted or written in transactions. `silent`: partitions without a leader."""

    parts: Sequence[SearchedPart]
    read: int
    hits: int
    is_newest_first: bool
    silent: Sequence[int] = ()
    #: What was searched before, on the other side of where this search began, is neither counted nor offered.
    is_continued: bool = False
    #: Offsets behind the last stable one, of open transactions and what lies behind them (read_committed).
    uncommitted: int = 0
    #: What of each partition is left within the range that was chosen.
    left_in_range: int = 0

    @property
    def summary(self) -> str:
        """One to four sentences: what was searched, with what result, and what was not searched."""
        if not sum(part.total for part in self.parts):
            return " ".join(filter(None, ("There is no record to search.", self._behind_transactions, self._silent)))
        begun = [part for part in self.parts if part.looked_at]
        looked_at = sum(part.looked_at for part in begun)
        unit = "offset" if self.read < looked_at else "record"
        sentences = [f"{self._searched(begun, unit)}: {self._result}."]
        if self.read < looked_at:
            sentences.append(f"They hold {_counted(self.read, 'record')}.")
        sentences += filter(None, (self._not_searched(unit), self._behind_transactions, self._silent))
        return " ".join(sentences)

    @property
    def _result(self) -> str:
        return f"{self.hits:,} found" if self.hits else "not in them"

    def _searched(self, begun: Sequence[SearchedPart], unit: str) -> str:
        if self.is_continued:
            looked_at, total = sum(part.looked_at for part in begun), sum(part.total for part in self.parts)
            return f"Searched {looked_at:,} more of {_counted(total, unit)}"
        return f"Searched {' and '.join(_described(part, unit) for part in begun)}" if begun else f"Searched 0 {unit}s"

    def _not_searched(self, unit: str) -> str:
        older, newer = self._older_and_newer
        if not older and not newer:
            return ""
        left = " and ".join(f"{count:,} {word}" for count, word in ((older, "older"), (newer, "newer")) if count)
        return f"{left} {unit}{'s' * (older + newer != 1)} {'was' if older + newer == 1 else 'were'} not searched."

    @property
    def _older_and_newer(self) -> tuple[int, int]:
        """Offsets on both sides that were not searched."""
        older, newer = sum(part.older for part in self.parts), sum(part.newer for part in self.parts)
        if self.is_continued:
            return (older, 0) if self.is_newest_first else (0, newer)
        return older, newer

    @property
    def _behind_transactions(self) -> str:
        """KIP-98: a consumer that reads committed records ends at the last stable offset."""
        if not self.uncommitted:
            return ""
        were = "was" if self.uncommitted == 1 else "were"
        return (
            f"{_counted(self.uncommitted, 'offset')} from the first open transaction on {were} not searched: "
            "choose read_uncommitted."
        )

    @property
    def _silent(self) -> str:
        if not self.silent:
            return ""
        names = ", ".join(map(str, self.silent))
        return (
            f"Partition {names} has no leader that answers and was not searched."
            if len(self.silent) == 1
            else f"Partitions {names} have no leader that answers and were not searched."
        )

    @property
    def offers(self) -> tuple[SearchOffer, ...]:
        """Links to continue, in the search's direction first. Without a cursor a partition has to be chosen."""
        older, newer = self._older_and_newer
        low = {partition: offset for part in self.parts for partition, offset in part.low.items()}
        high = {partition: offset for part in self.parts for partition, offset in part.high.items()}
        sides = [
            (older, "older records", "newest", write_cursor(low), self.is_newest_first, not newer),
            (newer, "newer records", "oldest", write_cursor(high), not self.is_newest_first, not older),
        ]
        return tuple(
            SearchOffer(
                f"{'Continue search:' if is_onward else 'Search'} {which}",
                place,
                cursor,
                is_onward and is_all_behind,
                not is_onward or not self.left_in_range,
            )
            for count, which, place, cursor, is_onward, is_all_behind in sorted(sides, key=lambda side: not side[4])
            if count
        )


def _described(part: SearchedPart, unit: str) -> str:
    """Return such as `the newest 100 of 1,000 records of partition 1`."""
    total = f"{_counted(part.total, unit)}{f' of {part.name}' if part.name else ''}"
    if part.looked_at == part.total:
        return f"all {total}"
    edge = "the newest " if not part.newer else "the oldest " if not part.older else ""
    return f"{edge}{part.looked_at:,} of {total}"


def _counted(count: int, unit: str) -> str:
    return f"{count:,} {unit}{'s' * (count != 1)}"
