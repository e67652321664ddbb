"""Structured logs: one line per event, `time level event key=value …`, to standard error.

The words of an event are a short constant ("connection closed"); the facts are keys. kazoo and other libraries log
through the standard library and come out in the same shape.
"""

import logging
import sys

import structlog

_SHARED = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.format_exc_info,
]
_RENDER = structlog.processors.LogfmtRenderer(key_order=["timestamp", "level", "event"], bool_as_flag=False)


def configure_logs(level: str = "INFO", **facts: object) -> None:
    """Send every log line of this process to standard error; `facts` (broker_id=1 …) go onto each line."""
    structlog.configure(
        processors=[structlog.stdlib.filter_by_level, *_SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=_SHARED,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, _one_line, _RENDER],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    logging.getLogger("kazoo").setLevel(logging.WARNING)
    structlog.contextvars.bind_contextvars(**facts)


def _one_line(_logger: object, _method: str, event: dict) -> dict:
    """Logfmt escapes nothing but quotes; a traceback or a peer's text must not break the line."""
    return {key: value.replace("\n", "\\n") if isinstance(value, str) else value for key, value in event.items()}


def logger(name: str) -> structlog.stdlib.BoundLogger:
    return structlog.stdlib.get_logger(name)
