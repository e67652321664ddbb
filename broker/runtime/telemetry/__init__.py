"""What clients push of their own metrics (KIP-714): subscriptions, clients that push, and the numbers."""
