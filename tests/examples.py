"""How many examples a property is tried on: the gate takes a quarter of what `make test-all` takes."""

from hypothesis import settings


def examples(full: int) -> int:
    return full if settings.get_current_profile_name() == "full" else max(1, full // 4)
