"""What commands that produce and consume are made of."""
