"""When the last record was written to topics that nobody has written to while the collector looked.

Growth between two looks is dated by the look. For topics that hold records and have not grown, brokers are asked once
for the newest time in them, some topics a look.
"""

from collections.abc import Mapping
from dataclasses import replace

from console.kit.gateway.errors import GatewayError
from console.kit.gateway.interface import ClusterGateway
from console.state.clusters.topic_rows import TopicRow

#: Partitions asked for in one look; a topic with more is asked for alone.
PARTITIONS_PER_LOOK = 500


class LastRecords:
    """Used from one thread."""

    def __init__(self, gateway: ClusterGateway):
        self._gateway = gateway
        #: Name and id of topics that were asked for: what has no time is not asked for again.
        self._requested: set[tuple[str, str]] = set()

    def found_for(self, rows: Mapping[str, TopicRow]) -> dict[str, TopicRow]:
        """Return rows that have a time now and had none. A cluster that does not answer is asked at the next look."""
        due = self._due(rows)
        if not due:
            return {}
        try:
            places = [(row.name, partition.partition) for row in due for partition in row.partitions]
            newest = self._gateway.newest_records(places)
        except GatewayError:
            return {}
        latest: dict[str, int] = {}
        for (topic, _), at_ms in newest.items():
            latest[topic] = max(at_ms or 0, latest.get(topic, 0))
        self._requested |= {(row.name, row.topic_id) for row in due if row.name in latest}
        return {row.name: replace(row, last_record_at_ms=latest[row.name]) for row in due if latest.get(row.name)}

    def _due(self, rows: Mapping[str, TopicRow]) -> list[TopicRow]:
        self._requested &= {(row.name, row.topic_id) for row in rows.values()}
        due: list[TopicRow] = []
        count = 0
        for row in rows.values():
            if row.last_record_at_ms or not row.record_count or (row.name, row.topic_id) in self._requested:
                continue
            count += len(row.partitions)
            if due and count > PARTITIONS_PER_LOOK:
                break
            due.append(row)
        return due
