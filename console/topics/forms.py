"""What a person may type about a topic. The cluster has the last word; this only spares it what cannot be right."""

from django import forms
from django.core.validators import RegexValidator

from console.gateway.interface import PARTITIONS_PER_TOPIC_MAX, TOPIC_NAME_LENGTH_MAX
from console.topics.models import Topic

LEGAL_NAME = RegexValidator(
    r"^(?!\.{1,2}$)[a-zA-Z0-9._-]+$", "Letters, digits, '.', '_' and '-' only, and not just '.' or '..'."
)


class CreateTopicForm(forms.Form):
    name = forms.CharField(max_length=TOPIC_NAME_LENGTH_MAX, validators=[LEGAL_NAME])
    partition_count = forms.IntegerField(label="Partitions", min_value=1, max_value=PARTITIONS_PER_TOPIC_MAX, initial=3)
    replication_factor = forms.IntegerField(min_value=1, max_value=100, initial=1)

    def clean_name(self) -> str:
        """Kafka forbids two names that differ only in '.' and '_': their metrics could not be told apart."""
        name = self.cleaned_data["name"]
        pattern = f"^{''.join('[._]' if letter in '._' else letter for letter in name)}$"
        twin = Topic.objects.filter(name__regex=pattern).first()
        if twin is None:
            return name
        if twin.name == name:
            raise forms.ValidationError("A topic of this name exists already.")
        raise forms.ValidationError(f"Kafka cannot tell this name from {twin.name} ('.' and '_' collide in metrics).")


class AddPartitionsForm(forms.Form):
    partition_count = forms.IntegerField(label="Partitions then", min_value=1, max_value=PARTITIONS_PER_TOPIC_MAX)
