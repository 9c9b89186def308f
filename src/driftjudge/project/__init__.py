"""A project folder: its settings, anchors and baseline, and the road from an empty folder to a verdict."""
