"""barnabas.connect.DirectorySourceConnector: files put into a directory become records, then are marked."""
