"""What the controller needs for eligible leader replicas (KIP-966): min.insync.replicas, read when it may have changed.

The controller holds no other configuration. One that is outdated here does no harm: a leader commits nothing while the
state of its partition has an ELR, and empties it itself once its ISR has enough members.
"""

from collections.abc import Collection

from broker.common.eligible_leaders import MinIsrSettings
from broker.controller.context import ControllerContext
from broker.controller.effects import ControllerEffect, ReadMinIsr
from broker.controller.events import ConfigChanged, EligibleLeadersChanged, MinIsrRead
from broker.controller.state_changes import correct_states
from broker.controller.unclean_election import unclean_config_changed


def eligible_leaders_changed(context: ControllerContext, event: EligibleLeadersChanged) -> list[ControllerEffect]:
    """Begin to keep eligible leader replicas, or cease to: then an empty ISR is replaced by the candidates."""
    if event.is_enabled == (context.min_isr is not None):
        return []
    context.min_isr = MinIsrSettings() if event.is_enabled else None
    if event.is_enabled:
        return ask_min_isr(context, context.topics)
    return correct_states(context, [partition for partition in context.all_partitions() if partition in context.states])


def ask_min_isr(context: ControllerContext, topics: Collection[str]) -> list[ControllerEffect]:
    """Ask for min.insync.replicas of the topics, and the default, where that counts."""
    return [ReadMinIsr(frozenset(topics))] if context.min_isr is not None else []


def config_changed(context: ControllerContext, event: ConfigChanged) -> list[ControllerEffect]:
    """Handle changed configuration of a topic, or of brokers, which are the defaults of topics."""
    topics = () if event.topic is None else {event.topic} & context.topics.keys()
    return [*unclean_config_changed(context, event), *ask_min_isr(context, topics)]


def min_isr_read(context: ControllerContext, event: MinIsrRead) -> list[ControllerEffect]:
    """Take over what was read."""
    if context.min_isr is not None:
        context.min_isr = context.min_isr.updated(event.min_isr, event.topics)
    return []
