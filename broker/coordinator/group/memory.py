"""What the groups of all coordinators of one broker hold in memory, in bytes, as it stands in memory.

A member's metadata outlives its connection, a committed offset outlives its client: neither may fill a broker. What is
counted is what clients decide on (names, metadata, assignments, offsets) with about what Python takes for each besides.
"""

from broker.common.limits import GROUPS_BYTES_MAX

#: A group without members; a member or its place in a record; a member id handed out; a committed offset.
GROUP_BYTES = 2_048
MEMBER_BYTES = 1_024
PENDING_ID_BYTES = 512
OFFSET_BYTES = 256


class GroupMemory:
    """Asked before more is taken."""

    def __init__(self, bytes_max: int = GROUPS_BYTES_MAX):
        self._bytes_max = bytes_max
        self.bytes_held = 0
        self._is_short_told = False

    @property
    def is_short(self) -> bool:
        return self.bytes_held >= self._bytes_max

    def begins_to_be_short(self) -> bool:
        """True once for each time it becomes short: a flood of refusals must not become a flood of lines."""
        is_new = self.is_short and not self._is_short_told
        self._is_short_told = self.is_short
        return is_new

    def account(self) -> "Account":
        return Account(self)


class Account:
    """What one coordinator's groups hold."""

    def __init__(self, memory: GroupMemory):
        self.memory = memory
        self.bytes_held = 0

    def hold(self, byte_count: int) -> None:
        """So many bytes more, or fewer."""
        self.bytes_held += byte_count
        self.memory.bytes_held += byte_count

    def close(self) -> None:
        """The coordinator is gone, loaded or not."""
        self.hold(-self.bytes_held)
