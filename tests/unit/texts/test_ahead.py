"""What a process that makes rows imports."""

import subprocess
import sys

PROGRAM = """
import sys
from pinakes.texts.ahead import _import_nltk

_import_nltk()
print([name for name in ("nltk", "scipy", "sklearn") if name in sys.modules])
import nltk.tokenize.punkt, textblob
import scipy.stats, sklearn.linear_model
"""


def test_nltk_is_imported_without_what_is_slow_and_the_slow_ones_can_be_imported_afterwards() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout == "['nltk']\n"
