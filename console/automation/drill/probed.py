"""What the probe counted in the minutes of a drill."""

from console.automation.drill.compare import Probed
from console.automation.drill.models import Drill
from console.ecosystem.probe.figures import ProbeFigures, added
from console.ecosystem.probe.models import MINUTE, ProbeWindow

_MINUTE_MS = 60_000
#: Minutes before the fault that it is compared with.
_BEFORE_MS = 10 * _MINUTE_MS


def probed_of(drill: Drill) -> Probed | None:
    """Return the probe's counts during the drill; None if it has none."""
    if drill.fault_ms is None:
        return None
    begins_ms = drill.fault_ms - drill.fault_ms % _MINUTE_MS
    during = _figures(begins_ms, (drill.back_ms or drill.fault_ms) + 1)
    if not during.is_known:
        return None
    before = _figures(begins_ms - _BEFORE_MS, begins_ms)
    return Probed(during.produce_availability, during.consume_availability, during.p99, before.p99)


def _figures(from_ms: int, to_ms: int) -> ProbeFigures:
    rows = ProbeWindow.objects.filter(tier=MINUTE, begins_ms__gte=from_ms, begins_ms__lt=to_ms)
    return ProbeFigures(added(rows.values_list("whole", flat=True)))
