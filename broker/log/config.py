"""What of a topic's configuration a log needs, with Kafka's defaults."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LogConfig:
    """One attribute per topic configuration key, same name."""

    #: segment.bytes: a new segment starts before one grows beyond this. At most what an index entry can point to.
    segment_bytes: int = 1024 * 1024 * 1024
    #: index.interval.bytes: an index entry each time this much log has been written since the last one.
    index_interval_bytes: int = 4096
    #: max.message.bytes: the largest batch `append` takes.
    max_message_bytes: int = 1_048_588

    def __post_init__(self) -> None:
        if not 0 < self.segment_bytes <= 2**31 - 1:
            raise ValueError(f"segment.bytes is {self.segment_bytes}, not from 1 to {2**31 - 1}")
