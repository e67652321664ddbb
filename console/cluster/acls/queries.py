"""What pages of access lists are made of: what the cluster says, the names that are known, and what was asked for."""

from collections.abc import Collection
from dataclasses import dataclass

from django.http import QueryDict

from console.cluster.acls.kept import rule_id
from console.cluster.acls.rows import Choice
from console.kit.gateway.acls.interface import ANY_HOST, CLUSTER_NAME, OPERATIONS, AclRule, AclView, java_host
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.errors import GatewayError
from console.state.clusters.models import Topic
from console.state.consumers.models import ConsumerGroup

ROWS_PER_PAGE = 50
RULES_PER_PAGE = 100
#: Offered while somebody types a name.
OFFERED_MAX = 200
TEXT_LENGTH_MAX = 249
ALL_OPERATIONS = ("ALL", *dict.fromkeys(operation for operations in OPERATIONS.values() for operation in operations))


def look() -> AclView:
    """Raises GatewayError."""
    return cluster_gateway().acls.look()


def known_names(view: AclView, resource: str) -> Collection[str]:
    """Return the known names of existing resources of that type."""
    if resource == "TOPIC":
        return list(Topic.objects.values_list("name", flat=True))
    if resource == "GROUP":
        return list(ConsumerGroup.objects.values_list("name", flat=True))
    if resource == "CLUSTER":
        return (CLUSTER_NAME,)
    return known_principals(view) if resource == "USER" else ()


def known_principals(view: AclView) -> Collection[str]:
    """Return users, super users, the console itself and every principal in a rule, except everybody."""
    named = {rule.principal for rule in view.rules if not rule.principal.endswith(":*")}
    own = {view.own_principal} if view.own_principal else set()
    return named | own | set(view.users) | (view.super_users or set())


def seen_principals(view: AclView) -> Collection[str]:
    """Return principals of rules, and those denied something lately."""
    try:
        denials = cluster_gateway().acls.denials() or ()
    except GatewayError:
        denials = ()
    return {*known_principals(view), *(denial.last_principal for denial in denials)}


def parse_choice(parameters: QueryDict) -> Choice:
    """Parse the choice. Anything unknown falls back to the default; a page never fails for it."""
    resource = parameters.get("resource", "TOPIC")
    resource = resource if resource in OPERATIONS else "TOPIC"
    operation = parameters.get("operation", "")
    return Choice(
        resource=resource,
        principal=text_of(parameters, "principal"),
        name=text_of(parameters, "name"),
        operation=operation if operation in OPERATIONS[resource] else "",
        host=java_host(text_of(parameters, "host") or ANY_HOST),
        everything=parameters.get("everything") == "on",
    )


@dataclass(frozen=True, slots=True)
class RuleFilter:
    """Texts are looked for inside of principals and names; other fields empty: whatever it is."""

    principal: str = ""
    name: str = ""
    resource: str = ""
    operation: str = ""
    permission: str = ""

    @classmethod
    def parse(cls, parameters: QueryDict) -> "RuleFilter":
        resource, operation = parameters.get("resource", ""), parameters.get("operation", "")
        permission = parameters.get("permission", "")
        return cls(
            text_of(parameters, "principal"),
            text_of(parameters, "name"),
            resource if resource in OPERATIONS else "",
            operation if operation in ALL_OPERATIONS else "",
            permission if permission in ("ALLOW", "DENY") else "",
        )

    @property
    def is_empty(self) -> bool:
        return self == RuleFilter()

    def chosen(self, rules: Collection[AclRule]) -> list[AclRule]:
        return [rule for rule in rules if self._chooses(rule)]

    def _chooses(self, rule: AclRule) -> bool:
        return (
            self.principal.casefold() in rule.principal.casefold()
            and self.name.casefold() in rule.name.casefold()
            and self.resource in ("", rule.resource)
            and self.operation in ("", rule.operation)
            and self.permission in ("", rule.permission)
        )


def rules_by_id(view: AclView, ids: Collection[str]) -> list[AclRule]:
    """Return the rules of these ids that still exist."""
    wanted = frozenset(ids)
    return [rule for rule in view.rules if rule_id(rule) in wanted]


def text_of(parameters: QueryDict, name: str) -> str:
    return parameters.get(name, "").strip()[:TEXT_LENGTH_MAX]
