"""Being told: rules over what is measured and over health, and messages that reach somebody."""
