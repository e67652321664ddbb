"""Everything that is charted, and may be alerted on, besides what the room of charts sees itself."""

from console.cluster.charts.readings import Source
from console.ecosystem.completeness import charted as completeness
from console.ecosystem.connectors import charted as connectors
from console.ecosystem.mirrors import charted as mirrors
from console.ecosystem.streams import charted as streams

SOURCES: tuple[Source, ...] = (
    streams.readings,
    connectors.readings,
    mirrors.readings,
    completeness.readings,
)
