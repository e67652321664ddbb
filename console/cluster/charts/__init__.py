"""What numbers were over the last month, in three resolutions, and charts of them."""
