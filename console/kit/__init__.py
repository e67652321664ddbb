"""The tools of every feature: gateway, access, audit, plans, live pages, tables, operations."""
