import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="AuditedTopic",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=249, unique=True)),
                ("complete_until_ms", models.BigIntegerField(null=True)),
                ("window_ms", models.BigIntegerField(default=60000)),
                ("windows", models.JSONField(default=list)),
                ("findings", models.JSONField(default=list)),
                ("finding_count", models.IntegerField(default=0)),
                ("late_count", models.IntegerField(default=0)),
                ("at_ms", models.BigIntegerField(default=0)),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="AuditPosition",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("partition", models.IntegerField(unique=True)),
                ("offset", models.BigIntegerField()),
                ("topic_id", models.CharField(blank=True, max_length=36)),
            ],
        ),
        migrations.CreateModel(
            name="DeliverySeries",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("topic", models.CharField(max_length=249)),
                ("tier", models.CharField(max_length=12)),
                ("reader", models.CharField(max_length=512)),
                ("first_ms", models.BigIntegerField()),
                ("at_ms", models.BigIntegerField(default=0)),
                ("window_ms", models.BigIntegerField(default=60000)),
                ("expected", models.BigIntegerField(null=True)),
                ("received", models.BigIntegerField(null=True)),
                ("again", models.BigIntegerField(null=True)),
                ("aside", models.BigIntegerField(null=True)),
                ("delivered", models.FloatField(null=True)),
                ("p50_ms", models.FloatField(null=True)),
                ("p95_ms", models.FloatField(null=True)),
                ("p99_ms", models.FloatField(null=True)),
                ("most_ms", models.FloatField(null=True)),
                ("early", models.BigIntegerField(default=0)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("topic", "tier", "reader"), name="delivery_of_reader")],
            },
        ),
        migrations.CreateModel(
            name="DeliveryRow",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("tier", models.SmallIntegerField()),
                ("begins_ms", models.BigIntegerField()),
                ("points", models.BinaryField()),
                (
                    "series",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="rows",
                        to="completeness.deliveryseries",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["tier", "begins_ms"], name="delivery_by_age")],
                "constraints": [
                    models.UniqueConstraint(fields=("series", "tier", "begins_ms"), name="row_of_delivery")
                ],
            },
        ),
    ]
