from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="KeptRule",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=60, unique=True)),
                ("said", models.JSONField(default=dict)),
                ("actor_name", models.CharField(max_length=150)),
                ("changed_ms", models.BigIntegerField()),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="RuleSilence",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("rule", models.CharField(max_length=60, unique=True)),
                ("until_ms", models.BigIntegerField()),
                ("actor_name", models.CharField(max_length=150)),
                ("why", models.CharField(blank=True, max_length=300)),
            ],
        ),
        migrations.CreateModel(
            name="Alert",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("rule", models.CharField(max_length=60)),
                ("object_name", models.CharField(max_length=512)),
                (
                    "state",
                    models.CharField(
                        choices=[("pending", "pending"), ("firing", "firing"), ("resolved", "resolved")], max_length=10
                    ),
                ),
                ("severity", models.CharField(max_length=10)),
                ("sentence", models.CharField(max_length=1000)),
                ("link", models.CharField(blank=True, max_length=2000)),
                ("since_ms", models.BigIntegerField()),
                ("seen_ms", models.BigIntegerField()),
                ("fired_ms", models.BigIntegerField(null=True)),
                ("fine_since_ms", models.BigIntegerField(null=True)),
                ("notified_ms", models.BigIntegerField(null=True)),
                ("is_escalated", models.BooleanField(default=False)),
                ("acknowledged_by", models.CharField(blank=True, max_length=150)),
                ("acknowledged_until_ms", models.BigIntegerField(null=True)),
            ],
            options={
                "ordering": ["-since_ms", "rule", "object_name"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state", "resolved"), _negated=True),
                        fields=("rule", "object_name"),
                        name="one_open_alert",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Delivery",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("channel", models.CharField(max_length=60)),
                ("rule", models.CharField(max_length=60)),
                (
                    "event",
                    models.CharField(
                        choices=[
                            ("fired", "fired"),
                            ("still firing", "still firing"),
                            ("escalated", "escalated"),
                            ("resolved", "resolved"),
                            ("test", "test"),
                        ],
                        max_length=20,
                    ),
                ),
                ("message", models.JSONField()),
                (
                    "result",
                    models.CharField(
                        choices=[("waiting", "waiting"), ("sent", "sent"), ("failed", "failed")],
                        default="waiting",
                        max_length=10,
                    ),
                ),
                ("created_ms", models.BigIntegerField()),
                ("due_ms", models.BigIntegerField()),
                ("sent_ms", models.BigIntegerField(null=True)),
                ("tries", models.IntegerField(default=0)),
                ("error", models.CharField(blank=True, max_length=300)),
            ],
            options={
                "ordering": ["-created_ms", "-id"],
                "indexes": [models.Index(fields=["result", "due_ms"], name="delivery_due")],
            },
        ),
    ]
