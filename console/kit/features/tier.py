"""What a feature has the collector do."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CollectorTier:
    """A look of the collector, repeated on a thread of its own: every `interval_s` while a page is open.

    `make` is the dotted name of a function of a `TierContext` that returns a `TierLook`
    (`console/state/consumers/tiers.py`).
    """

    name: str
    interval_s: float
    make: str
