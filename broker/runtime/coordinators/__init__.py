"""The shells of the coordinators: what they decide is written, replayed and answered here."""
