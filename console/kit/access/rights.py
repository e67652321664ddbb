"""What the person in front of us may do. A role is a Django group; a superuser holds every right, others none."""

from collections.abc import Collection
from dataclasses import replace
from typing import TypeAlias

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, Group, User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet

from console.kit.access.internal_names import ONLY_ADMINISTRATORS, InternalTopics
from console.kit.access.internal_topics import internal_topics
from console.kit.access.models import ClusterRole, NameRule
from console.kit.access.reach import NOWHERE, AccessLevel, AccessRule, Reach, Resource, matches
from console.kit.access.roles import ROLES
from console.kit.access.roles import Right as Right  # part of what this module offers
from console.kit.common.current_cluster import NOBODYS, current_cluster
from console.kit.common.kept_statements import PERSON, kept_rows, kept_values

#: The one name there is of the resource `cluster`.
CLUSTER = "cluster"

#: Right → the sentence a person without it reads.
REFUSALS = {
    Right.VIEW: "Your account has no role yet. An administrator can give you viewer, reader, operator or admin.",
    Right.RECORDS: "This needs the role reader: you see topics, not what is in their records.",
    Right.OPERATE: "This needs the role operator. You have read-only access.",
    Right.GRANT: "This needs the role admin: it decides about rights in the cluster.",
    Right.ADMINISTER: "This needs the role admin.",
}

NOT_EVERYTHING = "This names whatever there is, and rules keep some topics, groups or processes from you."
NOT_ALL_NAMES = "This names topics and groups whatever they are, and your rights do not reach all of them."
NOT_ALL_TOPICS = "This concerns every topic, and your rights do not reach all of them."

Person: TypeAlias = User | AnonymousUser


def reach_of(user: Person) -> Reach:
    """Return the reach of `user` in the current cluster."""
    return reach_in(user, current_cluster())


def reach_in(user: Person, cluster: str) -> Reach:
    """Return the same in `cluster`; one database query per user object, that is per request."""
    only_in = getattr(user, "_console_only_in", ())
    if not isinstance(user, User) or not user.is_active or cluster == NOBODYS or (only_in and cluster not in only_in):
        return NOWHERE
    cached = getattr(user, "_console_reach", None)
    if cached is None:
        cached = _everywhere(user), _by_cluster(user)
        user._console_reach = cached  # type: ignore[attr-defined]  # for as long as the request's user is this object
    reach, roles = cached
    reach = reach if reach.is_unbound or cluster not in roles else reach.with_role_of(roles[cluster])
    return reach if reach.is_unbound else replace(reach, internal=internal_topics())


def restrict_to(user: Person, clusters: Collection[str]) -> None:
    """Limit `user`, while the object lives, to rights in these clusters, if any are given."""
    user._console_only_in = frozenset(clusters)  # type: ignore[union-attr]  # as above


def _everywhere(user: User) -> Reach:
    roles = ["admin"] if user.is_superuser else [name for (name,) in kept_values(_roles, person=user.pk)]
    role = frozenset().union(*(ROLES.get(role, frozenset()) for role in roles))
    rules = () if Right.ADMINISTER in role else kept_rows(_rules, person=user.pk)
    return Reach(role, tuple(sorted(rule.rule for rule in rules)))


def _roles() -> QuerySet[Group, tuple[str]]:
    return Group.objects.filter(user=PERSON).values_list("name")


def _rules() -> QuerySet[NameRule]:
    return NameRule.objects.filter(user_id=PERSON)


def _by_cluster(user: User) -> dict[str, str]:
    """Return the roles by cluster, only where there are several."""
    roles = ClusterRole.objects.filter(user_id=user.pk) if settings.CLUSTERS else ()
    return {role.cluster: role.role for role in roles}


def rights_of(user: Person) -> frozenset[Right]:
    """Return the rights of `user` on the cluster as a whole."""
    return reach_of(user).rights_on(Resource.CLUSTER, CLUSTER)


def has_right(user: Person, right: Right) -> bool:
    """Return True if `user` is active and holds `right` on the cluster as a whole."""
    return right in rights_of(user)


def require(user: Person, right: Right) -> None:
    """Raise PermissionDenied, with a sentence for the person, unless `user` holds `right` on the cluster as a whole."""
    _look_at(user, Resource.CLUSTER, CLUSTER)
    if not has_right(user, right):
        raise PermissionDenied(refusal_of(user, right))


