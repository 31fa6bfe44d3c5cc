"""Work shared among the machines of a Ray cluster: encoding, exact search, BM25. It knows no database."""
