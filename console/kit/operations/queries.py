"""Reading operations of every kind."""

from functools import cache

from django.apps import apps

from console.kit.common.kept_statements import kept_rows
from console.kit.operations.models import Operation


def operation_under_way(but: Operation | None = None) -> str:
    """Return which long change of the processes is running, in words, other than `but`; empty if none."""
    for model in _kinds():
        operation = next((row for row in kept_rows(model.open_ones) if row != but), None)
        if operation is not None:
            return f"{'An' if operation.noun[0] in 'aeiou' else 'A'} {operation.noun}"
    return ""


@cache
def _kinds() -> list[type[Operation]]:
    return [model for model in apps.get_models() if issubclass(model, Operation)]
