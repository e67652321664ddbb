"""The message audit: purely, and on a real cluster."""
