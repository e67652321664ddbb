"""Changes of people's accounts as plans: what changes, what it comes to, and what stands against it."""

from collections.abc import Iterator

from django.contrib.auth.models import User

from console.kit.access.identities import BY_SINGLE_SIGN_ON, may_have_password
from console.kit.access.roles import ROLES
from console.kit.plans.plan import Plan, PlanLine
from console.people.users.queries import UserRights, is_last_administrator, logins_of, user_rights_of

OBJECT_TYPE = "user"
LAST_ADMINISTRATOR = (
    "This is the last administrator who can log in. Make another user an administrator first, "
    "or no user could undo this."
)


def creation_plan(username: str, wanted: UserRights) -> Plan:
    return Plan(
        action="create user",
        object_type=OBJECT_TYPE,
        object_name=username,
        lines=(PlanLine("role", None, wanted.role),),
        read=(username, wanted.role),
        touches=(
            "A password is made and shown once, on the next page. It has to be changed at the first login.",
            "Rules for names can be added when the account is there.",
        ),
        losses=(),
        safe_because="No account that is there changes.",
        undo="deactivate the account.",
    )


def change_plan(user: User, wanted: UserRights) -> Plan:
    now = user_rights_of(user)
    loses_administration = wanted.role != "admin" or not wanted.is_active
    return Plan(
        action="change user",
        object_type=OBJECT_TYPE,
        object_name=user.username,
        lines=tuple(_differences(now, wanted)),
        read=(user.username, repr(now), repr(wanted)),
        touches=_touches(user, wanted),
        losses=tuple(_access_lost(now, wanted)),
        safe_because="No right of the account is taken away.",
        undo="change it back on this page.",
        obstacle=LAST_ADMINISTRATOR if loses_administration and is_last_administrator(user) else "",
    )


def _access_lost(now: UserRights, wanted: UserRights) -> Iterator[str]:
    if now.is_active and not wanted.is_active:
        yield "The account cannot log in any more, and all its logins end at once."
    elif _takes(now, wanted):
        yield "The account may do less than before: its role, a rule or a role in a cluster is another."


def _takes(now: UserRights, wanted: UserRights) -> bool:
    """Return whether a right may be taken away; a change of rules and of roles in single clusters is not weighed."""
    lowers = not ROLES.get(now.role, frozenset()) <= ROLES.get(wanted.role, frozenset())
    return lowers or now.rules != wanted.rules or now.clusters != wanted.clusters


def _differences(now: UserRights, wanted: UserRights) -> list[PlanLine]:
    lines = [PlanLine("role", now.role, wanted.role)] if now.role != wanted.role else []
    if now.is_active != wanted.is_active:
        lines.append(PlanLine("active", now.is_active, wanted.is_active))
    before = {(rule.resource, rule.pattern): str(rule.level) for rule in now.rules}
    after = {(rule.resource, rule.pattern): str(rule.level) for rule in wanted.rules}
    for key in sorted(before.keys() | after.keys()):
        if before.get(key) != after.get(key):
            lines.append(PlanLine("{} {}".format(*key), before.get(key), after.get(key)))
    roles_now, roles_then = dict(now.clusters), dict(wanted.clusters)
    for name in sorted(roles_now.keys() | roles_then.keys()):
        if roles_now.get(name) != roles_then.get(name):
            lines.append(PlanLine(f"in the cluster {name}", roles_now.get(name), roles_then.get(name)))
    return lines


def _touches(user: User, wanted: UserRights) -> tuple[str, ...]:
    if not wanted.is_active:
        return ("All logins of the account end at once, and it cannot log in again.",)
    sentences = ["It counts at once: open pages load themselves again, and what is out of reach is closed."]
    if wanted.role == "admin" and wanted.rules:
        sentences.append("Rules do not bind an administrator, who could change them.")
    if wanted.role == "admin" and wanted.clusters:
        sentences.append("Nor do roles in single clusters: accounts are those of all of them.")
    return tuple(sentences)


def password_plan(user: User) -> Plan:
    return Plan(
        action="reset password",
        object_type=OBJECT_TYPE,
        object_name=user.username,
        lines=(PlanLine("password", "the one known to the person", "a new one"), _logins_line(user)),
        # Carried out once: with the password the plan is another.
        read=(user.username, user.password),
        touches=(
            "A password is made and shown once, on the next page. It has to be changed at the next login.",
            "All logins of the account end at once, and all its tokens.",
        ),
        losses=("The present password is no longer accepted, and the tokens of the account are deleted for good.",),
        safe_because="",
        obstacle="" if may_have_password(user) else BY_SINGLE_SIGN_ON,
    )


def end_logins_plan(user: User) -> Plan:
    line = _logins_line(user)
    return Plan(
        action="end logins",
        object_type=OBJECT_TYPE,
        object_name=user.username,
        lines=tuple(item for item in (line, _tokens_line(user)) if item.old),
        read=(user.username, *(item.session_key for item in logins_of(user)), *_tokens_of(user)),
        touches=("The person can log in again with the same password.",),
        losses=("The tokens of the account are deleted for good: programs that use them are refused.",)
        if user.api_tokens.exists()
        else (),
        safe_because="The person logs in again with the same password.",
    )


def _logins_line(user: User) -> PlanLine:
    return PlanLine("logins", len(logins_of(user)), 0, is_told=True)


def _tokens_line(user: User) -> PlanLine:
    return PlanLine("API tokens", user.api_tokens.count(), 0, is_told=True)


def _tokens_of(user: User) -> list[str]:
    return list(user.api_tokens.values_list("digest", flat=True))
