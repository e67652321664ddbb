"""What the header of the pages of a Kafka user tells of it."""

from urllib.parse import urlencode

from django.urls import reverse

from console.cluster.credentials.models import ScramUser
from console.cluster.quotas.queries import quota_counts
from console.kit.access.reach import Reach
from console.kit.common.figures import grouped
from console.kit.features.headers import HeaderFacts, KeyFigure


def facts(user: ScramUser, _reach: Reach) -> HeaderFacts:
    """Return the facts of a user with a SCRAM credential, as the collector last saw them."""
    mechanisms = ", ".join(mechanism.removeprefix("SCRAM-") for mechanism, _ in user.in_order)
    rules = f"{reverse('acl-rules')}?{urlencode({'principal': f'User:{user.name}'})}"
    quotas = f"{reverse('quotas')}?{urlencode({'search': user.name})}"
    return HeaderFacts(
        name=user.name,
        key=str(user.pk),
        figures=(
            KeyFigure("SCRAM", mechanisms or "none", "scram", "Mechanisms by which the user logs in"),
            KeyFigure("ACL rules", grouped(user.rule_count), "rules", "Rules that name the user", address=rules),
            KeyFigure("Quotas", grouped(quota_counts().get(user.name, 0)), "quotas", address=quotas),
        ),
        main="Change password…",
    )
