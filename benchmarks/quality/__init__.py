"""Predictive quality: the engine against its targets, the defaults against peers."""
