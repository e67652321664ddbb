from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("brokers", "0005_broker_software")]

    operations = [migrations.AddField("broker", "copying_count", models.IntegerField(default=0))]
