"""Leaders shrink and grow their ISRs by themselves and announce it; the controller takes note and tells everybody.

Only UpdateMetadata follows: whoever leads knows already, and nobody's role has changed. A state that is not as it
should be now (a leader counted a broker in that has just died) is corrected like any other.
"""

from broker.controller.context import ControllerContext
from broker.controller.effects import Effect, ReadIsrChanges, RemoveIsrChanges
from broker.controller.events import IsrChangesListed, IsrChangesRead
from broker.controller.request_batch import RequestBatch
from broker.controller.state_changes import correct_states


def isr_changes_listed(_context: ControllerContext, event: IsrChangesListed) -> list[Effect]:
    """Removed when read and told: what is announced survives a controller that fails in between."""
    return [ReadIsrChanges(event.names), RemoveIsrChanges(event.names)] if event.names else []


def isr_changes_read(context: ControllerContext, event: IsrChangesRead) -> list[Effect]:
    changed = [partition for partition, state in sorted(event.states.items()) if _is_news(context, partition, state)]
    for partition in changed:
        context.states[partition] = event.states[partition]
    if not changed:
        return []
    batch = RequestBatch(context)
    batch.add_metadata(changed, context.brokers)
    return [*batch.effects(), *correct_states(context, changed)]


def _is_news(context: ControllerContext, partition, state) -> bool:
    known = context.states.get(partition)
    return context.is_current(partition) and known is not None and state.zk_version > known.zk_version
