"""What a feature does for the features below it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hook:
    """A function that a feature below calls without importing this one, by dotted names.

    `point` is a `HookPoint` (`console/kit/common/hook_point.py`), whose type says what the function takes and returns.
    """

    point: str
    function: str
