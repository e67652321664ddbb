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
            name="StagedMove",
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
                ("action", models.CharField(max_length=100)),
                ("object_type", models.CharField(max_length=20)),
                ("object_name", models.CharField(max_length=255)),
                ("former", models.JSONField()),
                ("wanted", models.JSONField()),
                ("topic_ids", models.JSONField(default=dict)),
                ("partition_count", models.IntegerField()),
                ("left", models.IntegerField()),
                ("batch_size", models.IntegerField()),
                ("batches", models.IntegerField(default=0)),
                ("rate", models.BigIntegerField(null=True)),
                ("begins_at", models.DateTimeField(null=True)),
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
                "verbose_name": "staged move",
                "ordering": ["-id"],
                "abstract": False,
            },
        ),
    ]
