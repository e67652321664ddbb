"""Changing access lists as planned; the rules of before are kept first, so that it can be taken back."""

from django.contrib.auth.models import User

from console.cluster.acls.effects import AclChange
from console.cluster.acls.feature import LIVE_GROUP
from console.cluster.acls.kept import as_values
from console.kit.common.clock import now_ms
from console.kit.gateway.acls.interface import AclGateway, AclRule
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.errors import RefusedError
from console.kit.live.push import push_partial
from console.kit.plans.apply import Refusals, carry_out
from console.kit.plans.inverse import save_inverse
from console.kit.plans.models import KeptInverse
from console.kit.plans.plan import Confirmation, Plan


def do_change_rules(
    actor: User, plan: Plan, change: AclChange, confirmation: Confirmation
) -> tuple[Refusals, KeptInverse | None]:
    """Change ACLs; return what was refused, by rule, and the kept inverse of the rest. Raises NotConfirmedError,
    GatewayError.

    What comes is created before what goes is deleted: nobody is without a right in between who has it in the end.
    """
    kept: list[KeptInverse] = []

    def do() -> Refusals:
        kept.append(save_inverse(actor, plan, as_values(change.inverse)))
        try:
            refused = _carried_out(cluster_gateway().acls, change)
        except RefusedError:
            kept.pop().delete()
            raise
        finally:
            push_partial(LIVE_GROUP, "live/resync.html", {"version": now_ms()})
        if len(refused) == len(change.rules):
            kept.pop().delete()
        return {str(rule): why for rule, why in refused.items()}

    refused = carry_out(actor, plan, confirmation, do)
    return refused, kept[0] if kept else None


def _carried_out(acls: AclGateway, change: AclChange) -> dict[AclRule, str]:
    """Carry out the change of ACLs and return refused rules with the reason. Raises RefusedError if nothing was
    done.
    """
    if not change.added:
        return dict(acls.delete(change.removed))
    refused = dict(acls.create(change.added))
    if refused:
        return refused | dict.fromkeys(change.removed, "It stays: not all that was to come could be created.")
    try:
        return dict(acls.delete(change.removed))
    except RefusedError as error:
        return dict.fromkeys(change.removed, str(error))
