from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("clusters", "0003_cluster_samples")]

    operations = [
        migrations.AddField("clusterstate", "processes_at_ms", models.BigIntegerField(default=0)),
    ]
