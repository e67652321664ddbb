from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="ClusterSample",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at_ms", models.BigIntegerField(db_index=True)),
                ("records_per_second", models.FloatField(null=True)),
                ("bytes_per_second", models.FloatField(null=True)),
                ("lag", models.BigIntegerField(null=True)),
            ],
            options={
                "ordering": ["at_ms"],
            },
        ),
        migrations.CreateModel(
            name="ClusterState",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100, unique=True)),
                ("cluster_id", models.CharField(blank=True, max_length=64)),
                ("controller_id", models.IntegerField(null=True)),
                ("heartbeat_at_ms", models.BigIntegerField(default=0)),
                ("brokers_at_ms", models.BigIntegerField(default=0)),
                ("brokers_error", models.TextField(blank=True)),
                ("zookeeper_at_ms", models.BigIntegerField(default=0)),
                ("zookeeper", models.JSONField(default=list)),
                ("topics_at_ms", models.BigIntegerField(default=0)),
                ("topics_error", models.TextField(blank=True)),
                ("groups_at_ms", models.BigIntegerField(default=0)),
                ("groups_error", models.TextField(blank=True)),
                ("processes_at_ms", models.BigIntegerField(default=0)),
                ("connectors_at_ms", models.BigIntegerField(default=0)),
                ("connectors_error", models.TextField(blank=True)),
                ("records_per_second", models.FloatField(null=True)),
                ("rate_history", models.JSONField(default=list)),
            ],
        ),
        migrations.CreateModel(
            name="QuietReason",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=700, unique=True)),
                ("kind", models.CharField(max_length=12)),
                ("about", models.CharField(max_length=10)),
                ("name", models.CharField(blank=True, max_length=255)),
                ("text", models.CharField(max_length=500)),
                ("level", models.CharField(max_length=10)),
                ("weight", models.BigIntegerField(default=0)),
                ("parts", models.JSONField(default=list)),
                ("actor_name", models.CharField(max_length=150)),
                ("why", models.CharField(max_length=200)),
                ("since_ms", models.BigIntegerField()),
                ("until_ms", models.BigIntegerField(null=True)),
            ],
            options={
                "ordering": ["id"],
            },
        ),
    ]
