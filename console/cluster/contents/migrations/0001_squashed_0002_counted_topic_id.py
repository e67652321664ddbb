from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Counted",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("topic", models.CharField(max_length=249)),
                ("topic_id", models.CharField(blank=True, default="", max_length=36)),
                ("hidden", models.CharField(max_length=64)),
                ("at_ms", models.BigIntegerField(db_index=True)),
                ("actor_name", models.CharField(max_length=150)),
                ("window", models.CharField(max_length=100)),
                ("ended", models.CharField(max_length=100)),
                ("found", models.JSONField(default=dict)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("topic", "hidden"), name="contents_counted_once")],
            },
        ),
    ]
