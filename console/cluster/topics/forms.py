"""What a person may type about a topic. The cluster has the last word; this only spares it what cannot be right."""

from collections.abc import Callable, Mapping
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.core.validators import RegexValidator

from console.cluster.topics.creation import Wish
from console.cluster.topics.names import LEGAL
from console.cluster.topics.own_settings import SettingsError, parse_settings
from console.kit.access.internal_names import ONLY_ADMINISTRATORS
from console.kit.access.reach import Resource
from console.kit.access.rights import Right, reach_of
from console.kit.gateway.interface import PARTITIONS_PER_TOPIC_MAX, TOPIC_NAME_LENGTH_MAX
from console.state.clusters.models import Topic

LEGAL_NAME = RegexValidator(LEGAL, "Letters, digits, '.', '_' and '-' only, and not just '.' or '..'.")


class CreateTopicForm(forms.Form):
    name = forms.CharField(max_length=TOPIC_NAME_LENGTH_MAX, validators=[LEGAL_NAME])
    partition_count = forms.IntegerField(label="Partitions", min_value=1, max_value=PARTITIONS_PER_TOPIC_MAX, initial=3)
    replication_factor = forms.IntegerField(min_value=1, max_value=100, initial=1)
    configs = forms.CharField(
        label="Settings of its own",
        required=False,
        max_length=20_000,
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false", "class": "mono"}),
    )

    def __init__(self, user: User, *args: Any, judge: Callable[[Wish], list[str]] | None = None, **named: Any):
        """`judge` returns a sentence for each setting that the cluster refuses; None: it is not asked."""
        super().__init__(*args, **named)
        self._reach = reach_of(user)
        self._judge = judge
        self._settings: Mapping[str, str] = {}
        if not self.is_bound:
            self.fields["name"].widget.attrs["autofocus"] = True

    def clean_name(self) -> str:
        """Refuse a name that differs from another in '.' and '_' only: their metrics could not be told apart."""
        name = self.cleaned_data["name"]
        if Right.OPERATE not in self._reach.rights_on(Resource.TOPIC, name):
            raise forms.ValidationError("Your rights do not reach a topic of this name.")
        if not self._reach.may_change_topic(name):
            raise forms.ValidationError(f"{ONLY_ADMINISTRATORS} To make one is for administrators, too.")
        pattern = f"^{''.join('[._]' if letter in '._' else letter for letter in name)}$"
        twin = Topic.objects.filter(name__regex=pattern).first()
        if twin is None:
            return name
        if twin.name == name:
            raise forms.ValidationError("A topic of this name exists already.")
        is_seen = Right.VIEW in self._reach.rights_on(Resource.TOPIC, twin.name)
        known_as = twin.name if is_seen else "that of another topic"
        raise forms.ValidationError(f"Kafka cannot tell this name from {known_as} ('.' and '_' collide in metrics).")

    def clean_configs(self) -> dict[str, str]:
        try:
            self._settings = parsed = parse_settings(self.cleaned_data["configs"])
        except SettingsError as error:
            self._settings = error.settings
            raise forms.ValidationError(error.sentences) from error
        return parsed

    def clean(self) -> dict[str, Any]:
        """Validate the settings with the cluster, besides unparsable lines."""
        cleaned = super().clean() or {}
        counts = ("partition_count", "replication_factor")
        if self._judge is None or not self._settings or any(field not in cleaned for field in ("name", *counts)):
            return cleaned
        partitions, replicas = (cleaned[field] for field in counts)
        if refused := self._judge(Wish(cleaned["name"], partitions, replicas, self._settings)):
            self.add_error("configs", forms.ValidationError(refused))
        return cleaned


class AddPartitionsForm(forms.Form):
    partition_count = forms.IntegerField(label="Partitions then", min_value=1, max_value=PARTITIONS_PER_TOPIC_MAX)
