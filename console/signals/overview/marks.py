"""Counts that the sidebar shows behind its entries, of what the overview would call trouble."""

from django.db.models import Q, QuerySet

from console.ecosystem.connectors.access import connectors_within
from console.ecosystem.connectors.models import Connector
from console.kit.access.reach import Reach, Resource
from console.kit.common.clock import now_ms
from console.kit.common.kept_statements import kept_rows
from console.signals.overview.facts import quiet_reasons, troubled_groups
from console.state.clusters.queries import all_brokers


def troubled_group_count(reach: Reach) -> int:
    """Count the groups in trouble, without those that were muted or retired."""
    quiet = {reason.name for reason in quiet_reasons(now_ms(), reach) if reason.about == Resource.GROUP}
    return troubled_groups(reach, quiet)[1]


def failed_connector_count(reach: Reach) -> int:
    return len(kept_rows(_failed_connectors, reach))


def _failed_connectors(reach: Reach) -> QuerySet[Connector]:
    troubled = Q(failed_since_ms__isnull=False) | Q(unassigned_since_ms__isnull=False)
    return connectors_within(reach).filter(troubled).only("pk")


def missing_broker_count(_reach: Reach) -> int:
    """Count the brokers that are not registered; everybody sees brokers."""
    return sum(not broker.is_registered for broker in all_brokers())
