"""The HTTP API: one module per resource, one shape for every error."""
