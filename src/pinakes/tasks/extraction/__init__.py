"""The task of extraction: how relevant the sentences of a paper are to a query."""
