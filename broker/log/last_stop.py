"""How a log was left: by the whole directory's last stop, or by an earlier one since which it was not opened.

A log that a start leaves out of reach is not recovered. When the broker stops the next time, its directory is marked
clean, and the log is as it was: so the first start after a stop that was not clean notes that in the partition's
directory, and the note stays until the log is opened.
"""

from pathlib import Path
from typing import NamedTuple

from broker.log.files import remove_file_durably, replace_file_or_touch

NOT_RECOVERED = "not-recovered"
#: An empty file is all that a full disk takes: it says what makes recovery the most careful.
_AFTER_A_KILL, _AFTER_A_MACHINE_START = b"after a kill\n", b""


class LastStop(NamedTuple):
    """How a log was left; `noted` is what the file says, None without one."""

    is_clean: bool
    lost_page_cache: bool
    noted: bytes | None

    @classmethod
    def of(cls, directory: Path, *, is_clean: bool, lost_page_cache: bool) -> "LastStop":
        """Return how the log in `directory` was left; the arguments tell it of the log directory. Raises OSError."""
        try:
            noted = (directory / NOT_RECOVERED).read_bytes()
        except FileNotFoundError:
            return cls(is_clean, lost_page_cache, noted=None)
        return cls(False, lost_page_cache or noted != _AFTER_A_KILL, noted)

    def with_note(self, directory: Path) -> "LastStop":
        """Return the same with what the file says by now. Raises OSError."""
        return LastStop.of(directory, is_clean=self.is_clean, lost_page_cache=self.lost_page_cache)

    def keep(self, directory: Path) -> None:
        """Note how a log that was not opened was left, if the next clean stop would hide that. Raises OSError."""
        content = _AFTER_A_MACHINE_START if self.lost_page_cache else _AFTER_A_KILL
        if not self.is_clean and content != self.noted:
            replace_file_or_touch(directory / NOT_RECOVERED, content)

    def forget(self, directory: Path) -> None:
        """Forget the note after the log was opened, and recovered if need be. Raises OSError."""
        if self.noted is not None:
            remove_file_durably(directory / NOT_RECOVERED)
