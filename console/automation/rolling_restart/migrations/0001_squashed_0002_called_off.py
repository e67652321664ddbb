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
            name="RollingRestart",
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
                ("accepts_gaps", models.BooleanField(default=False)),
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
                "verbose_name": "rolling restart",
                "ordering": ["-id"],
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="RestartedBroker",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.IntegerField()),
                ("name", models.CharField(max_length=60)),
                ("broker_id", models.IntegerField()),
                ("progress", models.CharField(default="waiting", max_length=15)),
                ("asked_at", models.DateTimeField(null=True)),
                ("back_at", models.DateTimeField(null=True)),
                ("done_at", models.DateTimeField(null=True)),
                (
                    "restart",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="brokers",
                        to="rolling_restart.rollingrestart",
                    ),
                ),
            ],
            options={
                "ordering": ["position"],
            },
        ),
        migrations.AddConstraint(
            model_name="rollingrestart",
            constraint=models.UniqueConstraint(
                models.Value(1),
                condition=models.Q(("state__in", ["running", "paused"])),
                name="one_rolling_restart_at_a_time",
            ),
        ),
    ]
