"""UpdateFeatures: levels that may be finalized and those that may not. Nothing is changed: other dialogues go on."""

from random import Random

from tests.reference.subjects.brokers.drawing import mostly, some, step

_LEVELS = {"transaction.version": (0, 1, 2, 3, -1), "group.version": (0, 1, 2, -1), "odd.version": (0, 1, -1)}


def _update(drawn: Random, feature: str) -> dict:
    return {
        "feature": feature,
        "max_version_level": drawn.choice(_LEVELS[feature]),
        "upgrade_type": mostly(drawn, 1, 2, 3, 0, 9, chance=0.6),
    }


def dialogue(drawn: Random) -> list[dict]:
    """Return questions whether features may be changed, from version 1 on, before which there are none."""
    steps = []
    for _ in range(drawn.randint(1, 3)):
        updates = [_update(drawn, feature) for feature in some(drawn, list(_LEVELS), 0, 2)]
        steps.append(
            step(drawn, "UPDATE_FEATURES", since=1, timeout_ms=3000, feature_updates=updates, validate_only=True)
        )
    return steps
