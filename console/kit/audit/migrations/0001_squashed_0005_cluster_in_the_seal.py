import django.db.models.deletion
from django.apps.registry import Apps
from django.conf import settings
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from console.kit.audit.chain import NO_SEAL
from console.kit.audit.record import THE_END


def begin_the_chain(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    apps.get_model("audit", "AuditEnd").objects.create(pk=THE_END, seal=NO_SEAL, count=0)


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="AuditEnd",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("seal", models.CharField(blank=True, max_length=64)),
                ("count", models.BigIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name="Tally",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("minute", models.DateTimeField(db_index=True)),
                ("actor_number", models.BigIntegerField(default=0)),
                ("cluster", models.CharField(blank=True, max_length=40)),
                ("action", models.CharField(max_length=100)),
                ("object_type", models.CharField(max_length=50)),
                ("object_name", models.CharField(max_length=255)),
                ("place", models.CharField(blank=True, max_length=50)),
                ("result", models.CharField(max_length=20)),
                ("times", models.PositiveIntegerField(default=1)),
                ("first_partition", models.IntegerField(null=True)),
                ("last_partition", models.IntegerField(null=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("minute", "actor_number", "cluster", "action", "object_type", "object_name", "place"),
                        name="one_tally",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="AuditEvent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(db_index=True)),
                ("actor_name", models.CharField(max_length=150)),
                ("actor_number", models.BigIntegerField(null=True)),
                ("actor_identity", models.CharField(blank=True, max_length=600)),
                ("cluster", models.CharField(blank=True, max_length=40)),
                ("action", models.CharField(max_length=100)),
                ("object_type", models.CharField(max_length=50)),
                ("object_name", models.CharField(max_length=255)),
                ("before", models.JSONField(null=True)),
                ("after", models.JSONField(null=True)),
                ("result", models.CharField(max_length=20)),
                ("detail", models.TextField(blank=True)),
                ("previous_seal", models.CharField(blank=True, max_length=64)),
                ("seal", models.CharField(max_length=64)),
                ("version", models.PositiveSmallIntegerField(default=1)),
                (
                    "actor",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [models.Index(fields=["object_type", "object_name"], name="audit_object")],
            },
        ),
        migrations.RunPython(begin_the_chain, migrations.RunPython.noop),
    ]
