from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="MirroredTopic",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("cluster", models.CharField(blank=True, default="", max_length=100)),
                ("flow", models.CharField(max_length=201)),
                ("topic", models.CharField(max_length=249)),
                ("target", models.CharField(max_length=249)),
                ("partitions", models.JSONField(default=dict)),
                ("lag", models.BigIntegerField(null=True)),
                ("rate", models.FloatField(default=0.0)),
                ("records", models.BigIntegerField(default=0)),
                ("bytes", models.BigIntegerField(default=0)),
                ("skipped", models.BigIntegerField(default=0)),
                ("copied_until_ms", models.BigIntegerField(null=True)),
                ("failing", models.IntegerField(default=0)),
                ("error", models.TextField(blank=True)),
                ("at_ms", models.BigIntegerField(default=0)),
            ],
            options={
                "ordering": ["flow", "cluster", "topic"],
                "constraints": [models.UniqueConstraint(fields=("cluster", "flow", "topic"), name="mirrored_topic")],
            },
        ),
    ]
