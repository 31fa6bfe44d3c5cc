"""Rows in, vectors and side indexes out; and the searches over them.

Nothing here knows the database: texts and ids come in, vectors, scores and index folders go out. torch is
imported in the encoder modules alone.
"""
