"""The lists whose columns, rows and filters a person may keep. Pure.

A column is hidden by its place in the table (`static/css/tables.css`), so rows that are pushed are the same for
everybody; it is kept by its key, so that a release may put a column between.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from console.kit.access.places import Place
from console.kit.access.reach import Resource
from console.kit.access.roles import Right

#: How many rows a page may have; web/watched.py follows more than the most.
ROWS = (25, 50, 100, 200)
VALUE_LENGTH_MAX = 249
#: What an address says besides a list's own filters.
HIDE, COUNT, VIEW = "hide", "rows", "view"


@dataclass(frozen=True, slots=True)
class Table:
    """`columns`: key and title of each, in their order; the first names the row and is always there.

    `order` are parameters that come back with the list, `asked` those that only a view keeps: a list that hides
    what nobody asks for today is a trap. `rows`: how many without a choice; none: the list is not paged.
    """

    place: Place
    columns: tuple[tuple[str, str], ...]
    order: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    rows: int = 0

    @property
    def name(self) -> str:
        return self.place.route

    @property
    def optional(self) -> tuple[tuple[str, str], ...]:
        return self.columns[1:]

    def hidden(self, keys: Iterable[str]) -> tuple[str, ...]:
        """Those of `keys` that are columns which may be hidden, in the table's order."""
        wanted = set(keys)
        return tuple(key for key, _ in self.optional if key in wanted)

    def places_of(self, hidden: Iterable[str]) -> str:
        """As the stylesheet counts: `3 5`."""
        wanted = set(hidden)
        return " ".join(str(number) for number, (key, _) in enumerate(self.columns, 1) if key in wanted)

    def count(self, text: str) -> int:
        """A number of rows that is offered; 0 for anything else."""
        found = int(text) if text.isascii() and text.isdigit() and len(text) < 5 else 0
        return found if self.rows and found in ROWS else 0

    def ordered(self, parameters: Mapping[str, str]) -> dict[str, str]:
        return _said(self.order, parameters)

    def filtered(self, parameters: Mapping[str, str]) -> dict[str, str]:
        """What a view keeps of an address."""
        return _said((*self.order, *self.asked), parameters)


def _said(names: Iterable[str], parameters: Mapping[str, str]) -> dict[str, str]:
    """One address for what reads the same: known names only, nothing empty."""
    found = {name: parameters.get(name, "").strip().replace("\0", "")[:VALUE_LENGTH_MAX] for name in names}
    return {name: value for name, value in found.items() if value}


def _columns(*titles: str) -> tuple[tuple[str, str], ...]:
    return tuple((title.lower().replace(" ", "-").replace("/", "per"), title) for title in titles)


_TABLES = (
    Table(
        Place("Topics", "topics", resource=Resource.TOPIC),
        _columns(
            *("Topic", "State", "Partitions", "Size", "Records", "In / s", "Out / s", "Last record", "Groups", "Lag"),
            "Retention",
        ),
        ("sort", "internal", "applications"),
        ("search",),
        50,
    ),
    Table(
        Place("Consumers", "consumers", resource=Resource.GROUP),
        _columns(
            *("Group", "Verdict", "State", "Members", "Lag", "Behind by", "Trend", "Caught up in", "Expires in"),
        ),
        ("sort", "bad"),
        ("search",),
        50,
    ),
    Table(
        Place("Brokers", "brokers"),
        _columns(
            *("Broker", "State", "Address and rack", "Software", "Leads", "Replicas", "Out of sync", "Size"),
            *("Records / s", "Bytes / s"),
        ),
    ),
    Table(
        Place("Retention", "retention", resource=Resource.TOPIC),
        _columns(
            *("Topic", "Size", "Keeps", "At most", "Oldest record", "Deleted now", "Unread lost", "Looked at"),
        ),
        ("sort", "internal"),
        ("search",),
        50,
    ),
    Table(
        Place("Connectors", "connectors", resource=Resource.PROCESS),
        _columns("Connector", "State", "Tasks", "Lag or rate", "Worker"),
        ("kind", "failed"),
        ("search",),
        50,
    ),
    Table(
        Place("Schemas", "schemas", resource=Resource.TOPIC),
        _columns("Subject", "Type", "Latest", "Id", "Versions", "Compatibility"),
        ("deleted",),
        ("search",),
        25,
    ),
    Table(
        Place("Processes", "processes", resource=Resource.PROCESS),
        _columns("Process", "State", "Port", "Pid", "Up for", "Memory", "CPU"),
    ),
    Table(
        Place("Streams", "streams", resource=Resource.PROCESS),
        _columns("Stream job", "State", "Pace", "Arrives", "Processed", "Lag", "Batch", "Watermark"),
    ),
    Table(
        Place("Audit", "audit", right=Right.ADMINISTER),
        _columns("Row", "Time", "Person", "Action", "Object", "Result", "Values"),
        (),
        ("search", "object", "result", "since", "until"),
    ),
)
TABLES = {each.name: each for each in _TABLES}
