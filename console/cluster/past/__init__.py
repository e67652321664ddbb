"""What was true at a moment: placement, ISR, settings, groups and brokers, kept from when each began until it ended."""
