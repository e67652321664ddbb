"""The name of a group, a subject or a connector in an address: any text, also `/`, `.`, `..` and nothing at all."""

from urllib.parse import quote, unquote

#: No quoted name looks like this: in one a plus is %2B.
_NOTHING = "+nameless"


class AnyNameConverter:
    """Quoted once more than the address itself, so that a slash in the name stays part of it."""

    regex = "[^/]+"

    def to_python(self, value: str) -> str:
        return "" if value == _NOTHING else unquote(value)

    def to_url(self, value: str) -> str:
        if not value:
            return _NOTHING
        # A browser takes . and .. out of an address before it asks.
        return quote(value, safe="") if value.strip(".") else value.replace(".", "%2E")
