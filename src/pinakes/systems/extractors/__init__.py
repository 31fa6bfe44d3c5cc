"""Systems that score the sentences of a paper for a query, each by itself: classic ones, and by encoders."""
