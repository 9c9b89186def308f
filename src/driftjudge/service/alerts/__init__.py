"""Alerts: who is told, in which words, and how nothing gets lost on the way."""
