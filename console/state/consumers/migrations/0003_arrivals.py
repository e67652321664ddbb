"""How much arrives is kept beside how a lag changes; verdicts came in between, so their stored numbers follow."""

from django.db import migrations, models

SEVERITIES = {
    name: number
    for number, name in enumerate(
        (
            "ok",
            "idle",
            "catching up",
            "unknown",
            "abandoned",
            "went back",
            "no commit",
            "slow",
            "stopped",
            "stalled",
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
    dependencies = [("consumers", "0002_severities")]
    operations = [
        migrations.AddField("consumergroup", "arriving_per_second", models.FloatField(null=True)),
        migrations.RunPython(number_anew, migrations.RunPython.noop),
    ]
