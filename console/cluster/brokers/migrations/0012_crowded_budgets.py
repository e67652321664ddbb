from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("brokers", "0011_foreign_brokers")]

    operations = [migrations.AddField("brokerreport", "crowded_budgets", models.JSONField(default=list))]
