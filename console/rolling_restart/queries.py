"""Finding the restart that is under way."""

from console.rolling_restart.models import RollingRestart


def open_restart() -> RollingRestart | None:
    """The one that is running or paused."""
    return RollingRestart.objects.filter(state__in=("running", "paused")).first()
