"""A user's password, given or taken, as a plan: who can log in afterwards, and who cannot any more. Pure.

The password is in no plan, so it is in no digest and no audit row, and on no page but the one that answers the
confirmation.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from console.kit.gateway.commands import shell_command
from console.kit.gateway.credentials.interface import Mechanisms
from console.kit.plans.plan import Plan, PlanLine

CREATE, CHANGE, DELETE = "create Kafka user", "change password of Kafka user", "delete Kafka user"
TAKE = "take mechanism from Kafka user"
_PASSWORD = "…"


@dataclass(frozen=True, slots=True)
class UserState:
    """What is known of a user beside the passwords. `seen`: what of the user was seen using quotas, a clause each."""

    name: str
    mechanisms: Mechanisms
    rule_count: int | None = None
    quota_count: int = 0
    seen: Sequence[str] = ()
    passwords_given: int = 0
    #: The console itself logs in as this user.
    is_own: bool = False


def password_plan(user: UserState, wanted: Mechanisms, *, is_typed: bool, bootstrap_servers: str) -> Plan:
    """Plan a new password for the mechanisms `wanted`; creates the user if there is none."""
    is_new = not user.mechanisms
    lines = tuple(
        PlanLine(name, _with_password(user.mechanisms.get(name), "a password"), _with_password(item, "a new password"))
        for name, item in wanted.items()
    )
    return Plan(
        action=CREATE if is_new else CHANGE,
        object_type="Kafka user",
        object_name=user.name,
        lines=lines,
        read=(*_read(user), f"typed={is_typed}", f"given={user.passwords_given}"),
        touches=tuple(_who_may_now(user, wanted) if is_new else _who_must_change(user, wanted)),
        losses=() if is_new else _old_password_lost(user, wanted),
        safe_because="No password that counts now stops counting." if not user.is_own else "",
        undo=f"{user.name} is deleted again." if is_new else "",
        command=_command(user.name, bootstrap_servers, wanted, ()),
        obstacle=_own(user, "its own password is changed"),
    )


def deletion_plan(user: UserState, doomed: Sequence[str], bootstrap_servers: str) -> Plan:
    """Return the mechanisms `doomed`, which may be all the user has."""
    left = [name for name in user.mechanisms if name not in doomed]
    return Plan(
        action=TAKE if left else DELETE,
        object_type="Kafka user",
        object_name=user.name,
        lines=tuple(PlanLine(name, _with_password(user.mechanisms[name], "a password"), None) for name in doomed),
        read=_read(user),
        touches=tuple(_after_deletion(user, left)),
        losses=(
            f"{user.name} cannot log in {'by ' + ' or '.join(doomed) if left else 'by SCRAM'} any more, and the "
            "password cannot be given back: brokers keep only what checks it, and tell that to nobody. "
            "Undone it is by a new password, which everybody who used the old one has to be told.",
        ),
        command=_command(user.name, bootstrap_servers, {}, doomed),
        typed_name=user.name,
        obstacle=_own(user, "it is deleted"),
    )


def _read(user: UserState) -> tuple[str, ...]:
    return (user.name, *(f"{name}={iterations}" for name, iterations in sorted(user.mechanisms.items())))


def _with_password(iterations: int | None, what: str) -> str | None:
    return None if iterations is None else f"{what}, {iterations} iterations"


def _who_may_now(user: UserState, wanted: Mechanisms) -> Iterator[str]:
    yield f"A client with the new password can log in as {user.name} by {' or '.join(wanted)} from then on."
    yield _rights(user)


def _who_must_change(user: UserState, wanted: Mechanisms) -> Iterator[str]:
    kept = [name for name in user.mechanisms if name not in wanted]
    if kept:
        yield f"By {' and '.join(kept)} the old password goes on to count."
    yield from _connected(user)


def _old_password_lost(user: UserState, wanted: Mechanisms) -> tuple[str, ...]:
    if not any(name in user.mechanisms for name in wanted):
        return ()
    return (f"Clients with the old password of {user.name} cannot log in any more. It cannot be restored.",)


def _after_deletion(user: UserState, left: Sequence[str]) -> Iterator[str]:
    if left:
        yield f"By {' and '.join(left)} {user.name} logs in as before."
    yield from _connected(user)
    kept = [f"{count} {what}{'' if count == 1 else 's'}" for count, what in _named(user) if count]
    if kept and not left:
        verb = "stay" if len(kept) > 1 or not kept[0].startswith("1 ") else "stays"
        yield f"{' and '.join(kept)} that name {user.name} {verb}: they count again for the next user of this name."


def _connected(user: UserState) -> Iterator[str]:
    """Yield users seen using a quota: Kafka does not tell which users are connected."""
    yield (
        "Connections that have logged in stay open until they end, or until they have to log in again "
        "(connections.max.reauth.ms); then they are refused."
    )
    if user.seen:
        yield f"Seen a moment ago: {'; '.join(user.seen)}."
    else:
        yield f"Whether a client is connected as {user.name} now is unknown: no quota measures this user."


def _rights(user: UserState) -> str:
    if user.rule_count is None:
        return "What the user may do is not known: this cluster has no access rules, or does not tell them."
    if not user.rule_count:
        return "No access rule names the user: it has only the rights of every user (User:*), until a rule gives more."
    return f"{user.rule_count} access rule{' names' if user.rule_count == 1 else 's name'} this user already."


def _named(user: UserState) -> Iterable[tuple[int, str]]:
    return (user.rule_count or 0, "access rule"), (user.quota_count, "quota")


def _own(user: UserState, done: str) -> str:
    if not user.is_own:
        return ""
    return (
        f"The console logs in as {user.name} itself, and so do its sources and stream jobs: if {done} here, they lock "
        "themselves out. Change the password with kafka-configs, and then in the console's client properties."
    )


def _command(name: str, bootstrap_servers: str, added: Mapping[str, int], deleted: Sequence[str]) -> str:
    options = {
        "alter": True,
        "entity-type": ["users"],
        "entity-name": [name],
        "add-config": ",".join(f"{item}=[iterations={n},password={_PASSWORD}]" for item, n in added.items()) or None,
        "delete-config": ",".join(deleted) or None,
    }
    return shell_command("kafka-configs", bootstrap_servers, options)
