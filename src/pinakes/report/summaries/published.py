"""What Ramirez-Orta et al. 2025 print besides scores, as it stands there."""

from typing import Final

SOURCE: Final = "Ramirez-Orta et al. 2025"

SHARES: Final = {
    "mean": "3.90 %",
    "standard deviation": "2.00 %",
    "minimum": "0.01 %",
    "first quartile": "2.43 %",
    "median": "3.66 %",
    "third quartile": "5.03 %",
    "maximum": "22.73 %",
}
"""Table 4, left: of relevant sentences among those of an example of the training set"""

SPANS: Final = {1: "94.953 %", 2: "4.739 %", 3: "0.269 %", 4: "0.032 %", 5: "0.005 %"}
"""Table 4, right: of spans of consecutive relevant sentences, by length; it prints no other length"""

EXAMPLES: Final = "10,790"
"""section 4.1: examples; 8,965 of them are short enough for its augmentation"""
KEPT: Final = "8,965"
PAPERS: Final = "1,365 PDF files"

PARTS: Final = {"train": ("7,172", "2,089,747"), "dev": ("896", "264,918"), "test": ("897", "261,439")}
"""04_data_split.ipynb: examples and sentences of each part, of the first 512 sentences of each document"""
