"""One file per stream job; broker.spark.job names them."""
