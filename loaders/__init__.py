"""Files in, rows out: one corpus format, one module.

A loader names its files and turns each into chunks of staged rows; it never touches the database.
Our ids, joins and conflicts are settled set-wise by `pinakes.loaders.merge`.
"""