def require_all_topics(user: Person, right: Right = Right.VIEW) -> None:
    """Require `right` on all topics, for an action that concerns or names any of them."""
    if reach_of(user).is_limited(Resource.TOPIC, right):
        raise PermissionDenied(NOT_ALL_TOPICS)


def sees_all_names(user: Person) -> bool:
    """Return whether no topic and no group is hidden from `user`."""
    return reach_of(user).sees_all_names


def require_everything(user: Person) -> None:
    """Require unlimited reach, for logs and internal topics that mention arbitrary objects."""
    if reach_of(user).is_limited_somewhere:
        raise PermissionDenied(NOT_EVERYTHING)


def require_somewhere(user: Person, resource: Resource, right: Right) -> None:
    """Require `right` on at least some name, for a list of those objects."""
    _look_at(user, resource, None)
    if right not in reach_of(user).rights_somewhere(resource):
        raise PermissionDenied(refusal_of(user, right))


def require_on(user: Person, resource: Resource, name: str, right: Right) -> None:
    """Require `right` on one object. The refusal does not reveal whether it exists."""
    _look_at(user, resource, name)
    if right not in reach_of(user).rights_on(resource, name):
        raise PermissionDenied(refusal_of(user, right))


def refusal_of(user: Person, right: Right) -> str:
    """Return the sentence for a person without `right`: about the role, or its limits."""
    if right is Right.RECORDS and _is_kept_by_being_internal(user):
        return ONLY_ADMINISTRATORS
    if right is Right.RECORDS and Right.VIEW in rights_here(user):
        return f"{REFUSALS[right]} {_to_ask_for(user, right)}"
    if right in reach_of(user).rights_anywhere:
        return f"Your rights do not reach this: you may not {right} it. {_to_ask_for(user, right)}"
    return REFUSALS[right]


def _is_kept_by_being_internal(user: Person) -> bool:
    """Return whether the topic that was asked for last would be read, were it not internal."""
    reach, (resource, name) = reach_of(user), place_of(user)
    if resource is not Resource.TOPIC or name is None or name not in reach.internal:
        return False
    return Right.RECORDS in replace(reach, internal=InternalTopics(patterns=())).rights_on(resource, name)


def _to_ask_for(user: Person, right: Right) -> str:
    """Return the rule that would give `right` on the object asked for last; whether it exists is not revealed."""
    resource, name = place_of(user)
    role = next(role for role, rights in ROLES.items() if right in rights)
    if resource is Resource.CLUSTER or right is Right.ADMINISTER:
        return f"Ask an administrator for the role {role}."
    rule = f"{role} on {resource} {name or '*'}"
    if name and any(rule.level is AccessLevel.NOTHING for rule in _rules_on(user, resource, name)):
        return f"A rule takes it away; ask an administrator to narrow that, then for the rule “{rule}”."
    if name:
        return f"Ask an administrator for the rule “{rule}”."
    return f"Ask an administrator for the rule “{rule}”, or one with the names you need."


def _rules_on(user: Person, resource: Resource, name: str) -> list[AccessRule]:
    return [rule for rule in reach_of(user).rules if rule.resource is resource and matches(rule.pattern, name)]


def seen_by(user: Person) -> frozenset[Resource]:
    """Return the kinds of objects of which there may be one that `user` may see: what a page offers a way to."""
    reach = reach_of(user)
    return frozenset(resource for resource in Resource if Right.VIEW in reach.rights_somewhere(resource))


def rights_here(user: Person) -> frozenset[Right]:
    """Return the rights on the object asked for last, by which a page enables its buttons."""
    resource, name = place_of(user)
    reach = reach_of(user)
    return reach.rights_somewhere(resource) if name is None else reach.rights_on(resource, name)


def place_of(user: Person) -> tuple[Resource, str | None]:
    """Return the resource and name last asked for; no name: a list."""
    return getattr(user, "_console_place", (Resource.CLUSTER, CLUSTER))


def _look_at(user: Person, resource: Resource, name: str | None) -> None:
    user._console_place = (resource, name)  # type: ignore[union-attr]  # as above
