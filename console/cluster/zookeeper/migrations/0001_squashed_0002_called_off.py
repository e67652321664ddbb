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
            name="EnsembleChange",
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
                (
                    "kind",
                    models.CharField(
                        choices=[("grow", "grow"), ("shrink", "shrink"), ("replace", "replace")], max_length=10
                    ),
                ),
                ("joining_servers", models.JSONField(default=list)),
                ("leaving", models.JSONField(default=list)),
                ("stage", models.IntegerField(default=0)),
                ("is_called_off", models.BooleanField(default=False)),
                ("asked_at", models.DateTimeField(null=True)),
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
                "verbose_name": "change of ensemble",
                "ordering": ["-id"],
                "abstract": False,
                "constraints": [
                    models.UniqueConstraint(
                        models.Value(1),
                        condition=models.Q(("state__in", ["running", "paused"])),
                        name="one_ensemble_change_at_a_time",
                    )
                ],
            },
        ),
    ]
