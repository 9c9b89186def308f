"""The receivers we can speak to, one module each."""
