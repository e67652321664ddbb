"""The names of a segment's files: `<base offset, 20 digits>.log` and its indexes, perhaps with a suffix behind.

A suffix says that the file is no part of the log: `.cleaned` is being written by the cleaner, `.swap` is written and
about to take its place, `.deleted` is about to be removed.
"""

from pathlib import Path

LOG_SUFFIX = ".log"
INDEX_SUFFIX = ".index"
TIME_INDEX_SUFFIX = ".timeindex"
TRANSACTION_INDEX_SUFFIX = ".txnindex"
#: The log is last: as long as it has its old name, the segment is where it was.
FILE_SUFFIXES = (INDEX_SUFFIX, TIME_INDEX_SUFFIX, TRANSACTION_INDEX_SUFFIX, LOG_SUFFIX)

CLEANED_SUFFIX = ".cleaned"
SWAP_SUFFIX = ".swap"
DELETED_SUFFIX = ".deleted"


def segment_path(directory: Path, base_offset: int, suffix: str) -> Path:
    return directory / f"{base_offset:020d}{suffix}"


class SegmentFiles:
    """Where the files of one segment are now."""

    __slots__ = ("_base_offset", "_suffix", "directory")

    def __init__(self, directory: Path, base_offset: int, suffix: str = ""):
        self.directory = directory
        self._base_offset = base_offset
        self._suffix = suffix

    @property
    def log(self) -> Path:
        return self._path(LOG_SUFFIX)

    @property
    def index(self) -> Path:
        return self._path(INDEX_SUFFIX)

    @property
    def time_index(self) -> Path:
        return self._path(TIME_INDEX_SUFFIX)

    @property
    def transaction_index(self) -> Path:
        """The transaction index file; it exists only if the segment has the marker of an aborted transaction."""
        return self._path(TRANSACTION_INDEX_SUFFIX)

    def _path(self, file_suffix: str) -> Path:
        return segment_path(self.directory, self._base_offset, file_suffix + self._suffix)

    def rename(self, suffix: str) -> None:
        """Put another suffix behind the names. Raises OSError if the log cannot be renamed.

        Not made durable: whoever renames several segments calls `fsync_directory` once.
        """
        for file_suffix in FILE_SUFFIXES:
            renamed = segment_path(self.directory, self._base_offset, file_suffix + suffix)
            try:
                self._path(file_suffix).replace(renamed)
            except FileNotFoundError:
                if file_suffix == LOG_SUFFIX:
                    raise
        self._suffix = suffix

    def move(self, directory: Path) -> None:
        """Put the files into another directory of the same file system. Raises OSError if the log cannot be moved.

        Not made durable.
        """
        for file_suffix in FILE_SUFFIXES:
            path = self._path(file_suffix)
            try:
                path.replace(directory / path.name)
            except FileNotFoundError:
                if file_suffix == LOG_SUFFIX:
                    raise
        self.directory = directory

    def remove(self) -> None:
        """Free the disk; already gone is fine. Raises OSError."""
        for file_suffix in FILE_SUFFIXES:
            self._path(file_suffix).unlink(missing_ok=True)
