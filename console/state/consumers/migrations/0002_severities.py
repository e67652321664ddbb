"""A verdict came in between: the stored numbers that lists are sorted by follow."""

from django.db import migrations

SEVERITIES = {
    name: number
    for number, name in enumerate(
        (
            "ok",
            "idle",
            "no commit",
            "unknown",
            "slow",
            "stopped",
            "stalled",
            "went back",
            "beyond the end",
            "lost records",
        )
    )
}


def number_anew(apps, schema_editor):
    groups = apps.get_model("consumers", "ConsumerGroup").objects
    for verdict, severity in SEVERITIES.items():
        groups.filter(verdict=verdict).update(severity=severity)


class Migration(migrations.Migration):
    dependencies = [("consumers", "0001_initial")]
    operations = [migrations.RunPython(number_anew, migrations.RunPython.noop)]
