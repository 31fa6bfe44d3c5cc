"""Files in, rows out: one corpus format, one module.

A loader names its files and turns each into chunks of staged rows; it never touches the database.
Leaves out: ids of ours, joins and conflicts, which `pinakes.loaders.merge` settles set-wise.
"""
