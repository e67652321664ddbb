"""What a plugin raises, and what the worker makes of it."""


class ConnectError(Exception):
    """The task ends: FAILED, with this text as its trace's first line."""


class RetriableError(ConnectError):
    """The same call may succeed later: `poll` is called again, `put` with the same records."""


class DataError(ConnectError):
    """This record cannot be converted or transformed; `errors.tolerance` says what becomes of it."""


class ConfigError(ConnectError):
    """A configuration is not valid; `name` is the key at fault."""

    def __init__(self, name: str, message: str):
        super().__init__(message)
        self.name = name
