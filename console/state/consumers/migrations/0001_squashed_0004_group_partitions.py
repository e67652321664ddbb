import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="ConsumerGroup",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=1024, unique=True)),
                ("state", models.CharField(max_length=40)),
                ("protocol_type", models.CharField(blank=True, max_length=100)),
                ("coordinator", models.IntegerField()),
                ("member_count", models.IntegerField(default=0)),
                ("members", models.JSONField(default=list)),
                ("topics", models.JSONField(default=list)),
                ("partition_count", models.IntegerField(default=0)),
                ("lag", models.BigIntegerField(null=True)),
                ("behind_since_ms", models.BigIntegerField(null=True)),
                ("expires_at_ms", models.BigIntegerField(null=True)),
                ("lag_per_second", models.FloatField(null=True)),
                ("arriving_per_second", models.FloatField(null=True)),
                ("lost", models.BigIntegerField(default=0)),
                ("verdict", models.CharField(max_length=20)),
                ("severity", models.IntegerField(default=0)),
                ("is_silent", models.BooleanField(default=False)),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="GroupPartition",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("topic", models.CharField(db_index=True, max_length=249)),
                ("partition", models.IntegerField()),
                ("committed", models.BigIntegerField(null=True)),
                ("first_offset", models.BigIntegerField(null=True)),
                ("next_offset", models.BigIntegerField(null=True)),
                ("lag", models.BigIntegerField(null=True)),
                ("behind_since_ms", models.BigIntegerField(null=True)),
                ("expires_at_ms", models.BigIntegerField(null=True)),
                ("lost", models.BigIntegerField(default=0)),
                ("verdict", models.CharField(max_length=20)),
                ("member_id", models.CharField(blank=True, max_length=500)),
                (
                    "group",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="partitions",
                        to="consumers.consumergroup",
                    ),
                ),
            ],
            options={
                "ordering": ["topic", "partition"],
                "constraints": [
                    models.UniqueConstraint(fields=("group", "topic", "partition"), name="partition_of_group")
                ],
            },
        ),
        migrations.CreateModel(
            name="LagSample",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at_ms", models.BigIntegerField(db_index=True)),
                ("lag", models.BigIntegerField()),
                ("behind_ms", models.BigIntegerField(null=True)),
                (
                    "group",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="samples",
                        to="consumers.consumergroup",
                    ),
                ),
            ],
            options={
                "ordering": ["at_ms"],
                "indexes": [models.Index(fields=["group", "at_ms"], name="lag_of_group")],
            },
        ),
    ]
