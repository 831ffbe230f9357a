"""Crash safety: kill the command line at random moments, resume it, and compare with an uninterrupted run."""
