"""What the probe measured from outside: kept by minute for a day and by hour for a month, and shown."""
