"""Access lists of the cluster in memory, which has an authorizer when a test says so."""

from collections.abc import Collection, Mapping
from typing import Protocol

from broker.common.errors import ErrorCode
from broker.security.acls.checks import refusal_of
from broker.security.session import ANONYMOUS
from console.kit.gateway.acls.interface import AclRule, AclView, Denials, binding_of
from console.kit.gateway.errors import refusal


class FakeCluster(Protocol):
    def alive_brokers(self) -> list[int]: ...


class FakeAcls:
    """Tests write what a cluster says of itself; the console reads it back."""

    def __init__(self, cluster: FakeCluster):
        self._cluster = cluster
        self._rules: set[AclRule] = set()
        self.has_authorizer = False
        self.super_users: frozenset[str] | None = frozenset({ANONYMOUS})
        self.allows_if_none: bool | None = False
        self.own_principal = ANONYMOUS
        self.users: tuple[str, ...] = ()
        self.denied: tuple[Denials, ...] | None = ()

    def look(self) -> AclView:
        self._check()
        return AclView(
            tuple(sorted(self._rules)), self.super_users, self.allows_if_none, self.own_principal, self.users
        )

    def create(self, rules: Collection[AclRule]) -> Mapping[AclRule, str]:
        self._check()
        refused = {rule: why for rule in rules if (why := refusal_of(binding_of(rule)))}
        self._rules |= set(rules) - refused.keys()
        return refused

    def delete(self, rules: Collection[AclRule]) -> Mapping[AclRule, str]:
        self._check()
        self._rules -= set(rules)
        return {}

    def denials(self) -> tuple[Denials, ...] | None:
        self._cluster.alive_brokers()
        return self.denied

    def _check(self) -> None:
        self._cluster.alive_brokers()
        if not self.has_authorizer:
            raise refusal(ErrorCode.SECURITY_DISABLED, "No Authorizer is configured on the broker")
