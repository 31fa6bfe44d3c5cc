"""Files of rankings: read whatever their format, written in each of them."""
