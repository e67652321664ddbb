"""Accounts and logins: users, single sign-on, directories, read-only mode."""
