"""The documents of the repository: their links, sentences and code blocks, the generated reference, and the site."""
