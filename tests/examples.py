"""How much is tried: the gate takes a quarter of the examples, rounds and looks that `make test-all` takes."""

from hypothesis import settings


def is_full() -> bool:
    return settings.get_current_profile_name() == "full"


def examples(full: int) -> int:
    return full if is_full() else max(1, full // 4)
