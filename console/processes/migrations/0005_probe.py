"""Another kind of process: a probe."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("processes", "0004_no_stored_command")]

    operations = [
        migrations.AlterField(
            model_name="managedprocess",
            name="kind",
            field=models.CharField(
                choices=[
                    ("zookeeper", "ZooKeeper"),
                    ("broker", "broker"),
                    ("connect", "connect worker"),
                    ("stream", "stream job"),
                    ("probe", "probe"),
                ],
                max_length=20,
            ),
        ),
    ]
