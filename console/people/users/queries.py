"""Reading people as the users page knows them: role, rules, logins, and who is left to administer."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db.models import Q, QuerySet
from django.utils import timezone

from console.kit.access.reach import AccessRule, Reach
from console.kit.access.roles import ROLES
from console.kit.common.current_cluster import current_cluster

TITLES = ("user", "role", "active", "last_login", "rules", "provider", "identity", "name", "groups")
#: Shown for somebody whose groups give nothing.
NO_ROLE = "none"


@dataclass(frozen=True, slots=True)
class UserRights:
    """What of a person decides what the person may do."""

    role: str
    is_active: bool
    rules: tuple[AccessRule, ...]
    #: (cluster, role) where another role counts than everywhere else.
    clusters: tuple[tuple[str, str], ...] = ()

    @property
    def reach(self) -> Reach:
        """The reach in the current cluster."""
        reach = Reach(ROLES.get(self.role, frozenset()) if self.is_active else frozenset(), self.rules_in_force)
        own = dict(self.clusters).get(current_cluster()) if self.is_active and settings.CLUSTERS else None
        return reach if reach.is_unbound or own is None else reach.with_role_of(own)

    @property
    def rules_in_force(self) -> tuple[AccessRule, ...]:
        return self.rules if self.is_active else ()


def people(search: str = "") -> QuerySet[User]:
    users = (
        User.objects.order_by("username")
        .select_related("identity")
        .prefetch_related("groups", "name_rules", "cluster_roles")
    )
    named = Q(username__icontains=search) | Q(identity__shown_name__icontains=search)
    return users.filter(named) if search else users


def role_of(user: User) -> str:
    """Return the user's role, the strongest should there be several."""
    if user.is_superuser:
        return "admin"
    held = {group.name for group in user.groups.all()}
    return next((role for role in reversed(ROLES) if role in held), NO_ROLE)


def user_rights_of(user: User) -> UserRights:
    rules = tuple(sorted(rule.rule for rule in user.name_rules.all()))
    clusters = tuple(sorted((role.cluster, role.role) for role in user.cluster_roles.all()))
    return UserRights(role_of(user), user.is_active, rules, clusters)


def wanted_of(user: User, typed: UserRights) -> UserRights:
    """Return the wanted rights; of a linked account only whether it may log in, since groups decide the rest."""
    if getattr(user, "identity", None) is None:
        return typed
    now = user_rights_of(user)
    return UserRights(now.role, typed.is_active, now.rules, typed.clusters)


def administrators() -> QuerySet[User]:
    """Return the people who can log in and administer."""
    return User.objects.filter(Q(is_superuser=True) | Q(groups__name="admin"), is_active=True).distinct()


def is_last_administrator(user: User) -> bool:
    return set(administrators().values_list("pk", flat=True)) == {user.pk}


def logins_of(user: User) -> list[Session]:
    """Return the person's live sessions; each must be decoded to know its owner."""
    living = Session.objects.filter(expire_date__gt=timezone.now()).order_by("session_key")
    return [item for item in living if item.get_decoded().get("_auth_user_id") == str(user.pk)]


def person_rows(users: Iterable[User]) -> Iterator[tuple[object, ...]]:
    for user in users:
        user_rights = user_rights_of(user)
        what = (
            user.username,
            user_rights.role,
            user.is_active,
            user.last_login,
            "; ".join(map(str, user_rights.rules)),
        )
        yield (*what, *_origin_of(user))


def _origin_of(user: User) -> tuple[object, ...]:
    identity = getattr(user, "identity", None)
    if identity is None:
        return ("", "", "", "")
    return (identity.provider, str(identity), identity.shown_name, "; ".join(identity.groups))
