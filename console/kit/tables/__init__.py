"""How a person looks at lists: columns, rows on a page, order and filter as they were left, views by name, density."""
