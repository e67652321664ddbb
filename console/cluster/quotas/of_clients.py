"""Which quotas count for clients, for the pages that list clients."""

from collections.abc import Collection, Mapping

from django.urls import reverse
from django.utils.http import urlencode

from console.cluster.quotas.models import QuotaRow
from console.kit.gateway.quotas.interface import QuotaKey, deciding, entity_text, order_for
from console.state.client_applications.client_quota import ClientQuota

_KEYS = (QuotaKey.PRODUCER_BYTE_RATE, QuotaKey.CONSUMER_BYTE_RATE, QuotaKey.REQUEST_PERCENTAGE)


def quotas_of(clients: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], ClientQuota]:
    """Return by (user, client id) the first quota that counts, with the words of its limits; without one, nothing."""
    rows = {row.entity: row for row in QuotaRow.objects.all()}
    quotas = {entity: row.values for entity, row in rows.items()}
    quotas_of = {}
    for user, client_id in clients:
        order = list(order_for(user, client_id))
        entities = (deciding(quotas, key, iter(order)) for key in _KEYS)
        if (entity := next(filter(None, entities), None)) is not None:
            row = rows[entity]
            limits = ", ".join(f"{limit.label}: {limit.text}" for limit in row.limits)
            address = f"{reverse('quotas')}?{urlencode({'search': row.words.rpartition(' ')[2]})}"
            is_held = any(use.client_id in ("", client_id) and use.is_held for use in row.seen)
            quotas_of[user, client_id] = ClientQuota(entity_text(entity), limits, address, is_held)
    return quotas_of
