"""The file of the rules, read again when it was changed. While it is wrong, what it said last counts."""

from pathlib import Path

from django.conf import settings

from console.kit.common.owned_files import FileError, read_private_text
from console.signals.alerts.rules import AlertRulesError, Ruleset, parse_rules


class RulesFile:
    """Not thread-safe: one thread uses it."""

    def __init__(self, path: Path | None = None):
        self._path = path or settings.ALERTS_FILE
        self._stamp: tuple[int, int, int] | None = None
        self.ruleset = Ruleset()
        #: What is wrong with the file, in a sentence; empty: nothing, or there is none.
        self.error = ""
        self.exists = False

    def read(self) -> Ruleset:
        try:
            status = self._path.stat()
            stamp: tuple[int, int, int] | None = (status.st_mtime_ns, status.st_size, status.st_mode)
        except OSError:
            stamp = None
        if stamp != self._stamp or (stamp is None and self.exists):
            self._stamp = stamp
            self._read_anew(stamp is not None)
        return self.ruleset

    def _read_anew(self, exists: bool) -> None:
        self.exists, self.error = exists, ""
        if not exists:
            self.ruleset = Ruleset()
            return
        try:
            self.ruleset = parse_rules(read_private_text(self._path))
        except (AlertRulesError, FileError) as error:
            self.error = str(error)
