import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Drill",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("running", "Running"),
                            ("paused", "Paused"),
                            ("done", "Done"),
                            ("called off", "Called Off"),
                        ],
                        default="running",
                        max_length=12,
                    ),
                ),
                ("sentence", models.CharField(blank=True, max_length=500)),
                ("actor_name", models.CharField(max_length=150)),
                ("started_at", models.DateTimeField(auto_now_add=True)),
                ("ended_at", models.DateTimeField(null=True)),
                ("fault", models.CharField(max_length=6)),
                ("chosen_as", models.CharField(max_length=300)),
                ("name", models.CharField(max_length=60)),
                ("broker_id", models.IntegerField(null=True)),
                ("seconds", models.IntegerField()),
                ("phase", models.CharField(default="looking", max_length=12)),
                ("is_called_off", models.BooleanField(default=False)),
                ("early", models.CharField(blank=True, max_length=300)),
                ("began_ms", models.BigIntegerField()),
                ("phase_ms", models.BigIntegerField()),
                ("fault_ms", models.BigIntegerField(null=True)),
                ("back_ms", models.BigIntegerField(null=True)),
                ("target", models.JSONField(default=dict)),
                ("holder_token", models.CharField(blank=True, max_length=40)),
                ("expected", models.JSONField(default=dict)),
                ("samples", models.JSONField(default=list)),
                ("groups", models.JSONField(default=dict)),
                ("unwatched", models.IntegerField(default=0)),
                ("rows", models.JSONField(default=list)),
                (
                    "actor",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "abstract": False,
                "constraints": [
                    models.UniqueConstraint(
                        models.Value(1),
                        condition=models.Q(("state__in", ["running", "paused"])),
                        name="one_drill_at_a_time",
                    )
                ],
            },
        ),
    ]
