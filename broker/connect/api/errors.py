"""What a plugin raises, and what the worker makes of it."""


class ConnectError(Exception):
    """The task ends: FAILED, with this text as its trace's first line."""


class RetriableError(ConnectError):
    """The same call may succeed later: `poll` is called again, `put` with the same records, the very objects."""


class DataError(ConnectError):
    """This record cannot be converted or transformed; `errors.tolerance` says what becomes of it."""


class RecordError(ConnectError):
    """A sink cannot take this one of the records it was given: the task ends, and names it."""

    def __init__(self, topic: str, partition: int, offset: int, message: str):
        super().__init__(message)
        self.topic, self.partition, self.offset = topic, partition, offset


class ConfigError(ConnectError):
    """A configuration is not valid; `name` is the key at fault."""

    def __init__(self, name: str, message: str):
        super().__init__(message)
        self.name = name
