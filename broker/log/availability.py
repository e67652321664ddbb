"""Whether a log may be read and written, and the listeners for a broken disk.

A disk that is full refuses one write and takes the next when there is room; `on_disk_full` hears of each. Failures of
another kind are told to `on_disk_error`, whose owner takes the whole directory offline.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from broker.common.errors import ApiError, ErrorCode
from broker.log.files import is_full, lacks_room

_CLOSED = "the log is closed"
_LENT = "the log is being cut"


class LogAvailability:
    """Log availability of one log; its owner changes it, worker threads look and report."""

    __slots__ = ("on_disk_error", "on_disk_full", "read_refusal", "refusal")

    def __init__(self) -> None:
        #: Told of failures of the disk that are not for want of space; perhaps on a worker thread.
        self.on_disk_error: Callable[[OSError], None] = lambda error: None
        #: Called for each write that was refused because the disk or a quota is full; perhaps on a worker thread.
        self.on_disk_full: Callable[[], None] = lambda: None
        #: Why nothing may be written, or not even read, any more; None while all is well.
        self.refusal: str | None = None
        self.read_refusal: str | None = None

    def refuse_if_offline(self) -> None:
        if self.read_refusal is not None:
            raise _storage_error(self.read_refusal)

    def refuse_if_unwritable(self) -> None:
        if self.refusal is not None:
            raise _storage_error(self.refusal)

    @property
    def is_lent(self) -> bool:
        return self.read_refusal is _LENT

    @property
    def is_closed(self) -> bool:
        """Whether the owner closed the log, which is no failure."""
        return self.refusal is _CLOSED

    def lend(self) -> None:
        self.refusal = self.read_refusal = _LENT

    def take_back(self) -> None:
        """Return the log to its owner; a failure meanwhile stays."""
        if self.refusal is _LENT:
            self.refusal = None
        if self.read_refusal is _LENT:
            self.read_refusal = None

    def fail(self, reason: str) -> None:
        """Refuse everything with `reason` from now on."""
        self.refusal = self.read_refusal = reason

    def close(self) -> None:
        self.fail(_CLOSED)

    @contextmanager
    def closing(self) -> Iterator[None]:
        """Refuse everything as a closed log does, whose files may have other names; if what is inside raises, all is as
        it was.
        """
        before = self.refusal, self.read_refusal
        self.close()
        try:
            yield
        except BaseException:
            if self.is_closed:
                self.refusal, self.read_refusal = before
            raise

    # --- what the disk says

    def refused(self, error: OSError, reason: str) -> ApiError:
        """Return the error of an operation that changed nothing."""
        self.report(error)
        return _storage_error(reason)

    def unreadable(self, error: OSError) -> ApiError:
        return self.refused(error, f"the log cannot be read: {error.strerror}")

    def broken_for_writing(self, error: OSError, reason: str) -> ApiError:
        """Return the error, and allow only reads from now on, for `reason`."""
        self.refusal = reason
        self.report_broken(error)
        return _storage_error(reason)

    def broken(self, error: OSError, reason: str) -> ApiError:
        """Return the error, and refuse everything: the log's state is unknown."""
        self.report_broken(error)
        self.fail(reason)
        return _storage_error(reason)

    def report(self, error: OSError) -> None:
        if lacks_room(error):
            self.on_disk_full()
        elif not is_full(error):
            self.report_broken(error)

    def report_broken(self, error: OSError) -> None:
        """Report a broken segment, unless its file is gone because the log was closed or moved."""
        if self.read_refusal is None or self.is_lent:
            self.on_disk_error(error)


def _storage_error(reason: str) -> ApiError:
    return ApiError(ErrorCode.KAFKA_STORAGE_ERROR, reason)
