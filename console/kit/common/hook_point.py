"""What a feature asks of the features above it, without importing them: a hook point, and the hooks declared for it."""

from collections.abc import Iterator
from typing import Generic, TypeVar

from django.conf import settings
from django.utils.module_loading import import_string

H = TypeVar("H")


class HookPoint(Generic[H]):
    """Iterate over the functions that features declare as a `Hook` of the point, in the order of the features.

    `name` is the point's own dotted name. A function is imported when the point is first used, not when Django starts.
    """

    def __init__(self, name: str):
        self.name = name

    def __iter__(self) -> Iterator[H]:
        """Raises ImportError for a function that does not exist: a rule that hides something is never left out."""
        return (import_string(function) for function in settings.HOOKS.get(self.name, ()))
