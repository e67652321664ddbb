"""Users in the database: only rows that read differently are written."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import F

from console.cluster.credentials.models import CredentialsLook, ScramUser
from console.kit.common.databases import cluster_atomic
from console.kit.gateway.credentials.interface import USER_LENGTH_MAX, CredentialsView

_ROWS_PER_STATEMENT = 500


@dataclass(frozen=True, slots=True)
class CredentialChanges:
    """`keys`: the primary keys of rows that read differently."""

    keys: tuple[int, ...] = ()
    is_list_changed: bool = False


def ensure_look() -> CredentialsLook:
    return CredentialsLook.objects.get_or_create(pk=1)[0]


def save_refusal(error: str, code: str) -> bool:
    """Store why nothing new is known; return whether that is news."""
    look = ensure_look()
    if (look.error, look.code) == (error, code):
        return False
    CredentialsLook.objects.filter(pk=look.pk).update(error=error, code=code)
    return True


def keep(view: CredentialsView, at_ms: int) -> CredentialChanges:
    """Store the credentials; a name longer than our brokers allow is left out."""
    users = {name: of for name, of in view.users.items() if len(name) <= USER_LENGTH_MAX}
    with cluster_atomic():
        rows = ScramUser.objects.values_list("name", "mechanisms", "rule_count")
        known = {name: (mechanisms, rule_count) for name, mechanisms, rule_count in rows}
        gone = [name for name in known if name not in users]
        for at in range(0, len(gone), _ROWS_PER_STATEMENT):
            ScramUser.objects.filter(name__in=gone[at : at + _ROWS_PER_STATEMENT]).delete()
        wanted = {name: (dict(of), _rule_count(view, name)) for name, of in users.items()}
        changed = ScramUser.objects.bulk_create(
            [
                ScramUser(name=name, mechanisms=mechanisms, rule_count=rule_count)
                for name, (mechanisms, rule_count) in wanted.items()
                if known.get(name) != (mechanisms, rule_count)
            ],
            update_conflicts=True,
            unique_fields=["name"],
            update_fields=["mechanisms", "rule_count"],
            batch_size=_ROWS_PER_STATEMENT,
        )
        ensure_look()
        CredentialsLook.objects.update(at_ms=at_ms, error="", code="")
    return CredentialChanges(tuple(user.pk for user in changed), bool(gone) or bool(wanted.keys() - known.keys()))


def save_one(name: str, mechanisms: Mapping[str, int], *, has_new_password: bool = False) -> None:
    """Store a user's new credentials; none if the user was deleted."""
    if not mechanisms:
        ScramUser.objects.filter(name=name).delete()
        return
    user, _ = ScramUser.objects.update_or_create(name=name, defaults={"mechanisms": dict(mechanisms)})
    if has_new_password:
        ScramUser.objects.filter(pk=user.pk).update(passwords_given=F("passwords_given") + 1)


def _rule_count(view: CredentialsView, name: str) -> int | None:
    return None if view.rule_counts is None else view.rule_counts.get(name, 0)


def passwords_given(name: str) -> int:
    return ScramUser.objects.filter(name=name).values_list("passwords_given", flat=True).first() or 0
