"""What a config provider was asked for is shown in no text: where an error quotes it, the reference stands instead.

Whoever may validate a configuration names any reference, and need not be allowed to read what it stands for.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

_REFERENCE = re.compile(r"\$\{[^}]*\}")
#: Shorter values are no secrets, and stand in too many words by chance.
_LENGTH_MIN = 4


class Redaction:
    """The values that the references of one configuration stand for."""

    def __init__(
        self,
        raw: Mapping[str, Any],
        resolved: Mapping[str, Any],
        resolve: Callable[[Mapping[str, str]], dict[str, str]],
    ):
        """raw: the configuration with its references; resolved: without. Raises ConfigError, as `resolve` does."""
        changed = {key: str(text) for key, text in raw.items() if text != resolved.get(key)}
        shown = {
            form: reference
            for key, text in changed.items()
            for value, reference in (
                (str(resolved[key]), text),
                *((resolve({key: each})[key], each) for each in _REFERENCE.findall(text)),
            )
            if value != reference
            for form in _forms(value)
            if len(form) >= _LENGTH_MIN
        }
        #: Longer ones first: one may be part of another.
        self._shown = sorted(shown.items(), key=lambda pair: -len(pair[0]))

    def hide(self, text: str) -> str:
        """Return the text with references in place of values."""
        for value, reference in self._shown:
            text = text.replace(value, reference)
        return text


def _forms(value: str) -> Iterator[str]:
    """How texts quote a value: as it is, without the space around it, as Python writes it, and a list's entries."""
    for form in (value, *value.split(","), *value.splitlines()):
        yield from (form, form.strip(), repr(form.strip())[1:-1])
