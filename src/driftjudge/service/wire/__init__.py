"""The shapes that travel over HTTP, written once: the API describes itself with them and the client reads with them."""
