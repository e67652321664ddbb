"""What a person types about a new broker; the broker's kind and the plan say what is wrong with it."""

from django import forms

from console.processes.kinds.broker import BROKER_ID_MAX


class AddBrokerForm(forms.Form):
    broker_id = forms.IntegerField(label="Broker id", min_value=0, max_value=BROKER_ID_MAX)
    port = forms.IntegerField(min_value=1, max_value=65_535)
    log_dirs = forms.CharField(
        label="Directories", max_length=8_000, widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false"})
    )
    rack = forms.CharField(required=False, max_length=200)
