"""What a person says about a topic that is to be sized; amounts as people write them."""

from collections.abc import Callable

from django import forms

from broker.cli.topics.sizing import TopicDemand, bytes_of_text, milliseconds_of_text


class _Amount(forms.CharField):
    """A text that `parse` makes a number of; its ValueError says how to write it."""

    def __init__(self, parse: Callable[[str], float], *, label: str, required: bool = True, initial: str = ""):
        super().__init__(max_length=30, label=label, required=required, initial=initial)
        self._parse = parse

    def clean(self, value: object) -> float | None:
        text = super().clean(value)
        if not text:
            return None
        try:
            return self._parse(text)
        except ValueError as error:
            sentence = str(error)
            raise forms.ValidationError(f"{sentence[0].upper()}{sentence[1:]}.") from None


class SizeForm(forms.Form):
    throughput = _Amount(bytes_of_text, label="What it shall take, a second")
    consumer_throughput = _Amount(bytes_of_text, required=False, label="What one consumer can do in one partition")
    producer_throughput = _Amount(bytes_of_text, required=False, label="What one producer can do in one partition")
    growth = forms.FloatField(label="Times that, later", min_value=1, max_value=1_000, initial=1)
    consumers = forms.IntegerField(label="Consumers of its largest group", min_value=1, max_value=100_000, initial=1)
    replication_factor = forms.IntegerField(label="Replicas", min_value=1, max_value=100, initial=3)
    retention = _Amount(milliseconds_of_text, label="Kept for", initial="7d")
    head_room = forms.IntegerField(label="Head-room on disks, %", min_value=0, max_value=1_000, initial=40)

    def demand(self, partitions: int) -> TopicDemand:
        """Return the demand. `partitions`: existing ones, or 0."""
        fields = self.cleaned_data
        return TopicDemand(
            throughput=fields["throughput"],
            consumer_throughput=fields["consumer_throughput"],
            producer_throughput=fields["producer_throughput"],
            growth=fields["growth"],
            consumers=fields["consumers"],
            replication_factor=fields["replication_factor"],
            retention_ms=int(fields["retention"]),
            head_room=fields["head_room"] / 100,
            partitions=partitions,
        )
