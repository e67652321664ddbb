"""What `kafka-acls` is made of."""
