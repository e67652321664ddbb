"""What was last read of a kind, kept across restarts of the collector."""

from collections.abc import Mapping

from console.state.history.configuration import State
from console.state.history.models import Baseline, ChangeKind


def load_baseline(kind: ChangeKind) -> dict[str, dict[str, str]] | None:
    """Return the stored baseline; None if it was never read, so nothing can have changed."""
    row = Baseline.objects.filter(kind=kind).first()
    return None if row is None else dict(row.state)


def save_baseline(kind: ChangeKind, state: State) -> None:
    plain: dict[str, Mapping[str, str]] = {name: dict(values) for name, values in state.items()}
    Baseline.objects.update_or_create(kind=kind, defaults={"state": plain})
