"""Rules as JSON: what takes a change back, and what a form sends to make a plan anew. Pure."""

import hashlib
import json
from dataclasses import astuple, fields

from console.cluster.acls.effects import AclChange
from console.kit.gateway.acls.interface import AclRule, binding_of

_FIELDS = len(fields(AclRule))


def rule_id(rule: AclRule) -> str:
    """Return a rule's short id for an address that names a hundred; it is resolved among the existing rules."""
    return hashlib.sha256("\0".join(astuple(rule)).encode(errors="surrogatepass")).hexdigest()[:16]


def as_values(change: AclChange) -> dict[str, list[tuple[str, ...]]]:
    return {"added": [astuple(item) for item in change.added], "removed": [astuple(item) for item in change.removed]}


def as_text(change: AclChange) -> str:
    return json.dumps(as_values(change))


def change_of(values: object) -> AclChange:
    """Parse a change of rules. Raises ValueError; whether such rules are possible is the cluster's decision."""
    rules = [values.get(which, []) if isinstance(values, dict) else None for which in ("added", "removed")]
    if not all(isinstance(rule, list) for rule in rules):
        raise ValueError("no change of rules")
    return AclChange(*(tuple(map(_rule, rule or ())) for rule in rules))


def _rule(values: object) -> AclRule:
    if not isinstance(values, list | tuple) or len(values) != _FIELDS or not all(isinstance(e, str) for e in values):
        raise ValueError("no rule")
    rule = AclRule(*values)
    try:
        binding_of(rule)
    except KeyError as error:
        raise ValueError(f"no rule has {error}") from error
    return rule
