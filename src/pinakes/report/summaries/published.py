"""What Ramirez-Orta et al. 2025 print of its examples, as it stands there."""

from typing import Final

EXAMPLES: Final = "10,790"
"""section 4.1: examples; 8,965 of them are short enough for its augmentation"""
KEPT: Final = "8,965"
PAPERS: Final = "1,365 PDF files"

PARTS: Final = {"train": ("7,172", "2,089,747"), "dev": ("896", "264,918"), "test": ("897", "261,439")}
"""04_data_split.ipynb: examples and sentences of each part, of the first 512 sentences of each document"""
