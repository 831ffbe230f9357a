"""Benchmarks, each run as a command: ``python -m benchmarks.quality``, ``python -m benchmarks.speed``."""
