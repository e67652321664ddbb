"""What stands between a browser and the features: the websocket of a page, its feed, middleware, pages for no."""
