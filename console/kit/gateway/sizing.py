"""The arithmetic of `kafka-plan`, so that the page and the command never come to different numbers."""

from broker.cli.topics.sizing import (
    Demand,
    Place,
    Reason,
    Size,
    bytes_of_text,
    milliseconds_of_text,
    size,
    text_of_bytes,
)

__all__ = ["Demand", "Place", "Reason", "Size", "bytes_of_text", "milliseconds_of_text", "size", "text_of_bytes"]
