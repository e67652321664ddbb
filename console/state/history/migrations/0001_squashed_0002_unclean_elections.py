from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Change",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at_ms", models.BigIntegerField(db_index=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("leader", "leader"),
                            ("isr", "in-sync replicas"),
                            ("replicas", "replicas"),
                            ("broker", "broker"),
                            ("controller", "controller"),
                            ("unclean", "unclean election"),
                            ("topic", "topic"),
                            ("process", "process"),
                        ],
                        max_length=12,
                    ),
                ),
                ("object_name", models.CharField(max_length=249)),
                ("partition", models.IntegerField(null=True)),
                ("sentence", models.CharField(max_length=700)),
                ("tone", models.CharField(max_length=10)),
            ],
            options={
                "ordering": ["-at_ms", "-id"],
                "indexes": [
                    models.Index(fields=["object_name", "-at_ms"], name="history_object"),
                    models.Index(condition=models.Q(("kind", "unclean")), fields=["-at_ms"], name="history_unclean"),
                ],
            },
        ),
    ]
