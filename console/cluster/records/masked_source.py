"""Records as a person may see them: a gateway's, without what the rules of `masking.toml` hide from that person."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from django.conf import settings
from django.contrib.auth.models import User

from console.cluster.records.masking import (
    ANY_TOPIC,
    Masker,
    MaskingError,
    MaskingRule,
    MaskPath,
    hidden_paths,
    parse_masking,
)
from console.cluster.records.metered_source import metered
from console.cluster.records.origins import names_of
from console.cluster.records.reading import RecordSource
from console.cluster.records.scan import note_of, waits_of
from console.kit.access.reach import Reach, Resource
from console.kit.access.rights import Right, reach_of
from console.kit.common.owned_files import FileError, read_private_text
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.errors import RefusedError
from console.kit.gateway.records.interface import BatchView, OffsetSpan, RecordStream, RecordView
from console.state.clusters.models import Topic


def hidden_from(person: User, topic: str) -> tuple[MaskPath, ...]:
    """Raises RefusedError while the rules cannot be read: then nobody reads records."""
    rules = _rules()
    return _hidden(rules, _held(reach_of(person), topic)) if rules else ()


def source_for(person: User, topic: Topic) -> RecordSource:
    """Return the person's source of records of `topic`, within the budget. Raises RefusedError.

    Rules that change while it is read hold for what is read from then on.
    """
    return MaskedSource(metered(cluster_gateway(), person.pk), Masking(topic.name, reach_of(person)))


def hides_of(reach: Reach, topics: Collection[str]) -> bool:
    """Return whether parts of some record of these topics are hidden from who has this reach; without a topic, of any
    there may be. While the rules cannot be read they are.
    """
    try:
        rules = _rules()
    except RefusedError:
        return True
    if rules and topics:
        return any(_hidden(rules, _held(reach, topic)) for topic in topics)
    return any(rule.seen_by is None or not reach.holds_by_role(Resource.TOPIC, rule.seen_by) for rule in rules)


#: The names under which rules are looked for, and the rights that count for each.
_Held = tuple[tuple[str, frozenset[Right]], ...]


def _held(reach: Reach, topic: str) -> _Held:
    """Return hidden parts by the rules of `topic`, and of its origins: a person without a right on either lacks it."""
    rights = reach.rights_on(Resource.TOPIC, topic)
    return tuple((name, rights & _rights_on(reach, name)) for name in names_of(topic))


def _rights_on(reach: Reach, name: str) -> frozenset[Right]:
    """Return the rights on the topic; without a name, on any topic: none where rules remove some."""
    if name == ANY_TOPIC and reach.is_limited(Resource.TOPIC):
        return frozenset()
    return reach.rights_on(Resource.TOPIC, name)


def _hidden(rules: Sequence[MaskingRule], held: _Held) -> tuple[MaskPath, ...]:
    hidden = (hidden_paths(rules, name, rights) for name, rights in held)
    return tuple({path.text: path for paths in hidden for path in paths}.values())


def _rules() -> tuple[MaskingRule, ...]:
    path = settings.MASKING_FILE
    try:
        return parse_masking(read_private_text(path)) if path.exists() else ()
    except (MaskingError, FileError, OSError) as error:
        raise RefusedError(
            "MASKING", f"No record is shown, because the rules of {path.name} cannot be used: {error}"
        ) from None


class Masking:
    """What is hidden of one topic from one person, by the rules as they are now. For one reading at a time.

    Rights and origins are those of the beginning: a thread that reads records asks the database for nothing, and a
    person's socket ends when the rights change.
    """

    def __init__(self, topic: str, reach: Reach):
        self._topic, self._held = topic, _held(reach, topic)
        self._read_of: object = None
        self._masker: Masker | None = None
        self.now()

    def now(self) -> Masker | None:
        """Return the masker in effect; None if nothing is masked.

        Raises RefusedError while the rules are unreadable.
        """
        state = _state_of_rules()
        if state != self._read_of or state == ():
            paths = _hidden(_rules(), self._held)
            self._masker = Masker(self._topic, paths) if paths else None
            self._read_of = state
        return self._masker


def _state_of_rules() -> tuple[int, ...]:
    """Return a value that changes with the rules' file; empty if it cannot be read or there is none."""
    try:
        stat = settings.MASKING_FILE.stat()
    except OSError:
        return ()
    return stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_mode


class MaskedSource:
    def __init__(self, source: RecordSource, masking: Masking):
        self._source, self._masking = source, masking

    def record_spans(self, topic: str, committed_only: bool) -> Mapping[int, OffsetSpan]:
        return self._source.record_spans(topic, committed_only)

    def offsets_at(self, topic: str, at_ms: int, partitions: Iterable[int]) -> Mapping[int, int | None]:
        return self._source.offsets_at(topic, at_ms, partitions)

    def open_records(self, topic: str, starts: Mapping[int, int], committed_only: bool) -> RecordStream:
        return _MaskedStream(self._source.open_records(topic, starts, committed_only), self._masking)

    def batches_at(self, topic: str, starts: Mapping[int, int]) -> list[BatchView]:
        return self._source.batches_at(topic, starts)


class _MaskedStream:
    def __init__(self, stream: RecordStream, masking: Masking):
        self._stream, self._masking = stream, masking

    @property
    def positions(self) -> Mapping[int, int]:
        return self._stream.positions

    @property
    def waits(self) -> str:
        return waits_of(self._stream)

    @property
    def note(self) -> str:
        return note_of(self._stream)

    def read(self, timeout_seconds: float, records_max: int) -> list[RecordView]:
        records = self._stream.read(timeout_seconds, records_max)
        masker = self._masking.now()
        if masker is None:
            return records
        masker.renew()
        return [masker.masked(item) for item in records]

    def drop(self, partition: int) -> None:
        self._stream.drop(partition)

    def close(self) -> None:
        self._stream.close()
