"""A subscription to client metrics as a person types it."""

from django import forms

from console.kit.plans.setting import plain_value


class SubscriptionForm(forms.Form):
    """Empty settings are left to their defaults. The cluster judges the values."""

    name = forms.CharField(max_length=249, label="Name")
    interval_ms = forms.CharField(max_length=40, required=False, label="Push interval (interval.ms)")
    metrics = forms.CharField(max_length=2_000, required=False, label="Metrics (metrics)")
    match = forms.CharField(max_length=2_000, required=False, label="Clients (match)")
    delete = forms.BooleanField(required=False, widget=forms.HiddenInput)

    @property
    def wanted(self) -> dict[str, str]:
        """Return the typed texts by Kafka's keys; an interval may have a unit, as in `30 s`."""
        typed = self.cleaned_data
        return {
            "interval.ms": plain_value("interval.ms", typed["interval_ms"]),
            "metrics": typed["metrics"],
            "match": typed["match"],
        }

    @property
    def fields_again(self) -> list[tuple[str, str]]:
        """Return what confirms the plan beside its digest."""
        return [(name, str(value)) for name, value in self.cleaned_data.items() if value]
