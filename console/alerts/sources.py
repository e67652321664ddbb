"""Everything that is charted, and may be alerted on, besides what the room of charts sees itself."""

from console.charts.readings import Source
from console.completeness import charted as completeness
from console.connectors import charted as connectors
from console.mirrors import charted as mirrors
from console.streams import charted as streams

SOURCES: tuple[Source, ...] = (
    streams.readings,
    connectors.readings,
    mirrors.readings,
    completeness.readings,
)
