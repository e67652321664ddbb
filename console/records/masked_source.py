"""Records as a person may see them: a gateway's, without what the rules of `masking.toml` hide from that person."""

from collections.abc import Collection, Iterable, Mapping

from django.conf import settings
from django.contrib.auth.models import User

from console.access.reach import Reach, Resource
from console.access.rights import reach_of
from console.clusters.models import Topic
from console.common.owned_files import FileError, read_private_text
from console.gateway.connect import cluster_gateway
from console.gateway.errors import RefusedError
from console.gateway.record_views import BatchView, OffsetSpan, RecordStream, RecordView
from console.records.masking import Masker, MaskingError, Path, Rule, hidden_paths, parse_masking
from console.records.metered_source import metered
from console.records.reading import RecordSource
from console.records.scan import note_of, waits_of


def hidden_from(person: User, topic: str) -> tuple[Path, ...]:
    """Raises RefusedError while the rules cannot be read: then nobody reads records."""
    return hidden_paths(_rules(), topic, reach_of(person).rights_on(Resource.TOPIC, topic))


def source_for(person: User, topic: Topic) -> RecordSource:
    """Where the records of `topic` are read from for this person, within the budget. Raises RefusedError."""
    source, paths = metered(cluster_gateway(), person.pk), hidden_from(person, topic.name)
    return MaskedSource(source, Masker(topic.name, paths)) if paths else source


def hides_of(reach: Reach, topics: Collection[str]) -> bool:
    """Whether parts of some record of these topics are hidden from who has this reach; without a topic, of any there
    may be. While the rules cannot be read they are."""
    try:
        rules = _rules()
    except RefusedError:
        return True
    if topics:
        return any(hidden_paths(rules, each, reach.rights_on(Resource.TOPIC, each)) for each in topics)
    return any(each.seen_by is None or not reach.holds_by_role(Resource.TOPIC, each.seen_by) for each in rules)


def _rules() -> tuple[Rule, ...]:
    path = settings.MASKING_FILE
    try:
        return parse_masking(read_private_text(path)) if path.exists() else ()
    except (MaskingError, FileError, OSError) as error:
        raise RefusedError(
            "MASKING", f"No record is shown, because the rules of {path.name} cannot be used: {error}"
        ) from None


class MaskedSource:
    def __init__(self, source: RecordSource, masker: Masker):
        self._source, self._masker = source, masker

    def record_spans(self, topic: str, committed_only: bool) -> Mapping[int, OffsetSpan]:
        return self._source.record_spans(topic, committed_only)

    def offsets_at(self, topic: str, at_ms: int, partitions: Iterable[int]) -> Mapping[int, int | None]:
        return self._source.offsets_at(topic, at_ms, partitions)

    def open_records(self, topic: str, starts: Mapping[int, int], committed_only: bool) -> RecordStream:
        return _MaskedStream(self._source.open_records(topic, starts, committed_only), self._masker)

    def batches_at(self, topic: str, starts: Mapping[int, int]) -> list[BatchView]:
        return self._source.batches_at(topic, starts)


class _MaskedStream:
    def __init__(self, stream: RecordStream, masker: Masker):
        self._stream, self._masker = stream, masker

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
        return [self._masker.masked(each) for each in self._stream.read(timeout_seconds, records_max)]

    def drop(self, partition: int) -> None:
        self._stream.drop(partition)

    def close(self) -> None:
        self._stream.close()
