"""Single sign-on by OpenID Connect: who comes with a provider's word, whose account that is, and what it gives."""
