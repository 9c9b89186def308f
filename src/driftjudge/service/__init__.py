"""Durable monitoring for a team: many monitors behind one object, judged in the background, read over HTTP."""
