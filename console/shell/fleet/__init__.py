"""All clusters of this console together: the page one starts at, the way from one to another, and two compared."""
