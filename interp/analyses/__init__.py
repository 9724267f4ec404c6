"""Signals (and text) in, analysis tables out; no model is touched."""
