"""What is told of an error that a plugin raised: a text that can be kept and answered with, whatever it is. Pure.

Half a character, a megabyte, or an error that cannot even say what it is must not hide that something has failed.
"""

import traceback

#: Of a status record. The first error is at its beginning, what it came to at its end.
_HEAD, _TAIL = 24 * 1024, 8 * 1024
_SENTENCE_MAX = 2 * 1024


def trace_of(error: BaseException) -> str:
    text = _writable("".join(traceback.format_exception(error)))
    left_out = len(text) - _HEAD - _TAIL
    return text if left_out <= 0 else f"{text[:_HEAD]}\n… {left_out} characters …\n{text[-_TAIL:]}"


def sentence_of(error: BaseException) -> str:
    """Its kind, and what it says."""
    return f"{type(error).__name__}: {words_of(error)}"


def words_of(error: BaseException) -> str:
    try:
        said = str(error)
    except Exception as other:  # a plugin's code: an error may raise one when it is asked what it is
        said = f"<it cannot say: {type(other).__name__}>"
    return _writable(said[:_SENTENCE_MAX])


def _writable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
