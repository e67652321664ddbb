"""Whom a quota is for and how much it is, as a person types it."""

from collections.abc import Mapping
from typing import Any

from django import forms

from console.cluster.quotas.amounts import hint, label, value_of
from console.cluster.quotas.queries import NAME_LENGTH_MAX
from console.kit.gateway.quotas.interface import (
    LABEL_ORDER,
    EntityType,
    QuotaEntity,
    entity_of,
    keys_of,
    value_refusal,
    value_text,
)

ABOUT = {
    "user": "A user",
    "client-id": "A client id, of any user",
    "user client-id": "A client id of a user",
    "ip": "An address",
}


class QuotaForm(forms.Form):
    """Names that are left empty mean the default entity. Empty amounts: no quota of that kind."""

    about = forms.ChoiceField(label="For", choices=ABOUT.items())
    user = forms.CharField(max_length=NAME_LENGTH_MAX, required=False, label="User", strip=False)
    client_id = forms.CharField(max_length=NAME_LENGTH_MAX, required=False, label="Client id", strip=False)
    ip = forms.CharField(max_length=255, required=False, label="Address")

    def __init__(self, *args: Any, **named: Any):
        super().__init__(*args, **named)
        for key in LABEL_ORDER:
            self.fields[key] = forms.CharField(
                label=label(key), required=False, max_length=40, help_text=hint(key), initial=""
            )

    @property
    def amounts(self) -> list[forms.BoundField]:
        return [self[key] for key in LABEL_ORDER]

    def clean(self) -> dict[str, object]:
        cleaned = super().clean() or {}
        if "about" not in cleaned:
            return cleaned
        self.entity = self._entity(cleaned)
        self.wanted: dict[str, float | None] = {}
        fitting = keys_of(self.entity)
        for key in LABEL_ORDER:
            typed = cleaned.get(key, "").strip()
            if key in fitting:
                self.wanted[key] = self._amount(key, typed) if typed else None
            elif typed:
                has = "addresses" if key in keys_of(QuotaEntity(ip="")) else "users and client ids"
                self.add_error(key, f"Only {has} have this quota.")
        return cleaned

    @property
    def fields_again(self) -> list[tuple[str, object]]:
        """The form fields that make the same plan again."""
        return [(name, self.cleaned_data.get(name, "")) for name in self.fields]

    def _entity(self, cleaned: Mapping[str, object]) -> QuotaEntity:
        named = {EntityType.USER: "user", EntityType.CLIENT_ID: "client_id", EntityType.IP: "ip"}
        kinds = [EntityType(part) for part in str(cleaned["about"]).split()]
        for kind, field in named.items():
            if cleaned.get(field) and kind not in kinds:
                self.add_error(field, f"“{ABOUT[str(cleaned['about'])]}” has none of these.")
        return entity_of((str(kind), str(cleaned.get(named[kind]) or "") or None) for kind in kinds)

    def _amount(self, key: str, typed: str) -> float | None:
        value = value_of(key, typed)
        refusal = "This is no amount." if value is None else value_refusal(key, value)
        if refusal:
            self.add_error(key, refusal)
            return None
        # As it will be told again, so that nothing differs that is the same.
        return float(value_text(key, value or 0.0))


def initial_of(entity: QuotaEntity, values: Mapping[str, float]) -> dict[str, object]:
    """Return the form as it would have been filled in for these."""
    named = dict(entity.parts)
    initial: dict[str, object] = {"about": " ".join(named)}
    initial |= {"user": named.get("user") or "", "client_id": named.get("client-id") or "", "ip": named.get("ip") or ""}
    return initial | {key: value_text(key, value) for key, value in values.items()}
