"""What a person may type about a rule. The cluster has the last word; this spares it what cannot be right."""

from typing import Any

from django import forms

from console.cluster.acls.queries import ALL_OPERATIONS
from console.cluster.acls.rule_file import BYTES_MAX, RuleFileError, rules_in
from console.cluster.acls.uses import AclClient, AclUse, names_in
from console.kit.gateway.acls.interface import (
    ANY_HOST,
    CLUSTER_NAME,
    OPERATIONS,
    AclRule,
    java_host,
    kafka_name,
    rule_refusal,
)

#: Field of a use → its label, and what is typed there.
NAMES = {
    "writes": ("Topics it writes", "Separated by commas; orders.* is whatever begins so."),
    "reads": ("Topics it reads", "Separated by commas; orders.* is whatever begins so."),
    "groups": ("Its consumer group", "group.id; separated by commas if there are several."),
    "transactional_ids": ("Its transactional.id", "orders-* is whatever begins so."),
    "application": ("application.id", "Its internal topics, group and transactions are named so."),
    "keeps": ("Topics it keeps", "config.storage.topic, offset.storage.topic and status.storage.topic."),
}
_TYPES = [(operation, kafka_name(operation)) for operation in OPERATIONS]


class AclRuleForm(forms.Form):
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
        choices=[(operation, kafka_name(operation)) for operation in ALL_OPERATIONS],
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
            self.add_error("operations", f"None of these can be done with a {kafka_name(cleaned['resource'])}.")
        for why in dict.fromkeys(filter(None, map(rule_refusal, cleaned["rules"]))):
            self.add_error("principal" if "principal" in why else "name", why)
        return cleaned

    @staticmethod
    def _meant(cleaned: dict[str, Any]) -> list[str]:
        """Return the chosen operations without those of other resource types, though they may be ticked."""
        known = ("ALL", *OPERATIONS[cleaned["resource"]])
        return [operation for operation in cleaned["operations"] if operation in known]

    @property
    def choices_of_operations(self) -> list[tuple[str, str, str, bool]]:
        """(name, words, types it is for, whether it is ticked)."""
        ticked = self["operations"].value() or ()
        return [
            (operation, kafka_name(operation), " ".join(_kinds_with(operation)), operation in ticked)
            for operation in ALL_OPERATIONS
        ]


def _kinds_with(operation: str) -> list[str]:
    return [f"for-{kind}" for kind, known in OPERATIONS.items() if operation in (*known, "ALL")]


class UseForm(forms.Form):
    """A client by what it is: `use` says which names are asked for."""

    principal = forms.CharField(
        label="Principal", max_length=1_024, widget=forms.TextInput({"list": "principals", "autocomplete": "off"})
    )

    def __init__(self, use: AclUse, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._use = use
        for field in use.fields:
            self.fields[field] = forms.CharField(label=NAMES[field][0], help_text=NAMES[field][1], max_length=4_096)
        self.fields["host"] = forms.CharField(label="Host", required=False, max_length=255)
        if "writes" in use.fields:
            self.fields["creates"] = forms.BooleanField(label="It may create these topics", required=False)

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if self.errors:
            return cleaned
        host = java_host(cleaned["host"]) or ANY_HOST
        names = {field: cleaned[field] for field in self._use.fields}
        client = AclClient(cleaned["principal"], names, cleaned.get("creates", False), host)
        cleaned["rules"] = tuple(dict.fromkeys(self._use.rules(client)))
        for field in self._use.fields:
            if not names_in(names[field]):
                self.add_error(field, "Give at least one name.")
        for why in dict.fromkeys(filter(None, map(rule_refusal, cleaned["rules"]))):
            self.add_error("principal" if "principal" in why else self._use.fields[0], why)
        return cleaned


class RuleFileForm(forms.Form):
    text = forms.CharField(
        label="Rules", required=False, max_length=BYTES_MAX, widget=forms.Textarea({"rows": 10, "spellcheck": "false"})
    )
    upload = forms.FileField(label="or a file", required=False, max_length=200)
    prune = forms.BooleanField(label="Take away every rule that the file does not have", required=False)

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if self.errors:
            return cleaned
        try:
            cleaned["rules"] = rules_in(self._text_of(cleaned))
        except RuleFileError as error:
            for problem in error.problems:
                self.add_error("text", problem)
        return cleaned

    @staticmethod
    def _text_of(cleaned: dict[str, Any]) -> str:
        upload = cleaned.get("upload")
        if upload is None:
            return str(cleaned["text"])
        if upload.size > BYTES_MAX:
            raise RuleFileError(f"A file has at most {BYTES_MAX >> 20} MB.")
        return upload.read().decode("utf-8", "replace")
