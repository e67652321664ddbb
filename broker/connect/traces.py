"""Texts of errors that a plugin raised: each can be kept and sent whatever the error is, and quotes no secret.

Half a character, a megabyte, or an error whose own text raises must not hide that something has failed. All texts of
errors of connectors and tasks are made here, so that what their references stand for is hidden here (`redacting`).
"""

import traceback

from broker.connect.redaction import PART_LENGTH, hide

#: Of a status record. The first error is at its beginning, what it came to at its end.
_HEAD, _TAIL = 24 * 1024, 8 * 1024
_SENTENCE_MAX = 2 * 1024


def trace_of(error: BaseException) -> str:
    text = _writable("".join(traceback.format_exception(error)))
    left_out = len(text) - _HEAD - _TAIL
    return hide(text) if left_out <= 0 else f"{_head(text, _HEAD)}\n… {left_out} characters …\n{_tail(text, _TAIL)}"


def sentence_of(error: BaseException) -> str:
    """Return the error's type and message."""
    return f"{type(error).__name__}: {error_text(error)}"


def error_text(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception as other:  # a plugin's code: an error may raise one when it is asked what it is
        text = f"<it cannot say: {type(other).__name__}>"
    return _head(_writable(text[: _SENTENCE_MAX + PART_LENGTH]), _SENTENCE_MAX)


def _head(text: str, length: int) -> str:
    """Return the first characters of a text. A value that is cut there is seen whole enough to be hidden."""
    return hide(text[: length + PART_LENGTH])[:length]


def _tail(text: str, length: int) -> str:
    return hide(text[-length - PART_LENGTH :])[-length:]


def _writable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
