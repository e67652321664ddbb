"""Changing people's accounts, as planned and in the audit. Open sockets of the person are told at once."""

import secrets
from collections.abc import Iterable

from django.contrib.auth.models import Group, User
from django.db import IntegrityError, transaction

from console.kit.access.api_tokens import end_tokens
from console.kit.access.models import ClusterRole, NameRule, PasswordToChange
from console.kit.access.reach import AccessRule
from console.kit.access.roles import ROLES
from console.kit.audit.record import record_event
from console.kit.gateway.errors import RefusedError
from console.kit.plans.apply import carry_out
from console.kit.plans.plan import Confirmation, Plan
from console.people.users.announce import announce_rights
from console.people.users.plan import LAST_ADMINISTRATOR
from console.people.users.queries import UserRights, is_last_administrator, logins_of

#: 96 bits, in 16 characters a person can copy by eye.
PASSWORD_BYTES = 12


def do_create_user(actor: User, plan: Plan, wanted: UserRights, confirmation: Confirmation) -> str:
    """Make the account; its one-time password. Raises NotConfirmedError, RefusedError."""
    made = _one_time_password()

    def create() -> None:
        try:
            with transaction.atomic():
                user = User.objects.create_user(plan.object_name, password=made)
                _give_role(user, wanted.role)
                PasswordToChange.objects.create(user=user)
        except IntegrityError as error:
            raise RefusedError("USER_EXISTS", "Another user created an account of this name a moment ago.") from error

    carry_out(actor, plan, confirmation, create)
    return made


def do_change_user(actor: User, user: User, plan: Plan, wanted: UserRights, confirmation: Confirmation) -> None:
    """Change role, rules, and whether the account is active. Raises NotConfirmedError, RefusedError."""

    def change() -> None:
        with transaction.atomic():
            list(User.objects.select_for_update().values_list("pk"))
            if is_last_administrator(user) and (wanted.role != "admin" or not wanted.is_active):
                raise RefusedError("LAST_ADMINISTRATOR", LAST_ADMINISTRATOR)
            write_user_rights(user, wanted)

    carry_out(actor, plan, confirmation, change)


def write_user_rights(user: User, wanted: UserRights) -> None:
    """Write role, rules and whether the account may log in, within a transaction of the caller's, who audits it."""
    user.is_active = wanted.is_active
    _give_role(user, wanted.role)
    _write_rules(user, wanted.rules)
    _write_roles_in_clusters(user, wanted.clusters)
    if not wanted.is_active:
        end_logins(user)
    announce_rights(user.pk)


def end_logins(user: User) -> None:
    """End every session and token of `user`, in the caller's transaction, and notify open pages."""
    for session in logins_of(user):
        session.delete()
    end_tokens(user)
    announce_rights(user.pk)


def do_reset_password(actor: User, user: User, plan: Plan, confirmation: Confirmation) -> str:
    """Set a new one-time password and end every session. Raises NotConfirmedError."""
    made = _one_time_password()

    def reset() -> None:
        with transaction.atomic():
            user.set_password(made)
            user.save(update_fields=["password"])
            PasswordToChange.objects.get_or_create(user=user)
            end_logins(user)

    carry_out(actor, plan, confirmation, reset)
    return made


def do_end_logins(actor: User, user: User, plan: Plan, confirmation: Confirmation) -> None:
    """Raises NotConfirmedError."""

    def end() -> None:
        with transaction.atomic():
            end_logins(user)

    carry_out(actor, plan, confirmation, end)


@transaction.atomic
def do_change_own_password(user: User, password: str) -> None:
    """Change the password, and end every other session and token of the person."""
    user.set_password(password)
    user.save(update_fields=["password"])
    PasswordToChange.objects.filter(user=user).delete()
    end_tokens(user)
    record_event(user, "change own password", "user", user.get_username())
    announce_rights(user.pk)


def _write_rules(user: User, rules: Iterable[AccessRule]) -> None:
    NameRule.objects.filter(user=user).delete()
    NameRule.objects.bulk_create(
        NameRule(user=user, resource=rule.resource, pattern=rule.pattern, level=rule.level) for rule in rules
    )


def _write_roles_in_clusters(user: User, roles: Iterable[tuple[str, str]]) -> None:
    user.cluster_roles.all().delete()
    ClusterRole.objects.bulk_create(ClusterRole(user=user, cluster=cluster, role=role) for cluster, role in roles)


def _give_role(user: User, role: str) -> None:
    user.is_superuser = user.is_superuser and role == "admin"
    user.save(update_fields=["is_superuser", "is_active"])
    user.groups.remove(*Group.objects.filter(name__in=ROLES))
    if role in ROLES:
        user.groups.add(Group.objects.get_or_create(name=role)[0])


def _one_time_password() -> str:
    return secrets.token_urlsafe(PASSWORD_BYTES)
