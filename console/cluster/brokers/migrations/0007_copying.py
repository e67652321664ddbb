from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("brokers", "0006_open_files")]

    operations = [migrations.AddField("broker", "copying_count", models.IntegerField(default=0))]
