"""What mirrors have written into their topic of one cluster, as far as it was read. Pure."""

from collections import defaultdict

from broker.common.types import TopicPartition
from broker.mirror.records import (
    HistoryRecord,
    MirrorPosition,
    PositionRecord,
    ProducerRecord,
    SettingsRecord,
    understood,
)
from broker.mirror.runs import Runs


class MirrorState:
    """`apply` each record, in the order of the topic."""

    def __init__(self) -> None:
        self.positions: dict[tuple[str, TopicPartition], MirrorPosition] = {}
        self.producers: dict[int, ProducerRecord] = {}
        self.settings: dict[tuple[str, str], SettingsRecord] = {}
        self._runs: defaultdict[tuple[str, TopicPartition], Runs] = defaultdict(Runs)
        self._history: defaultdict[tuple[str, TopicPartition], dict[str, HistoryRecord]] = defaultdict(dict)

    def runs(self, flow: str, partition: TopicPartition) -> Runs:
        """Return the known runs of a source partition in the target."""
        key = flow, partition
        if key in self._history:
            life = self.positions[key].life if key in self.positions else None
            history = [item for item in self._history.pop(key).values() if item.life in (None, life)]
            before = {run for record in history for run in record.runs}
            self._runs[key] = Runs([*before, *self._runs[key].spread(1 << 30)])
        return self._runs[key]

    def forget_runs(self, flow: str, partition: TopicPartition) -> None:
        """Forget runs whose records no longer exist."""
        self._runs.pop((flow, partition), None)
        self._history.pop((flow, partition), None)

    def apply(self, key: bytes | None, value: bytes | None) -> None:
        match understood(key, value):
            case PositionRecord(flow, partition, position, runs):
                before = self.positions.get((flow, partition))
                if before is not None and before.life is not None and before.life != position.life:
                    self._runs.pop((flow, partition), None)
                self.positions[flow, partition] = position
                for run in runs:
                    newest = self._runs[flow, partition].newest
                    if newest is None or run.target >= newest.target:
                        self._runs[flow, partition].add(run)
            case HistoryRecord() as record:
                self._history[record.flow, record.partition][record.slot] = record
            case SettingsRecord() as record:
                self.settings[record.flow, record.topic] = record
            case ProducerRecord() as record:
                self.producers[record.producer_id] = record
