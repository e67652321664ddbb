"""What a provider's claims say of somebody, once they are known to be its own. Pure.

Who logs in by a directory uses this too, without what checks a token's signature.
"""

from collections.abc import Mapping

from console.people.sso.bounds import GROUPS_TOLD_MAX
from console.people.sso.errors import LoginRefusedError

TOO_MANY_GROUPS = "The provider has too many groups of yours to name them. Tell an administrator."


def claim(claims: Mapping[str, object], name: str) -> object:
    """Return the claim of that name or path (`realm_access.roles`), None without one.

    Each name of a path may hold dots (`resource_access.my.app.roles`); the longest that is there is taken first.
    """
    if name in claims:
        return claims[name]
    for at in (at for at in range(len(name) - 1, 0, -1) if name[at] == "."):
        inner = claims.get(name[:at])
        if isinstance(inner, Mapping) and (value := claim(inner, name[at + 1 :])) is not None:
            return value
    return None


def groups_in(claims: Mapping[str, object], name: str) -> frozenset[str]:
    """Return the names of groups, all or none, since a missing group might be one that takes rights away. All or none:
    a group that is left out might be one that takes away.

    Raises LoginRefusedError if the provider tells them elsewhere (distributed claims, as Entra's beyond 200), or too
    many.
    """
    elsewhere = claims.get("_claim_names")
    if isinstance(elsewhere, Mapping) and name in elsewhere:
        raise LoginRefusedError("groups are at another address (distributed claim)", TOO_MANY_GROUPS)
    values = claim(claims, name)
    groups = [values] if isinstance(values, str) else [] if values is None else values
    if not isinstance(groups, list) or not all(isinstance(group, str) for group in groups):
        raise LoginRefusedError(f"the claim {name} is no list of names")
    if len(groups) > GROUPS_TOLD_MAX:
        raise LoginRefusedError(f"{len(groups)} groups", TOO_MANY_GROUPS)
    return frozenset(groups)
