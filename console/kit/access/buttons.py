"""What a pushed row with buttons needs to know about the people who see it."""

from console.kit.access.reach import Reach, Resource
from console.kit.access.read_only import why_read_only
from console.kit.access.rights import CLUSTER, Right


def buttons_for(reach: Reach) -> dict[str, object]:
    """Return the variables by which a template offers changes, as `access/context.py` has them for a page."""
    held, read_only = reach.rights_on(Resource.CLUSTER, CLUSTER), why_read_only()
    return {
        "can_operate": Right.OPERATE in held and not read_only,
        "can_administer": Right.ADMINISTER in held,
        "read_only": read_only,
    }
