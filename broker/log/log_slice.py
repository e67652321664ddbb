"""What a read of a log answers: where the bytes are, not the bytes.

Whoever sends them may copy them out (`read`, best for small answers) or hand descriptor, position and length to
`os.sendfile`. The slice keeps the descriptor open, so it stays valid when the segment is sealed, renamed or deleted.
"""

from broker.common.errors import ApiError, ErrorCode
from broker.log.files import SharedFile, read_at


class LogSlice:
    """`length` bytes of whole batches at `position` of `file`; `length` is 0 and `file` None when there are none."""

    __slots__ = ("file", "length", "position")

    def __init__(self, file: SharedFile | None, position: int, length: int):
        self.file = file
        self.position = position
        self.length = length

    @property
    def fd(self) -> int:
        """Valid while the slice lives; -1 for an empty slice."""
        return -1 if self.file is None else self.file.fd

    def read(self) -> bytes:
        """Read the whole slice. Raises ApiError(KAFKA_STORAGE_ERROR) if the disk fails."""
        if self.file is None:
            return b""
        try:
            data = read_at(self.file, self.position, self.length)
        except OSError as error:
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, f"the log cannot be read: {error.strerror}") from error
        if len(data) != self.length:
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, f"the log ends {self.length - len(data)} bytes early")
        return data


EMPTY_SLICE = LogSlice(None, 0, 0)
