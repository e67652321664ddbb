"""Why bytes and values do not become one another by a schema, in a clause for a person."""


class CodecError(Exception):
    """`str(error)` is the clause."""


class UnusableSchemaError(CodecError):
    """The schema cannot be used."""


class NotDecodedError(CodecError):
    """The bytes are not what the schema says."""


class NotEncodedError(CodecError):
    """What was typed is not what the schema says; the clause begins with the path of the field."""
