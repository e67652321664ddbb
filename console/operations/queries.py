"""Reading operations of every kind."""

from django.apps import apps

from console.operations.models import Operation


def operation_under_way(but: Operation | None = None) -> str:
    """What long change of the cluster's processes goes on, in words, other than `but`; empty: none."""
    for model in apps.get_models():
        if not issubclass(model, Operation):
            continue
        found = next((each for each in model.open_ones() if each != but), None)
        if found is not None:
            return f"{'An' if found.noun[0] in 'aeiou' else 'A'} {found.noun}"
    return ""
