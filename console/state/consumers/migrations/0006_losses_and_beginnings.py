from typing import Any

from django.db import migrations, models


def forget_counts(apps: Any, editor: Any) -> None:
    """Clear counts of lost records: they were of the present log start, and the collector counts anew."""
    for name in ("ConsumerGroup", "GroupPartition"):
        rows = apps.get_model("consumers", name).objects.using(editor.connection.alias)
        rows.exclude(lost=0).update(lost=0)


class Migration(migrations.Migration):
    dependencies = [
        ("consumers", "0005_group_types"),
    ]

    operations = [
        migrations.AddField(
            model_name="consumergroup",
            name="empty_since_ms",
            field=models.BigIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="consumergroup",
            name="lost_at_ms",
            field=models.BigIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="consumergroup",
            name="lost_since_ms",
            field=models.BigIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="consumergroup",
            name="read_per_second",
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name="consumergroup",
            name="verdict_since_ms",
            field=models.BigIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="grouppartition",
            name="lost_at_ms",
            field=models.BigIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="grouppartition",
            name="lost_since_ms",
            field=models.BigIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="grouppartition",
            name="lost_until",
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="grouppartition",
            name="read_per_second",
            field=models.FloatField(null=True),
        ),
        migrations.RunPython(forget_counts, migrations.RunPython.noop),
    ]
