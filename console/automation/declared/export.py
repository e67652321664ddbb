"""Today's cluster as a file that declares it: applied again it changes nothing."""

from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

import yaml
from django.contrib.auth.models import User
from django.utils import timezone

from console.automation.declared.declaration import name_in_scope
from console.automation.declared.group_parts import may_see
from console.automation.declared.now import ClusterNow, is_kafkas_own
from console.ecosystem.connectors.declarations import declared_secrets
from console.ecosystem.connectors.masking import masked
from console.kit.access.reach import Resource, matches
from console.kit.access.rights import NOT_ALL_NAMES, Right, has_right, reach_of, sees_all_names
from console.kit.gateway.acls.interface import ANY_HOST, AclRule, kafka_name
from console.kit.gateway.errors import GatewayError
from console.kit.gateway.moves.interface import REPLICA_KEYS
from console.kit.gateway.quotas.interface import value_text

#: With what belongs to no file that is written by hand.
_HEAD = """\
# What the cluster was like on {at} UTC, as far as {who} may see it.
# `barnabas diff` compares it, `barnabas apply` makes it so again.
"""
_FIELDS = {"user": "user", "client-id": "client_id", "ip": "ip"}


def export_text(person: User, kinds: Collection[str], names: str) -> str:
    """Return the cluster as YAML. `names`: a pattern of topics, groups, connectors, principals and users.

    Kinds that this person may not see, and those of which nobody tells now, are left out, and a comment says why.
    """
    now, sections, left_out = ClusterNow(), dict[str, object](), list[str]()
    for kind in KINDS:
        if kind not in kinds:
            continue
        try:
            sections[kind] = KINDS[kind](person, now, names)
        except (GatewayError, _NotShownError) as error:
            left_out.append(f"# {kind} are left out: {' '.join(str(error).split())}\n")
    at: datetime = timezone.now().astimezone(UTC)
    head = _HEAD.format(at=f"{at:%Y-%m-%d %H:%M}", who=" ".join(person.get_username().split()))
    document = {kind: item for kind, item in sections.items() if item}
    body = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=1_000) if document else ""
    return head + "".join(left_out) + body


class _NotShownError(Exception):
    """Its text is one sentence for the user."""


def _topics(person: User, now: ClusterNow, names: str) -> Mapping[str, Any]:
    reach = reach_of(person)
    chosen = {
        name: view
        for name, view in now.topics.items()
        if not is_kafkas_own(name, view)
        and matches(names, name)
        and Right.VIEW in reach.rights_on(Resource.TOPIC, name)
    }
    now.ask_settings(list(chosen))
    topics = {}
    for name, view in chosen.items():
        settings = now.settings(name)
        own = {setting.name: setting.value or "" for setting in settings if setting.source == "topic"}
        fields: dict[str, object] = {"partitions": len(view.partitions)}
        factors = {len(partition.replicas) for partition in view.partitions}
        if len(factors) == 1:
            fields["replication_factor"] = factors.pop()
        kept = {key: value for key, value in own.items() if key not in REPLICA_KEYS}
        topics[name] = fields | ({"settings": kept} if kept else {})
    return topics


def _acls(person: User, now: ClusterNow, names: str) -> list[Mapping[str, Any]]:
    _require_all_names(person)
    chosen = [rule for rule in now.rules.rules if matches(names, rule.principal)]
    return [_rule(list(rules)) for _, rules in groupby(sorted(chosen, key=_group_key), key=_group_key)]


def _group_key(rule: AclRule) -> tuple[str, ...]:
    return rule.principal, rule.resource, rule.name, rule.pattern, rule.permission, rule.host


def _rule(rules: list[AclRule]) -> Mapping[str, Any]:
    first = rules[0]
    fields: dict[str, Any] = {"principal": first.principal}
    fields["allow" if first.allows else "deny"] = [kafka_name(rule.operation) for rule in rules]
    fields[first.resource.lower()] = True if first.resource == "CLUSTER" else first.name
    if first.is_prefixed:
        fields["prefixed"] = True
    return fields if first.host == ANY_HOST else fields | {"host": first.host}


def _quotas(person: User, now: ClusterNow, names: str) -> list[Mapping[str, Any]]:
    _require_all_names(person)
    return [
        {_FIELDS[kind]: name for kind, name in entity.parts}
        | {str(key): value_text(key, value) for key, value in values.items()}
        for entity, values in sorted(now.quotas.items(), key=lambda item: item[0].path)
        if matches(names, name_in_scope(entity))
    ]


def _groups(person: User, now: ClusterNow, names: str) -> Mapping[str, Any]:
    """Return the declared groups, by existence only: their offsets are their own."""
    reach = reach_of(person)
    return {name: {} for name, view in sorted(now.groups.items()) if matches(names, name) and may_see(reach, view)}


def _connectors(person: User, now: ClusterNow, names: str) -> Mapping[str, Any]:
    """Return the connectors if the person may see all topics, which configurations name."""
    _require_all_names(person)
    reach = reach_of(person)
    chosen = {
        name: view
        for name, view in now.connectors.items()
        if matches(names, name) and Right.VIEW in reach.rights_on(Resource.PROCESS, name)
    }
    declared = declared_secrets().of(view.class_name for view in chosen.values())
    return {
        name: {"config": {key: value for key, value in _shown(view.config, declared, view.class_name) if key != "name"}}
        for name, view in chosen.items()
    }


def _shown(config: Mapping[str, str], declared: Mapping[str, Any], class_name: str) -> list[tuple[str, str]]:
    return sorted(masked(config, declared.get(class_name, frozenset())).items())


def _require_all_names(person: User) -> None:
    if not sees_all_names(person) or not has_right(person, Right.VIEW):
        raise _NotShownError(NOT_ALL_NAMES)


KINDS: Mapping[str, Callable[[User, ClusterNow, str], Any]] = {
    "topics": _topics,
    "acls": _acls,
    "quotas": _quotas,
    "groups": _groups,
    "connectors": _connectors,
}
