from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="OngoingMove",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("topic", models.CharField(max_length=249)),
                ("partition", models.IntegerField()),
                ("replicas", models.JSONField(default=list)),
                ("adding", models.JSONField(default=list)),
                ("removing", models.JSONField(default=list)),
                ("size_bytes", models.BigIntegerField(default=0)),
                ("copied", models.JSONField(default=list)),
                ("bytes_per_second", models.FloatField(null=True)),
                ("since_ms", models.BigIntegerField(default=0)),
            ],
            options={
                "ordering": ["topic", "partition"],
                "constraints": [
                    models.UniqueConstraint(fields=("topic", "partition"), name="ongoing_move_of_partition")
                ],
            },
        ),
        migrations.CreateModel(
            name="Reassignment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("beginning", "Beginning"),
                            ("running", "Running"),
                            ("done", "Done"),
                            ("called off", "Called Off"),
                        ],
                        default="beginning",
                        max_length=12,
                    ),
                ),
                ("actor_name", models.CharField(max_length=150)),
                ("action", models.CharField(max_length=100)),
                ("object_name", models.CharField(max_length=255)),
                ("former", models.JSONField()),
                ("wanted", models.JSONField()),
                ("partition_count", models.IntegerField()),
                ("copied_bytes", models.BigIntegerField(default=0)),
                ("rate", models.BigIntegerField(null=True)),
                ("throttles", models.JSONField(null=True)),
                ("sentence", models.CharField(blank=True, max_length=500)),
                ("began_at", models.DateTimeField(auto_now_add=True)),
                ("ended_at", models.DateTimeField(null=True)),
            ],
            options={
                "ordering": ["-id"],
                "constraints": [
                    models.UniqueConstraint(
                        models.Value(1),
                        condition=models.Q(("rate__isnull", False), ("state__in", ["beginning", "running"])),
                        name="one_throttled_move_at_a_time",
                    )
                ],
            },
        ),
    ]
