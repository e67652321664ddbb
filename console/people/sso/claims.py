"""What a provider's claims say of somebody, once they are known to be its own. Pure.

Who logs in by a directory uses this too, without what checks a token's signature.
"""

from collections.abc import Mapping

from console.people.sso.bounds import GROUPS_TOLD_MAX
from console.people.sso.errors import LoginRefusedError

TOO_MANY_GROUPS = "The provider has too many groups of yours to name them. Tell an administrator."


def claim(claims: Mapping[str, object], name: str) -> object:
    """By its name, which may hold dots, or by its path: `realm_access.roles`."""
    if name in claims or "." not in name:
        return claims.get(name)
    first, _, rest = name.partition(".")
    inner = claims.get(first)
    return claim(inner, rest) if isinstance(inner, Mapping) else None


def groups_in(claims: Mapping[str, object], name: str) -> frozenset[str]:
    """Names of groups. All or none: a group that is left out might be one that takes away.

    Raises LoginRefusedError if the provider tells them elsewhere (distributed claims, as Entra's beyond 200), or too
    many.
    """
    elsewhere = claims.get("_claim_names")
    if isinstance(elsewhere, Mapping) and name in elsewhere:
        raise LoginRefusedError("groups are told elsewhere (distributed claim)", TOO_MANY_GROUPS)
    values = claim(claims, name)
    groups = [values] if isinstance(values, str) else [] if values is None else values
    if not isinstance(groups, list) or not all(isinstance(group, str) for group in groups):
        raise LoginRefusedError(f"the claim {name} is no list of names")
    if len(groups) > GROUPS_TOLD_MAX:
        raise LoginRefusedError(f"{len(groups)} groups", TOO_MANY_GROUPS)
    return frozenset(groups)
