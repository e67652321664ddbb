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
            name="ChangeRule",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=60, unique=True)),
                ("said", models.JSONField(default=dict)),
                ("actor_name", models.CharField(max_length=150)),
                ("changed_at", models.DateTimeField(auto_now=True)),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="ProposedChange",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("actor_name", models.CharField(max_length=150)),
                ("reason", models.CharField(blank=True, max_length=500)),
                ("sentence", models.CharField(max_length=2000)),
                ("rules", models.JSONField(default=list)),
                ("needs_person", models.BooleanField(default=True)),
                ("action", models.CharField(max_length=100)),
                ("object_type", models.CharField(max_length=50)),
                ("object_name", models.CharField(max_length=1024)),
                ("about", models.JSONField(default=list)),
                ("path", models.CharField(max_length=4096)),
                ("query", models.JSONField(default=list)),
                ("form", models.JSONField(default=list)),
                ("content", models.CharField(max_length=64)),
                ("lines", models.JSONField(default=list)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "waiting"),
                            ("doing", "being carried out"),
                            ("done", "done"),
                            ("discarded", "discarded"),
                            ("expired", "expired"),
                        ],
                        default="waiting",
                        max_length=10,
                    ),
                ),
                ("decided_at", models.DateTimeField(null=True)),
                ("decided_by", models.CharField(blank=True, max_length=150)),
                ("outcome", models.CharField(blank=True, max_length=2000)),
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
                "indexes": [models.Index(fields=["state", "expires_at"], name="proposed_waiting")],
            },
        ),
    ]
