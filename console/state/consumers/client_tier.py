"""The collector's tier of client applications: here, because a tier is given what the tiers of groups are given."""

from console.state.client_applications.collect import ClientCollector
from console.state.consumers.tiers import TierContext, TierLook


def tier(context: TierContext) -> TierLook:
    return TierLook(ClientCollector(context.gateway.clients, context.clock_ms).look)
