"""What a person says of a new token."""

from typing import Any

from django import forms
from django.contrib.auth.models import User

from console.kit.access.api_tokens import DAYS_MAX, SCOPES, TOKENS_MAX
from console.kit.access.clusters import visible_clusters
from console.kit.access.models import ApiToken
from console.kit.common.form_choices import set_choices


class TokenForm(forms.Form):
    name = forms.CharField(max_length=60, label="What it is for")
    scopes = forms.MultipleChoiceField(
        choices=SCOPES.items(), initial=["read"], widget=forms.CheckboxSelectMultiple, label="What it opens"
    )
    days = forms.IntegerField(min_value=1, max_value=DAYS_MAX, initial=90, label="Days until it ends")

    clusters = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, label="In which clusters; in all, if none is chosen"
    )

    def __init__(self, person: User, *arguments: Any, **named: Any):
        super().__init__(*arguments, **named)
        self._person = person
        set_choices(self, "clusters", [(cluster.name, cluster.title) for cluster in visible_clusters(person)])

    def clean_name(self) -> str:
        name = self.cleaned_data["name"]
        if ApiToken.objects.filter(user=self._person, name=name).exists():
            raise forms.ValidationError("You have a token of this name already.")
        return name

    def clean(self) -> dict[str, Any] | None:
        if ApiToken.objects.filter(user=self._person).count() >= TOKENS_MAX:
            raise forms.ValidationError(f"You have {TOKENS_MAX} tokens, which is the most there can be: end one first.")
        return super().clean()
