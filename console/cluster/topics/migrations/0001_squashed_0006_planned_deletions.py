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
            name="Topic",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=249, unique=True)),
                ("topic_id", models.CharField(blank=True, max_length=36)),
                ("is_internal", models.BooleanField(default=False)),
                ("partition_count", models.IntegerField(default=0)),
                ("replication_factor", models.IntegerField(default=0)),
                ("min_insync_replicas", models.IntegerField(null=True)),
                ("under_min_isr_count", models.IntegerField(default=0)),
                ("under_replicated_count", models.IntegerField(default=0)),
                ("leaderless_count", models.IntegerField(default=0)),
                ("record_count", models.BigIntegerField(default=0)),
                ("records_per_second", models.FloatField(null=True)),
                ("read_per_second", models.FloatField(null=True)),
                ("size_bytes", models.BigIntegerField(default=0)),
                ("last_record_at_ms", models.BigIntegerField(default=0)),
                ("retention_ms", models.BigIntegerField(null=True)),
                ("cleanup_policy", models.CharField(blank=True, max_length=40)),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="PlannedDeletion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("topic", models.CharField(max_length=249)),
                ("topic_id", models.CharField(max_length=36)),
                ("at", models.DateTimeField()),
                ("due_at", models.DateTimeField()),
                ("actor_name", models.CharField(max_length=150)),
                ("record_count", models.BigIntegerField()),
                ("size_bytes", models.BigIntegerField()),
                ("ends", models.JSONField()),
                ("places", models.JSONField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "will be deleted"),
                            ("doing", "is being deleted"),
                            ("kept", "kept"),
                            ("deleted", "deleted"),
                            ("called off", "called off"),
                        ],
                        default="waiting",
                        max_length=10,
                    ),
                ),
                ("outcome", models.CharField(blank=True, max_length=1000)),
                ("decided_at", models.DateTimeField(null=True)),
                ("decided_by", models.CharField(blank=True, max_length=150)),
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
                (
                    "approver",
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
                "indexes": [models.Index(fields=["state", "due_at"], name="planned_deletion_due")],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ["waiting", "doing", "kept"])),
                        fields=("topic",),
                        name="planned_deletion_open",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Partition",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("partition", models.IntegerField()),
                ("leader", models.IntegerField(null=True)),
                ("leader_epoch", models.IntegerField(null=True)),
                ("replicas", models.JSONField(default=list)),
                ("isr", models.JSONField(default=list)),
                ("adding", models.JSONField(default=list)),
                ("first_offset", models.BigIntegerField(null=True)),
                ("next_offset", models.BigIntegerField(null=True)),
                ("records_per_second", models.FloatField(null=True)),
                ("sizes", models.JSONField(default=list)),
                (
                    "topic",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="partitions", to="topics.topic"
                    ),
                ),
            ],
            options={
                "ordering": ["partition"],
                "constraints": [models.UniqueConstraint(fields=("topic", "partition"), name="partition_of_topic")],
            },
        ),
    ]
