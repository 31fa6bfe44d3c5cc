"""The version of Pinakes, which runs are stored with."""

from typing import Final

VERSION: Final = "0.1.0"
