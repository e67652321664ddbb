"""What a person's groups at the provider give here: a role, and rules for names. Pure.

The rules are a TOML file. `default` is the role of everybody whom the provider lets in; without it, who is in none of
the groups that are named is refused. A group may give a role and rules, and each further group can only add to them,
but for rules of the level `nothing`, which take away whoever gives. What is not written gives nothing.

    default = "viewer"

    [groups.kafka-admins]
    role = "admin"

    [groups."Payments Team"]
    rules = ["operator on topic payments.*", "nothing on topic payments.cards"]
"""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from console.kit.access.reach import PATTERN_LENGTH_MAX, STARS_MAX, AccessLevel, AccessRule, Reach, Resource
from console.kit.access.roles import ROLES

GROUPS_MAX = 1_000
#: Of one group, and, as each is looked at for every name a person sees, of one person in many groups.
RULES_MAX, RULES_OF_PERSON_MAX = 50, 200
NO_ROLE = "none"
#: The weakest first.
_ROLES = (NO_ROLE, *ROLES)


class GroupRulesError(Exception):
    """One sentence for who wrote the file."""


class TooManyRulesError(Exception):
    """A person's groups give more rules together than the console keeps; to leave some out could give more."""


@dataclass(frozen=True, slots=True)
class Grant:
    """`groups` are those that had a part in it."""

    role: str
    rules: tuple[AccessRule, ...] = ()
    groups: tuple[str, ...] = ()

    @property
    def reach(self) -> Reach:
        return Reach(ROLES.get(self.role, frozenset()), self.rules)


@dataclass(frozen=True, slots=True)
class GroupRules:
    groups: Mapping[str, Grant]
    default: str = ""

    def grant_of(self, groups: Iterable[str]) -> Grant | None:
        """Return the grant of a member of `groups`; None: no access. Names count to the letter, order and repeats do
        not.

        Raises TooManyRulesError.
        """
        named = tuple(sorted(self.groups.keys() & set(groups)))
        if not named and not self.default:
            return None
        held = [self.groups[name] for name in named]
        role = max((self.default or NO_ROLE, *(item.role for item in held)), key=_ROLES.index)
        rules = _joined(rule for acl in held for rule in acl.rules)
        if len(rules) > RULES_OF_PERSON_MAX:
            raise TooManyRulesError
        return Grant(role, rules, named)


def _joined(rules: Iterable[AccessRule]) -> tuple[AccessRule, ...]:
    """Return one rule for each pattern: `nothing` if any says so, otherwise the highest level, as `Reach` reads them
    all.
    """
    access_rules: dict[tuple[Resource, str], AccessRule] = {}
    for item in sorted(rules):
        key = (item.resource, item.pattern)
        access_rules[key] = max(access_rules.get(key, item), item, key=lambda rule: _strength(rule.level))
    return tuple(sorted(access_rules.values()))


def _strength(level: AccessLevel) -> int:
    return len(AccessLevel) if level is AccessLevel.NOTHING else len(level.rights)


def parse_rules(text: str) -> GroupRules:
    """Parse the rules. Raises RulesError also for unknown keys, so that no rule is lost by a typo."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise GroupRulesError(f"The rules are no TOML: {error}.") from error
    _only(document, {"default", "groups"}, "the file")
    groups = document.get("groups", {})
    if not isinstance(groups, dict) or len(groups) > GROUPS_MAX:
        raise GroupRulesError(f"`groups` must be at most {GROUPS_MAX} tables, [groups.NAME].")
    default = _role(document["default"], "default") if "default" in document else ""
    if default == "admin":
        raise GroupRulesError("`default` cannot be admin: every user of the provider would administer the console.")
    return GroupRules({name: _grant(name, table) for name, table in groups.items()}, default)


def _grant(name: str, table: object) -> Grant:
    if not isinstance(table, dict):
        raise GroupRulesError(f"[groups.{name}] must be a table.")
    _only(table, {"role", "rules"}, f"[groups.{name}]")
    rules = table.get("rules", [])
    if not isinstance(rules, list) or len(rules) > RULES_MAX:
        raise GroupRulesError(f"`rules` of [groups.{name}] must be a list of at most {RULES_MAX}.")
    return Grant(_role(table.get("role", NO_ROLE), f"[groups.{name}]"), tuple(_rule(rule) for rule in rules))


def _only(table: Mapping[str, object], known: set[str], place: str) -> None:
    for key in table.keys() - known:
        raise GroupRulesError(f"`{key}` in {place} means nothing; there are {', '.join(sorted(known))}.")


def _role(value: object, place: str) -> str:
    if value not in _ROLES:
        raise GroupRulesError(f"{place}: {value!r} is no role; there are {', '.join(_ROLES)}.")
    return str(value)


def _rule(value: object) -> AccessRule:
    words = value.split() if isinstance(value, str) else []
    is_whole = len(words) == 4 and words[1] == "on" and words[0] in set(AccessLevel) and words[2] in set(Resource)
    if not is_whole or words[3].count("*") > STARS_MAX or "**" in words[3] or len(words[3]) > PATTERN_LENGTH_MAX:
        raise GroupRulesError(f"{value!r} is no rule such as “operator on topic payments.*”.")
    if words[2] == Resource.CLUSTER and words[3] != "cluster":
        raise GroupRulesError(f"{value!r}: of the cluster there is one, “{words[0]} on cluster cluster”.")
    return AccessRule(Resource(words[2]), words[3], AccessLevel(words[0]))
