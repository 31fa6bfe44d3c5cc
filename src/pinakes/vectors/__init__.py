"""Encoders in use, stored vectors and the indexes over them."""
