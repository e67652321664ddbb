"""Another kind of process: a probe."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("processes", "0005_connect_and_registry")]

    operations = [
        migrations.AlterField(
            model_name="managedprocess",
            name="kind",
            field=models.CharField(
                choices=[
                    ("zookeeper", "ZooKeeper"),
                    ("broker", "broker"),
                    ("registry", "schema registry"),
                    ("connect", "Connect worker"),
                    ("stream", "stream job"),
                    ("probe", "probe"),
                ],
                max_length=20,
            ),
        ),
    ]
