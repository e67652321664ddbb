"""Log in with a directory that speaks LDAP: who somebody is, and in which groups, is the directory's word."""
