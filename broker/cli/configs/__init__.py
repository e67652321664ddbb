"""What `kafka-configs` computes and prints."""
