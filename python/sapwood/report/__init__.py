"""A run as one HTML file: scores compared with baselines, calibration, and the state of the model.

The file is self-contained: it needs no network, no scripts and no other files. Its pictures are also available as PNG
files.
"""

from sapwood.report._write import write_pictures, write_report

__all__ = ["write_pictures", "write_report"]
