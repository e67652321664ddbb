"""What a person may type about a rule. The cluster has the last word; this spares it what cannot be right."""

from typing import Any

from django import forms

from console.acls.queries import ALL_OPERATIONS
from console.gateway.acl_views import (
    ANY_HOST,
    CLUSTER_NAME,
    OPERATIONS,
    AclRule,
    in_words,
    java_host,
    rule_refusal,
)

_TYPES = [(each, in_words(each)) for each in OPERATIONS]


class RuleForm(forms.Form):
    """One rule for each operation."""

    permission = forms.ChoiceField(label="Permission", choices=[("ALLOW", "Allow"), ("DENY", "Deny")])
    principal = forms.CharField(
        label="Principal", max_length=1_024, widget=forms.TextInput({"list": "principals", "autocomplete": "off"})
    )
    host = forms.CharField(label="Host", required=False, max_length=255)
    resource = forms.ChoiceField(label="Resource", choices=_TYPES)
    pattern = forms.ChoiceField(label="Its name is", choices=[("LITERAL", "the name, or *"), ("PREFIXED", "a prefix")])
    name = forms.CharField(label="Name", required=False, max_length=1_024)
    operations = forms.MultipleChoiceField(
        label="Operations",
        choices=[(each, in_words(each)) for each in ALL_OPERATIONS],
        error_messages={"required": "Choose at least one operation."},
    )

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if self.errors:
            return cleaned
        is_cluster = cleaned["resource"] == "CLUSTER"
        name = CLUSTER_NAME if is_cluster else cleaned["name"]
        pattern = "LITERAL" if is_cluster else cleaned["pattern"]
        host = java_host(cleaned["host"]) or ANY_HOST
        cleaned["rules"] = tuple(
            AclRule(cleaned["resource"], name, pattern, cleaned["principal"], cleaned["permission"], operation, host)
            for operation in self._meant(cleaned)
        )
        if not cleaned["rules"]:
            self.add_error("operations", f"None of these can be done with a {in_words(cleaned['resource'])}.")
        for why in dict.fromkeys(filter(None, map(rule_refusal, cleaned["rules"]))):
            self.add_error("principal" if "principal" in why else "name", why)
        return cleaned

    @staticmethod
    def _meant(cleaned: dict[str, Any]) -> list[str]:
        """Those of other types of resources are not on the page, though they may be ticked."""
        known = ("ALL", *OPERATIONS[cleaned["resource"]])
        return [each for each in cleaned["operations"] if each in known]

    @property
    def choices_of_operations(self) -> list[tuple[str, str, str, bool]]:
        """(name, words, types it is for, whether it is ticked)."""
        ticked = self["operations"].value() or ()
        return [(each, in_words(each), " ".join(_kinds_with(each)), each in ticked) for each in ALL_OPERATIONS]


def _kinds_with(operation: str) -> list[str]:
    return [f"for-{kind}" for kind, known in OPERATIONS.items() if operation in (*known, "ALL")]
