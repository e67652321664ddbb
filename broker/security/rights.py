"""What who speaks on a connection may do: asked by handlers, by name and before they look whether a thing exists."""

from collections.abc import Set
from typing import Protocol

from broker.security.operations import SUPPORTED, AclOperation, ResourceType, bits


class Rights(Protocol):
    """Rights of one principal from one host. An answer counts for the moment: it is not kept beyond a request."""

    @property
    def untold_writes(self) -> Set[str]:
        """Topics whose writes are known to be allowed and not logged; `may` knows of more."""
        ...

    def may(self, operation: AclOperation, kind: ResourceType, name: str) -> bool:
        """Return whether the operation is allowed on that resource; a denial is told to the authorizer's log."""
        ...

    def sees(self, operation: AclOperation, kind: ResourceType, name: str) -> bool:
        """Return whether an operation is allowed, for a list that leaves out the rest: no attempt, so not logged."""
        ...

    def may_on_any(self, operation: AclOperation, kind: ResourceType) -> bool:
        """Return whether there can be a resource of that type on which the operation is allowed (KIP-679)."""
        ...

    def operations(self, kind: ResourceType, name: str) -> int:
        """Return the bits of all that is allowed on that resource (KIP-430); not logged."""
        ...


class Unlimited:
    """Rights without an authorizer, and of members of the cluster: everything is allowed."""

    untold_writes: Set[str] = frozenset()

    def may(self, _operation: AclOperation, _kind: ResourceType, _name: str) -> bool:
        return True

    sees = may

    def may_on_any(self, _operation: AclOperation, _kind: ResourceType) -> bool:
        return True

    def operations(self, kind: ResourceType, _name: str) -> int:
        return _ALL[kind]


_ALL = {kind: bits(operations) for kind, operations in SUPPORTED.items()}
UNLIMITED = Unlimited()
