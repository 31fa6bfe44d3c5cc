"""Where runs go wrong, query by query: gathered from the database, shown as a page, lines and a table."""
