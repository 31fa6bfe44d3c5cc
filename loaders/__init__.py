"""Files in, rows out: one corpus format, one module.

A loader names its files and turns each into chunks of staged rows; it never touches the database.
Ids of ours, joins and conflicts are settled set-wise by `pinakes.loaders.merge`.
"""
