"""Whether compaction gets anywhere: a pass that cleaned nothing is not made again before there is more to read.

A pass reads a log whole. One that is made again and again over the same segments takes a core and all the disk gives,
and no other log has its turn; nothing is lost by it, so no other checker sees it.
"""

from broker.log.compaction.log_to_clean import LogToClean
from broker.log.compaction.pass_stats import PassStats
from broker.log.compaction.plan import CompactionPlan
from broker.log.log import Log
from tests.simulation.history import History


class Passes:
    """Told of every pass of every broker."""

    def __init__(self, history: History):
        self._history = history
        #: Of logs as they were opened, how often they were cut by then, and where the pass began and was to end.
        self._in_vain: set[tuple[Log, int, int, int]] = set()

    def cleaned(self, target: LogToClean, plan: CompactionPlan, stats: PassStats | None) -> None:
        """None: it failed."""
        if stats is None or stats.end_offset > plan.first_dirty_offset:
            return
        seen = (target.log, target.cuts_count, plan.first_dirty_offset, plan.end_offset)
        if seen in self._in_vain:
            self._history.violate(
                f"{target.log.directory}: cleaned from {plan.first_dirty_offset} to {plan.end_offset} in vain, again"
            )
        self._in_vain.add(seen)
