from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("brokers", "0005_broker_software")]

    operations = [
        migrations.AddField("brokerreport", "open_files", models.IntegerField(null=True)),
        migrations.AddField("brokerreport", "open_files_limit", models.BigIntegerField(null=True)),
    ]
