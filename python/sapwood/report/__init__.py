"""A run as one HTML file that a colleague can open: scores beside baselines, calibration, and what the model believes.

The file needs nothing else: no network, no scripts, no other files. Its pictures can be had as PNG files too.
"""

from sapwood.report._write import write_pictures, write_report

__all__ = ["write_pictures", "write_report"]
