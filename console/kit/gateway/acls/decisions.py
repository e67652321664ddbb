"""What the rules of a cluster come to, decided by the code by which our brokers decide. Pure."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

from broker.security.acls.decision import AccessRules, Why
from broker.security.acls.model import ANYBODY, AclEntry, Pattern
from broker.security.operations import SUPPORTED, AclOperation, ResourceType
from console.kit.gateway.acls.interface import OPERATIONS, AclRule, AclView, binding_of, rule_of


class DecisionCause(StrEnum):
    SUPER_USER = "super user"
    RULE = "rule"
    #: No rule at all is about the resource: allow.everyone.if.no.acl.found decides.
    NO_RULE = "no rule"
    #: There are rules, and none allows it.
    NOT_ALLOWED = "not allowed"


@dataclass(frozen=True, slots=True)
class AclDecision:
    """`is_certain` is False if it depends on what the cluster does not report: super users, the default
    without ACLs.
    """

    operation: str
    is_allowed: bool
    cause: DecisionCause
    rule: AclRule | None = None
    is_certain: bool = True

    @property
    def is_implied(self) -> bool:
        """Allowed because another operation is (Describe by Read, DescribeConfigs by AlterConfigs)."""
        return self.rule is not None and self.rule.operation not in (self.operation, AclOperation.ALL.name)


class AclDecisions:
    """Each is worked out from the rules of its principal and of everybody: however many others have."""

    def __init__(self, view: AclView):
        self._view = view
        self._super_users = view.super_users or frozenset()
        self._by_principal: dict[str, dict[Pattern, list[AclEntry]]] = {}
        everything: dict[Pattern, list[AclEntry]] = {}
        for pattern, entry in map(binding_of, view.rules):
            self._by_principal.setdefault(entry.principal, {}).setdefault(pattern, []).append(entry)
            everything.setdefault(pattern, [entry])
        #: One rule of each pattern: enough to tell whether there is any about a name.
        self._any_rule = AccessRules(everything, allows_if_none=bool(view.allows_if_none))
        self._rules: dict[str, AccessRules] = {}

    def of(self, principal: str, host: str, resource: str, name: str) -> Mapping[str, AclDecision]:
        """Return the decisions by operation, in Kafka's order; `host` is as `java_host` formats it."""
        if principal in self._super_users:
            return {
                operation: AclDecision(operation, True, DecisionCause.SUPER_USER) for operation in OPERATIONS[resource]
            }
        explanations = self._explained(principal, host, ResourceType[resource], name)
        return {operation.name: self._decision(operation.name, why) for operation, why in explanations.items()}

    def allowed(self, principal: str, host: str, resource: str, name: str) -> frozenset[str]:
        """Return the allowed operations without the reasons."""
        if principal in self._super_users:
            return frozenset(OPERATIONS[resource])
        explanations = self._explained(principal, host, ResourceType[resource], name)
        return frozenset(operation.name for operation, why in explanations.items() if why.is_allowed)

    def _explained(self, principal: str, host: str, kind: ResourceType, name: str) -> Mapping[AclOperation, Why]:
        explanations = self._rules_of(principal).explain(principal, host, kind, name, SUPPORTED[kind])
        if any(why.no_rule for why in explanations.values()):
            explanations = self._any_rule.explain(principal, host, kind, name, SUPPORTED[kind])
        return explanations

    def _rules_of(self, principal: str) -> AccessRules:
        rules = self._rules.get(principal)
        if rules is None:
            acl_entries: dict[Pattern, list[AclEntry]] = {}
            for name in {principal, ANYBODY}:
                for pattern, entries in self._by_principal.get(name, {}).items():
                    acl_entries.setdefault(pattern, []).extend(entries)
            rules = self._rules[principal] = AccessRules(acl_entries, allows_if_none=bool(self._view.allows_if_none))
        return rules

    def _decision(self, operation: str, why: Why) -> AclDecision:
        cause = DecisionCause.RULE if why.rule else DecisionCause.NO_RULE if why.no_rule else DecisionCause.NOT_ALLOWED
        is_certain = why.is_allowed or self._view.super_users is not None
        if cause is DecisionCause.NO_RULE and self._view.allows_if_none is None:
            is_certain = False
        return AclDecision(operation, why.is_allowed, cause, rule_of(why.rule) if why.rule else None, is_certain)


def with_changes(view: AclView, added: Collection[AclRule], removed: Collection[AclRule]) -> AclView:
    """Return the same cluster after a change of its rules."""
    rules = (set(view.rules) | set(added)) - set(removed)
    return AclView(
        tuple(sorted(rules)), view.super_users, view.allows_if_none, view.own_principal, view.users, view.unknown_count
    )
