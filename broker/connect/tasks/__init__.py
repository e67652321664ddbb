"""The life of connectors and tasks: plugin code on threads of its own, converted, transformed, delivered, committed."""
