"""A change of access lists as a plan: the rules, who gains or loses what by name, and who would be locked out. Pure."""

from collections.abc import Collection, Iterator
from itertools import groupby, islice

from console.cluster.acls.effects import AclChange, AclEffect, Effects, effects, who, who_may_alter
from console.kit.gateway.acls.decisions import with_changes
from console.kit.gateway.acls.interface import ANY_HOST, AclRule, AclView, kafka_name
from console.kit.gateway.commands import shell_command
from console.kit.plans.plan import Plan, PlanLine

OBJECT_TYPE, OBJECT_NAME = "access lists", "cluster"
CREATE, DELETE, CHANGE = "create access rules", "delete access rules", "change access rules"
#: Rules in one plan: what a person can still be shown, and a few seconds of a cluster's work.
RULES_MAX = 1_000
#: What is typed to confirm that the way back may be cut off.
LOCK_OUT = "lock out"
_CLUSTER = "CLUSTER"
_COMMANDS_MAX = 5
_NAMED_MAX = 5
_OPTIONS = {
    "TOPIC": "topic",
    "GROUP": "group",
    "TRANSACTIONAL_ID": "transactional-id",
    "DELEGATION_TOKEN": "delegation-token",
    "USER": "user-principal",
}


def change_plan(view: AclView, change: AclChange, effects: Effects, bootstrap_servers: str) -> Plan:
    """Build the plan of a change of access lists; `effects` says which principals gain or lose what."""
    losses = lock_outs(view, change) if len(change.rules) <= RULES_MAX else ()
    return Plan(
        action=_action(change),
        object_type=OBJECT_TYPE,
        object_name=OBJECT_NAME,
        lines=(
            *(PlanLine(str(item), None, "a rule") for item in change.added),
            *(PlanLine(str(item), "a rule", None) for item in change.removed),
        ),
        # Which names there are changes by itself; who may do what else than before does not.
        read=tuple(_in_short(effect) for effect in effects.listed),
        touches=_touches(view, effects),
        losses=losses,
        safe_because="",  # rules give and take access: who may do what then is below
        undo="" if not change.rules else "the rules as they were are kept, and can be put back from the page of rules.",
        command="\n".join(commands(change, bootstrap_servers)),
        about=tuple(sorted({_about(rule) for rule in change.rules})),
        typed_name=LOCK_OUT if losses else "",
        obstacle=f"A plan has at most {RULES_MAX:,} rules: choose fewer." if len(change.rules) > RULES_MAX else "",
    )


def lock_outs(view: AclView, change: AclChange) -> tuple[str, ...]:
    """Return what this console could not undo after the change."""
    losses = []
    if view.own_principal:
        own = effects(view, change, [view.own_principal], lambda _: ())
        losses += [f"The console itself: {loss}." for loss in own.losses if loss.resource == _CLUSTER]
    before = who_may_alter(view)
    if before and not who_may_alter(with_changes(view, change.added, change.removed)):
        names = ", ".join(who(name) for name in sorted(before)[:_NAMED_MAX])
        but = "" if view.super_users is not None else "except super users, which this cluster does not report"
        losses.append(f"No principal could change access lists any more{but}. Today {names} may.")
    return tuple(losses)


def _touches(view: AclView, effects: Effects) -> tuple[str, ...]:
    sentences = []
    if not effects.listed:
        sentences.append("No known principal gains or loses anything by it: other ACLs decide the same.")
    if not effects.is_whole:
        sentences.append("There are more principals and names than could be looked at: others may be concerned, too.")
    if view.super_users is None:
        sentences.append("This cluster does not report its super users, whom ACLs do not bind.")
    if not view.own_principal:
        sentences.append("The console's own principal in this cluster is unknown: check that it keeps its rights.")
    sentences.append("Brokers apply it within moments, to open connections too.")
    return tuple(sentences)


def _in_short(effect: AclEffect) -> str:
    done = ",".join(effect.operations)
    return f"{effect.principal} {'+' if effect.gains else '-'} {effect.resource} {done} {effect.host}"


def _about(rule: AclRule) -> str:
    return f"{rule.name}*" if rule.is_prefixed else rule.name


def _action(change: AclChange) -> str:
    return CHANGE if change.added and change.removed else DELETE if change.removed else CREATE


def commands(change: AclChange, bootstrap_servers: str) -> Iterator[str]:
    """Yield the commands, as many as a page has room for; operations of one rule share a line."""
    lines = [
        _command(verb, list(rules), bootstrap_servers)
        for verb, chosen in (("add", change.added), ("remove", change.removed))
        for _, rules in groupby(sorted(chosen, key=_group_key), key=_group_key)
    ]
    yield from islice(lines, _COMMANDS_MAX)
    if len(lines) > _COMMANDS_MAX:
        yield f"# and {len(lines) - _COMMANDS_MAX} more like these"


def _group_key(rule: AclRule) -> tuple[str, ...]:
    return rule.resource, rule.name, rule.pattern, rule.principal, rule.permission, rule.host


def _command(verb: str, rules: Collection[AclRule], bootstrap_servers: str) -> str:
    (rule, *_) = rules
    side = "allow" if rule.allows else "deny"
    about: dict[str, object] = {"cluster": True}
    if rule.resource in _OPTIONS:
        about = {_OPTIONS[rule.resource]: [rule.name]}
    options = {
        verb: True,
        "force": verb == "remove",
        f"{side}-principal": [rule.principal],
        f"{side}-host": None if rule.host == ANY_HOST else [rule.host],
        "operation": [kafka_name(rule.operation) for rule in rules],
        **about,
        "resource-pattern-type": "prefixed" if rule.is_prefixed else None,
    }
    return shell_command("kafka-acls", bootstrap_servers, options)
