from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="ManagedProcess",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.SlugField(max_length=60, unique=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("zookeeper", "ZooKeeper"),
                            ("broker", "broker"),
                            ("second", "second cluster"),
                            ("registry", "schema registry"),
                            ("connect", "Connect worker"),
                            ("mirror", "mirror"),
                            ("counter", "audit counter"),
                            ("stream", "stream job"),
                            ("probe", "probe"),
                        ],
                        max_length=20,
                    ),
                ),
                ("spec", models.JSONField(default=dict)),
                ("is_from_setup", models.BooleanField(default=False)),
                ("position", models.IntegerField(default=0)),
                ("host", models.CharField(max_length=255)),
                ("ports", models.JSONField(default=list)),
                ("desired", models.CharField(default="stopped", max_length=10)),
                ("request", models.CharField(blank=True, default="", max_length=10)),
                ("restart", models.CharField(default="always", max_length=10)),
                ("is_leaving", models.BooleanField(default=False)),
                ("observed", models.CharField(default="stopped", max_length=15)),
                ("sentence", models.CharField(default="not started yet", max_length=500)),
                ("state", models.CharField(default="stopped", max_length=30)),
                ("state_sentence", models.CharField(default="not started yet", max_length=700)),
                ("port_says", models.CharField(blank=True, max_length=200)),
                ("cluster_says", models.CharField(blank=True, max_length=300)),
                ("pid", models.IntegerField(null=True)),
                ("create_time", models.FloatField(null=True)),
                ("run_token", models.CharField(blank=True, max_length=40)),
                ("started_at", models.DateTimeField(null=True)),
                ("terminated_at", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                ("exit_status", models.IntegerField(null=True)),
                ("changed_at", models.DateTimeField(null=True)),
                ("deaths", models.JSONField(default=list)),
                ("deaths_in_a_row", models.IntegerField(default=0)),
                ("start_again_at", models.DateTimeField(null=True)),
                ("restart_count", models.IntegerField(default=0)),
                ("measured_at", models.DateTimeField(null=True)),
                ("memory_bytes", models.BigIntegerField(null=True)),
                ("cpu_seconds", models.FloatField(null=True)),
                ("cpu_percent", models.FloatField(null=True)),
            ],
            options={
                "ordering": ["position", "name"],
            },
        ),
        migrations.CreateModel(
            name="WithdrawnProcess",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.SlugField(max_length=60, unique=True)),
            ],
        ),
    ]
