"""The composition root of a broker: builds the rooms, starts and stops them in order, hands requests to handlers."""
