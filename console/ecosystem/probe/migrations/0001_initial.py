"""What the probe said last, and its minutes and hours."""

from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="ProbeState",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at_ms", models.BigIntegerField(default=0)),
                ("error", models.TextField(blank=True)),
                ("error_since_ms", models.BigIntegerField(default=0)),
                ("topic", models.CharField(blank=True, max_length=249)),
                ("brokers", models.JSONField(default=list)),
                ("partitions", models.JSONField(default=list)),
                ("troubled", models.JSONField(default=list)),
                ("mirror", models.JSONField(default=list)),
                ("lost", models.IntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name="ProbeWindow",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("tier", models.SmallIntegerField()),
                ("begins_ms", models.BigIntegerField()),
                ("whole", models.JSONField(default=dict)),
                ("parts", models.JSONField(default=dict)),
                ("silent", models.JSONField(default=list)),
            ],
            options={
                "ordering": ["begins_ms"],
                "constraints": [models.UniqueConstraint(fields=("tier", "begins_ms"), name="probe_window")],
            },
        ),
    ]
