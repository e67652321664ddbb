"""The pages of brokers: what each says of itself, its partitions and its settings."""
