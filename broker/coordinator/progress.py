"""How far a coordinator's partition is written and committed, as the runtime tells it."""

from dataclasses import dataclass


@dataclass(slots=True)
class LogProgress:
    """End offsets of the log, exclusive. All zero without a log: everything counts as committed."""

    #: Where the log ends with the record that is being replayed.
    written_to: int = 0
    #: The high watermark: nothing before it can be lost.
    committed_to: int = 0
    #: Where the log ended when it had been loaded: before it the last coordinator may have promised anything.
    loaded_to: int = 0

    def is_committed(self, end_offset: int) -> bool:
        return end_offset <= self.committed_to

    @property
    def is_load_committed(self) -> bool:
        return self.loaded_to <= self.committed_to
