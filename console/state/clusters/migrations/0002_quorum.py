from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("clusters", "0001_squashed_0006_connectors")]

    operations = [
        migrations.AddField(
            model_name="clusterstate",
            name="quorum",
            field=models.JSONField(default=dict),
        ),
        migrations.AddField(
            model_name="clusterstate",
            name="quorum_error",
            field=models.TextField(blank=True),
        ),
    ]
