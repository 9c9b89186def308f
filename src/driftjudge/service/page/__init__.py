"""The page people on call see: plain HTML from this process, no build step, nothing from elsewhere."""
