"""What one principal may do from one host: asked for each request, so decisions are remembered until rules change."""

from typing import Protocol

from broker.common.security_limits import DECISION_NAME_LENGTH_MAX
from broker.runtime.security.authorizer_log import AuthorizerLog, tells_allowed
from broker.security.operations import SUPPORTED, AclOperation, ResourceType, bits

#: Stands for a resource of any name.
_ANY_NAME = "\0"
#: As Kafka names the resource when it is asked about any (AclAuthorizer.authorizeByResourceType).
_NO_NAME = "NONE"
_WRITES = AclOperation.WRITE, ResourceType.TOPIC


class Decider(Protocol):
    """What decides by the rules."""

    def allows(self, principal: str, host: str, operation: AclOperation, kind: ResourceType, name: str) -> bool: ...

    def allows_on_any(self, principal: str, host: str, operation: AclOperation, kind: ResourceType) -> bool: ...

    def has_remembered(self) -> None:
        """Make room for one more remembered decision."""
        ...


class PrincipalRights:
    """Rights (`broker.security.rights`), shared by all connections of the principal from this host."""

    __slots__ = ("__weakref__", "_decider", "_known", "_log", "host", "principal", "untold_writes")

    def __init__(self, decider: Decider, log: AuthorizerLog, principal: str, host: str):
        """`host` is as `java_host` writes it."""
        self._decider = decider
        self._log = log
        self.principal = principal
        self.host = host
        self._known: dict[tuple[AclOperation, ResourceType, str], bool] = {}
        self.untold_writes: set[str] = set()

    def may(self, operation: AclOperation, kind: ResourceType, name: str) -> bool:
        is_allowed = self._known.get((operation, kind, name))
        if is_allowed is None:
            is_allowed = self._decide(operation, kind, name)
        if not is_allowed:
            self._log.denied(self.principal, self.host, operation, kind, name)
        elif tells_allowed():
            self._log.allowed(self.principal, self.host, operation, kind, name)
        return is_allowed

    def sees(self, operation: AclOperation, kind: ResourceType, name: str) -> bool:
        is_allowed = self._known.get((operation, kind, name))
        return self._decide(operation, kind, name) if is_allowed is None else is_allowed

    def may_on_any(self, operation: AclOperation, kind: ResourceType) -> bool:
        is_allowed = self._known.get((operation, kind, _ANY_NAME))
        if is_allowed is None:
            is_allowed = self._decider.allows_on_any(self.principal, self.host, operation, kind)
            self._remember(operation, kind, _ANY_NAME, is_allowed)
        if not is_allowed:
            self._log.denied(self.principal, self.host, operation, kind, _NO_NAME)
        return is_allowed

    def operations(self, kind: ResourceType, name: str) -> int:
        return bits(operation for operation in SUPPORTED[kind] if self.sees(operation, kind, name))

    def forget(self) -> None:
        """Forget cached rights after the rules, or the logging of decisions, changed."""
        self._known.clear()
        self.untold_writes.clear()

    def _decide(self, operation: AclOperation, kind: ResourceType, name: str) -> bool:
        is_allowed = self._decider.allows(self.principal, self.host, operation, kind, name)
        if len(name) <= DECISION_NAME_LENGTH_MAX and name != _ANY_NAME:
            self._remember(operation, kind, name, is_allowed)
            if is_allowed and (operation, kind) == _WRITES and not tells_allowed():
                self.untold_writes.add(name)
        return is_allowed

    def _remember(self, operation: AclOperation, kind: ResourceType, name: str, is_allowed: bool) -> None:
        self._decider.has_remembered()
        self._known[operation, kind, name] = is_allowed
