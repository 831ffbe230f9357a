"""Benchmarks, each a command: ``python -m benchmarks.quality``, ``python -m benchmarks.speed``."""
