"""Names of Connect in letters that a format takes (scrub.invalid.names). Pure."""

from urllib.parse import quote_plus


def scrubbed_name(name: str) -> str:
    """Return the name as Confluent's AvroConverter scrubs it: encoded as in an address, and `_` for what stays
    invalid.
    """
    return _scrubbed(name, is_prefixed=name[:1].isdigit())


def scrubbed_protobuf_name(name: str) -> str:
    """Return the name as Confluent's ProtobufConverter scrubs it: as in Avro, but it begins with a letter."""
    return _scrubbed(name, is_prefixed=not (name[:1].isascii() and name[:1].isalpha()))


def _scrubbed(name: str, is_prefixed: bool) -> str:
    encoded = f"{'x' if is_prefixed else ''}{quote_plus(name, safe='*')}"
    return "".join(letter if letter.isalnum() else "_" for letter in encoded)
