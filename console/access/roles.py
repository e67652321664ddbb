"""The three rights and the three roles that give them. Pure."""

from enum import StrEnum


class Right(StrEnum):
    """What a person may do. Each includes the ones before it."""

    VIEW = "view"
    OPERATE = "operate"
    ADMINISTER = "administer"


#: Role (group name) → the rights it gives.
ROLES: dict[str, frozenset[Right]] = {
    "viewer": frozenset({Right.VIEW}),
    "operator": frozenset({Right.VIEW, Right.OPERATE}),
    "admin": frozenset(Right),
}
