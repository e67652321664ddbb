"""`sasl.jaas.config`: one login module with its options, as Java writes it. Pure.

org.apache.kafka.common.security.scram.ScramLoginModule required username="alice" password="it\\"s" tokenauth=true;
"""

import re
from typing import NamedTuple

from broker.client.security.errors import ClientConfigError

#: Java's StreamTokenizer: a quoted text with escapes, or what stands without quotes up to a blank.
_OPTION = re.compile(r'\s+([A-Za-z_][\w.]*)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s";]+))')
_MODULE = re.compile(r"\s*([\w.$]+)\s+(?:required|requisite|sufficient|optional)(?=[\s;])", re.IGNORECASE)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r"}


class LoginModule(NamedTuple):
    """`name` is the class's own, without its package. `options` may hold secrets: never shown."""

    name: str
    options: dict[str, str]

    def __repr__(self) -> str:
        return f"LoginModule({self.name})"


def parse_jaas(text: str) -> LoginModule:
    """Raises ClientConfigError, which repeats nothing of the text."""
    module = _MODULE.match(text)
    if module is None:
        raise _wrong('begin it with a login module and the word "required"')
    options, at = {}, module.end()
    while option := _OPTION.match(text, at):
        name, quoted, bare = option.groups()
        options[name] = bare if quoted is None else _ESCAPE.sub(lambda found: _ESCAPES.get(found[1], found[1]), quoted)
        at = option.end()
    rest = text[at:].strip()
    if rest != ";":
        raise _wrong('there is one login module, its options are name="value", and it ends with a semicolon')
    return LoginModule(module[1].rpartition(".")[2], options)


def _wrong(how: str) -> ClientConfigError:
    return ClientConfigError(f"sasl.jaas.config cannot be read: {how}")
