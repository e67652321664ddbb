"""Structured logs: one line per event, `time level event key=value …`, to standard error.

The words of an event are a short constant ("connection closed"); the facts are keys. kazoo and other libraries log
through the standard library and come out in the same shape.
"""

import logging
import re
import sys
import unicodedata
from collections.abc import Callable, MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import structlog

from broker.common.errors import StartupError
from broker.common.limits import LOGGED_TEXT_LENGTH_MAX, OWN_LOG_BYTES_MAX

if TYPE_CHECKING:
    from structlog.typing import Processor

#: Kafka's names of levels, the most severe first. TRACE tells more than DEBUG if somebody ever does.
LEVELS = {
    "FATAL": logging.CRITICAL,
    "ERROR": logging.ERROR,
    "WARN": logging.WARNING,
    "INFO": logging.INFO,
    "DEBUG": logging.DEBUG,
    "TRACE": 5,
}
ROOT = "root"
_OURS = "broker"
#: Clients that log the address of each request whole, at INFO.
_HTTP_CLIENTS = ("httpx", "httpx2")
_are_configured = False
#: Called after each change of a level while running, for who remembers what is told.
on_levels: list[Callable[[], None]] = []

#: Where structlog puts a traceback, and where we say what a thread is doing.
_TRACEBACKS = ("exception", "stack")

_SHARED: "list[Processor]" = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.format_exc_info,
]
_RENDER = structlog.processors.LogfmtRenderer(key_order=["timestamp", "level", "event"], bool_as_flag=False)
if not structlog.is_configured():
    # Where `rich` is installed, a process that does not configure its logs would have it render tracebacks: with the
    # values of local variables, passwords among them, and in minutes for an error of some megabytes.
    structlog.dev.ConsoleRenderer.get_active().exception_formatter = structlog.dev.plain_traceback


def configure_logs(**facts: object) -> None:
    """Send every log line of this process to standard error; `facts` (broker_id=1 …) go onto each line."""
    structlog.configure(
        processors=[structlog.stdlib.filter_by_level, *_SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_formatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
    for name in ("kazoo", *_HTTP_CLIENTS):
        logging.getLogger(name).setLevel(logging.WARNING)
    for name in _HTTP_CLIENTS:
        logging.getLogger(name).addFilter(_with_origins_alone)
    structlog.contextvars.bind_contextvars(**facts)
    global _are_configured
    _are_configured = True


def _with_origins_alone(record: logging.LogRecord) -> bool:
    """Leave scheme, host and port alone of the addresses in the record, also where its level was set to be told.

    A password, a token in a path or a key in a query is what a configuration keeps in a file, and logs have readers.
    """
    if isinstance(record.args, tuple):
        record.args = tuple(_origin(str(value)) if "://" in str(value) else value for value in record.args)
    return True


def _origin(address: str) -> str:
    scheme, _, rest = address.partition("://")
    return f"{scheme}://{re.split(r'[/?#]', rest, maxsplit=1)[0].rpartition('@')[2]}"


def are_configured() -> bool:
    """Return whether this process writes a log; a command that only prints does not."""
    return _are_configured


def _formatter() -> logging.Formatter:
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=_SHARED,
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, _one_line, _RENDER],
    )


def log_to_own_file(name: str, path: Path) -> Callable[[], None]:
    """Write what this logger tells into a file of its own, in the same shape, until the result is called.

    The file begins anew when it is large, and one from before is kept as `path`.1. StartupError if it cannot be.
    """
    from logging.handlers import RotatingFileHandler

    try:
        handler = RotatingFileHandler(path, maxBytes=OWN_LOG_BYTES_MAX, backupCount=1, encoding="utf-8")
    except OSError as error:
        raise StartupError(f"the log {path} cannot be written: {error.strerror}") from None
    handler.setFormatter(_formatter())
    logger = logging.getLogger(name)
    logger.addHandler(handler)
    logger.propagate = False

    def end() -> None:
        logger.removeHandler(handler)
        logger.propagate = True
        handler.close()

    return end


def _one_line(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Format an event as one line. Logfmt escapes nothing but quotes; a peer's text must neither break the line nor
    control a terminal, nor fill the disk. A traceback is ours, and whole.
    """
    return {key: _plain(value, key in _TRACEBACKS) if isinstance(value, str) else value for key, value in event.items()}


def _plain(text: str, is_whole: bool) -> str:
    if not is_whole and len(text) > LOGGED_TEXT_LENGTH_MAX:
        text = f"{text[:LOGGED_TEXT_LENGTH_MAX]}… ({len(text)} letters)"
    return text if text.isprintable() else "".join(map(_visible, text))


def _visible(letter: str) -> str:
    """Escape a character of Unicode's category C (control, format, surrogates, unassigned) or one that ends a line."""
    category = unicodedata.category(letter)
    is_harmless = category[0] != "C" and category not in ("Zl", "Zp")
    return letter if is_harmless else letter.encode("unicode_escape", "surrogatepass").decode()


def logger(name: str) -> structlog.stdlib.BoundLogger:
    logging.getLogger(name)  # from now on its level can be asked for, and set
    return structlog.stdlib.get_logger(name)


def log_levels() -> dict[str, str]:
    """Return the lowest level each logger of ours writes, by name, with the root logger. Libraries' are not for others
    to change: kazoo would write passwords into the log.
    """
    names = sorted(name for name in logging.root.manager.loggerDict if name.split(".")[0] == _OURS)
    loggers = {ROOT: logging.root} | {name: logging.getLogger(name) for name in names}
    return {name: _level_name(item.getEffectiveLevel()) for name, item in loggers.items()}


def set_log_level(name: str, level: str | None) -> None:
    """Set a logger's level. `name` is one of `log_levels()`, `level` one of LEVELS; None inherits, which root
    cannot.
    """
    logger = logging.root if name == ROOT else logging.getLogger(name)
    logger.setLevel(logging.NOTSET if level is None else LEVELS[level])
    for listener in on_levels:
        listener()


def _level_name(number: int) -> str:
    return next((name for name, least in LEVELS.items() if number >= least), "TRACE")
