"""Records as files of Parquet or JSON lines, in a directory or an S3 bucket."""
