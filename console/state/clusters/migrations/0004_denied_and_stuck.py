from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("clusters", "0003_replication_throttles")]

    operations = [
        migrations.AddField("clusterstate", "denied", models.JSONField(default=list)),
        migrations.AddField("clusterstate", "stuck_transactions", models.JSONField(default=list)),
    ]
