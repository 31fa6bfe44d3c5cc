"""Systems that compare sentences: by the best pair of sentences, or by transport between them."""
