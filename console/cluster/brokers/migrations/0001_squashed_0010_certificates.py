from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Broker",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("broker_id", models.IntegerField(unique=True)),
                ("host", models.CharField(blank=True, max_length=255)),
                ("port", models.IntegerField(null=True)),
                ("rack", models.CharField(blank=True, max_length=255)),
                ("is_registered", models.BooleanField(default=True)),
                ("changed_at_ms", models.BigIntegerField(default=0)),
                ("left_at_ms", models.JSONField(default=list)),
                ("leader_count", models.IntegerField(default=0)),
                ("replica_count", models.IntegerField(default=0)),
                ("out_of_sync_count", models.IntegerField(default=0)),
                ("copying_count", models.IntegerField(default=0)),
                ("preferred_count", models.IntegerField(default=0)),
                ("preferred_led_count", models.IntegerField(default=0)),
                ("size_bytes", models.BigIntegerField(default=0)),
                ("records_per_second", models.FloatField(null=True)),
                ("bytes_per_second", models.FloatField(null=True)),
                ("software", models.CharField(blank=True, max_length=40)),
                ("speaks", models.CharField(blank=True, max_length=10)),
                ("api_count", models.IntegerField(null=True)),
            ],
            options={
                "ordering": ["broker_id"],
            },
        ),
        migrations.CreateModel(
            name="BrokerReport",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("broker_id", models.IntegerField(unique=True)),
                ("log_dirs_at_ms", models.BigIntegerField(default=0)),
                ("requests_at_ms", models.BigIntegerField(default=0)),
                ("log_dirs", models.JSONField(default=list)),
                ("requests", models.JSONField(default=list)),
                ("open_files", models.IntegerField(null=True)),
                ("open_files_limit", models.BigIntegerField(null=True)),
                ("certificates", models.JSONField(default=dict)),
                ("groups_not_loaded", models.IntegerField(default=0)),
                ("transactions_not_loaded", models.IntegerField(default=0)),
                ("is_untold", models.BooleanField(default=False)),
            ],
        ),
    ]
