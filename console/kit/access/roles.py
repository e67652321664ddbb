"""The rights, and the roles that give them. Pure."""

from enum import StrEnum


class Right(StrEnum):
    """What a person may do. Each includes the ones before it."""

    VIEW = "view"
    #: What is in records: keys, values and headers.
    RECORDS = "read"
    OPERATE = "operate"
    #: Who may do what in the cluster itself: its access lists.
    GRANT = "grant"
    ADMINISTER = "administer"


_ORDER = tuple(Right)


def _up_to(right: Right) -> frozenset[Right]:
    return frozenset(_ORDER[: _ORDER.index(right) + 1])


#: Role (group name) → the rights it gives; the weakest first.
ROLES: dict[str, frozenset[Right]] = {
    "viewer": _up_to(Right.VIEW),
    "reader": _up_to(Right.RECORDS),
    "operator": _up_to(Right.OPERATE),
    "admin": _up_to(Right.ADMINISTER),
}
