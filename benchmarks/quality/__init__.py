"""Predictive quality, of the engine and beside peers."""
