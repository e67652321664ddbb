"""What a browser would send back to confirm the plan it was shown."""

from console.kit.plans.digest import digest_of
from console.kit.plans.plan import Confirmation


def digest_in(response) -> str:
    """Of the page's plan, for who asked for it; also where there is no button: it may be sent anyway."""
    return digest_of(response.context["plan"], response.context["user"])


def confirmation_of(plan, actor) -> Confirmation:
    return Confirmation(digest_of(plan, actor), plan.typed_name)
