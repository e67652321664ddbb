"""What an administrator may type about a person."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.validators import ASCIIUsernameValidator

from console.kit.access.clusters import declared_clusters
from console.kit.access.models import USERNAME_LENGTH_MAX
from console.kit.access.reach import PATTERN_LENGTH_MAX, STARS_MAX, AccessLevel, AccessRule, Resource
from console.kit.access.rights import CLUSTER
from console.kit.access.roles import ROLES
from console.kit.common.names import RESERVED_NAMES
from console.people.users.queries import NO_ROLE, UserRights

RULES_MAX = 50
#: Empty lines below the rules there are.
ROWS_SPARE = 3
_IN_CLUSTER = "cluster-"
#: Nobody administers one cluster alone: accounts are those of all of them.
CLUSTER_ROLES = [("", "as everywhere"), *((str(item), str(item)) for item in AccessLevel)]
ROLE_CHOICES = [(NO_ROLE, "none: only what rules give"), *((role, role) for role in ROLES)]


class CreateUserForm(forms.Form):
    #: ASCII alone: in a list and in the audit no letter of another script can pass for one of these.
    username = forms.CharField(label="User name", max_length=USERNAME_LENGTH_MAX, validators=[ASCIIUsernameValidator()])
    role = forms.ChoiceField(choices=ROLE_CHOICES, initial="viewer")

    def clean_username(self) -> str:
        name = User.normalize_username(self.cleaned_data["username"])
        if name.casefold() in RESERVED_NAMES:
            raise forms.ValidationError("The audit calls by this name what no account did: choose another.")
        if User.objects.filter(username__iexact=name).exists():
            raise forms.ValidationError("There is an account of this name.")
        return name


class UserRightsForm(forms.Form):
    """Role, whether the account is active, and one line for each rule: three fields of the same names."""

    role = forms.ChoiceField(choices=ROLE_CHOICES)
    is_active = forms.BooleanField(label="May log in", required=False)

    def __init__(self, *arguments: Any, clusters: Mapping[str, str] | None = None, **named: Any):
        """`clusters`: the role in each where another counts than everywhere else, as it is now."""
        super().__init__(*arguments, **named)
        self._clusters_now = clusters or {}
        for cluster in declared_clusters() if settings.CLUSTERS else ():
            self.fields[f"{_IN_CLUSTER}{cluster.name}"] = forms.ChoiceField(
                choices=CLUSTER_ROLES,
                required=False,
                label=cluster.title,
                initial=self._clusters_now.get(cluster.name, ""),
            )

    @property
    def of_clusters(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name.startswith(_IN_CLUSTER)]

    def clean(self) -> dict[str, object]:
        cleaned = super().clean() or {}
        cleaned["rules"] = tuple(sorted(self._rules()))
        return cleaned

    @property
    def _clusters(self) -> tuple[tuple[str, str], ...]:
        """Roles in clusters that are not declared any more stay as they are."""
        typed = {
            name.removeprefix(_IN_CLUSTER): value
            for name, value in self.cleaned_data.items()
            if name.startswith(_IN_CLUSTER)
        }
        return tuple(sorted((name, role) for name, role in {**self._clusters_now, **typed}.items() if role))

    @property
    def user_rights(self) -> UserRights:
        typed = self.cleaned_data
        return UserRights(typed["role"], typed["is_active"], typed["rules"], self._clusters)

    @property
    def rows(self) -> list[tuple[str, str, str]]:
        """(resource, pattern, level) as typed, or as it is, and some empty ones."""
        if self.is_bound:
            typed = [rule for rule in _typed_rules(self.data) if rule[1]]
        else:
            typed = [(rule.resource, rule.pattern, rule.level) for rule in self.initial["rules"]]
        return [*typed, *[("topic", "", "viewer")] * ROWS_SPARE]

    @property
    def fields_again(self) -> list[tuple[str, str]]:
        """The form fields that make the same user_rights again."""
        user_rights = self.user_rights
        fields = [("role", user_rights.role), *([("is_active", "on")] if user_rights.is_active else [])]
        for rule in user_rights.rules:
            fields += [("resource", rule.resource), ("pattern", rule.pattern), ("level", rule.level)]
        return fields + [(cluster.html_name, self.cleaned_data[cluster.name]) for cluster in self.of_clusters]

    def _rules(self) -> list[AccessRule]:
        rules: dict[tuple[str, str], AccessRule] = {}
        for resource, pattern, level in _typed_rules(self.data):
            if not pattern:
                continue
            rule = self._rule(resource, pattern, level)
            if (rule.resource, rule.pattern) in rules:
                raise forms.ValidationError(f"There are two rules on {rule.resource} {rule.pattern}; keep one.")
            rules[rule.resource, rule.pattern] = rule
        if len(rules) > RULES_MAX:
            raise forms.ValidationError(f"No more than {RULES_MAX} rules; a pattern with * covers many names.")
        return list(rules.values())

    def _rule(self, resource: str, pattern: str, level: str) -> AccessRule:
        while "**" in pattern:
            pattern = pattern.replace("**", "*")
        if resource not in set(Resource) or level not in set(AccessLevel):
            raise forms.ValidationError("A rule needs a kind of object and what it allows.")
        if len(pattern) > PATTERN_LENGTH_MAX or pattern.count("*") > STARS_MAX or "\0" in pattern:
            raise forms.ValidationError(
                f"A pattern has at most {PATTERN_LENGTH_MAX} characters and {STARS_MAX} stars: {pattern[:60]}"
            )
        return AccessRule(Resource(resource), CLUSTER if resource == Resource.CLUSTER else pattern, AccessLevel(level))


def _typed_rules(data: Any) -> list[tuple[str, str, str]]:
    columns = ([part.strip() for part in data.getlist(name)] for name in ("resource", "pattern", "level"))
    return list(zip(*columns, strict=False))[: 2 * RULES_MAX]
