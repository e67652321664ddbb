"""Subjects and their contexts: `:.context:subject`, where the default context `.` is left out. Pure."""

from broker.registry.errors import RegistryError

DEFAULT_CONTEXT = "."
#: Configuration and mode of this context count for all contexts that have none of their own.
GLOBAL_CONTEXT = ":.__GLOBAL:"
EVERY_CONTEXT = ":*:"
_RESERVED = ("__GLOBAL", "__EMPTY")
_NAME_LENGTH_MAX = 1_000


def qualified(text: str) -> str:
    """Return the one way in which a subject is written here: `:.:orders` is `orders`."""
    context, name = split(text)
    return join(context, name)


def split(text: str) -> tuple[str, str]:
    """Return context and name, which is empty if a context as a whole is meant."""
    if text.startswith(":."):
        context, colon, name = text[1:].partition(":")
        if colon:
            return context, name
    return DEFAULT_CONTEXT, text


def join(context: str, name: str) -> str:
    return name if context == DEFAULT_CONTEXT else f":{context}:{name}"


def context_named(text: str) -> str:
    """Return the context of a path: `:.x:`, `.x` and `x` are the same."""
    name = text.strip(":")
    return name if name.startswith(".") else f".{name}"


def context_of(subject: str) -> str:
    return split(subject)[0]


def within(context: str, subject: str) -> str:
    """Return the subject with its context; one that names no context belongs to `context`."""
    return qualified(subject) if subject.startswith(":.") else join(context, subject)


def has_prefix(subject: str, prefix: str) -> bool:
    """Return whether `subjectPrefix` means the subject: `:*:x` those of every context, `x` those of the default one."""
    if prefix.startswith(EVERY_CONTEXT):
        return split(subject)[1].startswith(prefix.removeprefix(EVERY_CONTEXT))
    return subject.startswith(prefix) and subject.startswith(":.") == prefix.startswith(":.")


def check_subject(subject: str, *, allows_empty: bool = False) -> None:
    """Raise RegistryError 42208 for what can be no subject's name.

    allows_empty: within a context a subject may have no name, and one may be called `*`.
    """
    context, name = split(subject)
    is_empty = not name or name == "*"
    is_wrong = name in _RESERVED or len(subject) > _NAME_LENGTH_MAX or not subject.isprintable()
    is_refused = is_empty and not (allows_empty and (name or context != DEFAULT_CONTEXT))
    if is_wrong or is_refused or f":{context}:" == GLOBAL_CONTEXT:
        raise RegistryError(42208, f"The specified subject '{subject[:100]}' is not a valid.")
